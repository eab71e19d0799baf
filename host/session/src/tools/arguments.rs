//! JSON Schemas of tools: bounded before they are read, and arguments checked
//! against them before a plugin sees them (SR-43).

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Bytes of one schema as JSON.
const MAX_SCHEMA: usize = 32 << 10;
/// Values inside values in one schema.
const MAX_DEPTH: usize = 32;
/// Bytes of a compiled pattern.
const MAX_PATTERN: usize = 1 << 20;
/// Characters of a reason.
const MAX_REASON: usize = 300;

/// A schema that can be trusted to end: no reference leaves it, and its
/// patterns match in linear time (attack T17).
#[derive(Debug, Clone)]
pub(crate) struct Schema(Validator);

impl Schema {
    /// Reads a schema of an object; the error says what is wrong with it.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let bytes = schema.to_string().len();
        if bytes > MAX_SCHEMA {
            return Err(format!("it has {bytes} bytes, more than {MAX_SCHEMA}"));
        }
        inspect(schema, MAX_DEPTH)?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("its root is not of type object".to_owned());
        }
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN);
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(patterns)
            .build(schema)
            .map(Self)
            .map_err(|error| cut(&error.masked().to_string()))
    }

    /// Where `value` does not fit, and why.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let Some(error) = self.0.iter_errors(value).next() else {
            return Ok(());
        };
        let path = error.instance_path().to_string();
        let place = if path.is_empty() { "/" } else { &path };
        Err(format!(
            "at `{}`: {}",
            cut(place),
            cut(&error.masked().to_string())
        ))
    }
}

/// No value too deep, no reference that leads out.
fn inspect(value: &Value, depth: usize) -> Result<(), String> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(format!("it has more than {MAX_DEPTH} levels"));
    };
    match value {
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            let reference = matches!(key.as_str(), "$ref" | "$dynamicRef");
            let outside = |text: &str| !text.starts_with('#');
            if reference && value.as_str().is_some_and(outside) {
                return Err("it refers to another document".to_owned());
            }
            inspect(value, below)
        }),
        Value::Array(values) => values.iter().try_for_each(|value| inspect(value, below)),
        _ => Ok(()),
    }
}

fn cut(text: &str) -> String {
    let line = sectile_sandbox::one_line(text);
    match line.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sr_43_the_failing_path_is_named() {
        let schema = Schema::new(&json!({
            "type": "object",
            "properties": {"list": {"type": "array", "items": {"type": "integer"}}},
            "required": ["list"],
            "additionalProperties": false
        }))
        .unwrap();
        assert_eq!(schema.check(&json!({"list": [1, 2]})), Ok(()));
        let why = |value| schema.check(&value).unwrap_err();
        assert!(why(json!({"list": [1, "x"]})).starts_with("at `/list/1`: "));
        assert!(why(json!({})).contains("list"));
        assert!(why(json!({"list": [], "more": 1})).contains("more"));
        assert!(why(json!([])).starts_with("at `/`: "));
        assert!(why(json!({"list": "x".repeat(100_000)})).len() < 800);
    }

    #[test]
    fn t17_schemas_that_would_not_end_are_refused() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({"type": "object", "properties": {"a": deep}});
        }
        for bad in [
            json!({"type": "object", "properties": {"a": {"$ref": "http://example.com/a"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
            json!({"type": "object", "properties": {"a": {"type": "strange"}}}),
            json!({"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}}),
            json!({"type": "object", "properties": {"a": {"pattern": "(a)\\1"}}}),
            json!({"type": "object", "description": "x".repeat(40_000)}),
            json!({"type": "string"}),
            json!(true),
            deep,
        ] {
            assert!(Schema::new(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn t17_a_schema_may_refer_to_itself() {
        let schema = Schema::new(&json!({
            "type": "object",
            "properties": {"child": {"$ref": "#"}, "name": {"type": "string", "pattern": "^(a+)+$"}},
            "additionalProperties": false
        }))
        .unwrap();
        assert_eq!(schema.check(&json!({"child": {"child": {}}})), Ok(()));
        assert!(schema.check(&json!({"child": {"x": 1}})).is_err());
        // A backtracking matcher would not come back from this.
        let evil = json!({"name": format!("{}b", "a".repeat(50_000))});
        assert!(schema.check(&evil).is_err());
    }
}
