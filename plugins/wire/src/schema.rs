//! Schemas of tools in the subset that a protocol takes. The host checks
//! arguments against the schema as it was.

use crate::notes::Notes;
use serde_json::{Map, Value, json};

/// What a strict schema may not have, besides what no protocol compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrictRule {
    /// Keywords that are left out.
    pub refused: &'static [&'static str],
    /// Values of `format` that are taken.
    pub formats: &'static [&'static str],
    /// Whether every property has to be required, with `null` for absence.
    pub all_required: bool,
}

const COMBINED: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// `schema` with an object at its root, which every protocol wants there.
#[must_use]
pub fn object_root(schema: &Value, field: &str, notes: &mut Notes) -> Value {
    let Some(object) = schema.as_object() else {
        if *schema != json!(true) {
            notes.approximated(field, "the root of the schema is no object");
        }
        return json!({"type": "object", "properties": {}});
    };
    let mut root = resolved(object, schema, field, notes);
    for keyword in COMBINED {
        if let Some(Value::Array(branches)) = root.shift_remove(keyword) {
            notes.approximated(field, "alternatives at the root of the schema are merged");
            merge(&mut root, &branches, keyword == "allOf", schema);
        }
    }
    let is_object = match root.get("type") {
        None => true,
        Some(Value::Array(types)) => types.contains(&json!("object")),
        Some(other) => other == "object",
    };
    if !is_object {
        notes.approximated(field, "the root of the schema is no object");
        return json!({"type": "object", "properties": {}});
    }
    let mut out = Map::from_iter([("type".to_owned(), json!("object"))]);
    root.shift_remove("type");
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), json!({}));
    }
    out.extend(root);
    Value::Object(out)
}

/// The object that a `$ref` at the root points to, with the definitions.
fn resolved(
    object: &Map<String, Value>,
    document: &Value,
    field: &str,
    notes: &mut Notes,
) -> Map<String, Value> {
    let mut root = object.clone();
    // Each step takes one `$ref` away; a circle ends with the last.
    for _ in 0..8 {
        let Some(Value::String(reference)) = root.shift_remove("$ref") else {
            return root;
        };
        let Some(Value::Object(target)) = target(&reference, document) else {
            notes.approximated(field, "a reference at the root of the schema leads nowhere");
            return root;
        };
        for (key, value) in target {
            root.entry(key.as_str()).or_insert_with(|| value.clone());
        }
    }
    root.shift_remove("$ref");
    root
}

fn target<'a>(reference: &str, document: &'a Value) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}

/// The properties of all `branches`; required is what all of them require, or
/// any of them when `all` hold.
fn merge(root: &mut Map<String, Value>, branches: &[Value], all: bool, document: &Value) {
    let mut properties = taken_object(root, "properties");
    let mut required = taken_list(root, "required");
    let mut common: Option<Vec<Value>> = None;
    for branch in branches {
        let branch = branch
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| target(reference, document))
            .unwrap_or(branch);
        if let Some(Value::Object(more)) = branch.get("properties") {
            for (name, schema) in more {
                properties
                    .entry(name.as_str())
                    .or_insert_with(|| schema.clone());
            }
        }
        let more: Vec<_> = match branch.get("required") {
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        common = Some(match common {
            Some(common) if !all => common.into_iter().filter(|n| more.contains(n)).collect(),
            Some(common) => [common, more].concat(),
            None => more,
        });
    }
    for name in common.unwrap_or_default() {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    root.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        root.insert("required".to_owned(), Value::Array(required));
    }
}

fn taken_object(from: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match from.shift_remove(key) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

fn taken_list(from: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match from.shift_remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// `schema`, whose root is an object, as a strict one; `None` when it says
/// something that cannot be said strictly.
#[must_use]
pub fn strict(schema: &Value, rule: StrictRule, field: &str, notes: &mut Notes) -> Option<Value> {
    let mut dropped = Vec::new();
    let strict = strict_value(schema, rule, &mut dropped)?;
    for keyword in dropped {
        notes.dropped(
            &format!("{field}.{keyword}"),
            "a strict schema cannot say this",
        );
    }
    Some(strict)
}

fn strict_value(schema: &Value, rule: StrictRule, dropped: &mut Vec<String>) -> Option<Value> {
    const INEXPRESSIBLE: [&str; 7] = [
        "allOf",
        "not",
        "if",
        "patternProperties",
        "dependentSchemas",
        "prefixItems",
        "unevaluatedProperties",
    ];
    let object = schema.as_object().filter(|object| !object.is_empty())?;
    if INEXPRESSIBLE.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    if object
        .get("additionalProperties")
        .is_some_and(|v| *v != json!(false))
    {
        return None;
    }
    let mut out = Map::new();
    for (key, value) in object {
        let lowered = match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                Value::Object(each(schemas, rule, dropped)?)
            }
            ("items", _) => strict_value(value, rule, dropped)?,
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                let branches = branches.iter().map(|b| strict_value(b, rule, dropped));
                out.insert(
                    "anyOf".to_owned(),
                    Value::Array(branches.collect::<Option<_>>()?),
                );
                continue;
            }
            ("format", Value::String(format)) if !rule.formats.contains(&format.as_str()) => {
                dropped.push(key.clone());
                continue;
            }
            (key, _) if rule.refused.contains(&key) => {
                dropped.push(key.to_owned());
                continue;
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), lowered);
    }
    if out.contains_key("properties") {
        out.insert("additionalProperties".to_owned(), json!(false));
        if rule.all_required {
            require_all(&mut out);
        }
    }
    Some(Value::Object(out))
}

fn each(
    schemas: &Map<String, Value>,
    rule: StrictRule,
    dropped: &mut Vec<String>,
) -> Option<Map<String, Value>> {
    let schema = |(name, schema): (&String, &Value)| {
        Some((name.clone(), strict_value(schema, rule, dropped)?))
    };
    schemas.iter().map(schema).collect()
}

/// An optional property may be `null` instead.
fn require_all(object: &mut Map<String, Value>) {
    let required = taken_list(object, "required");
    let mut names = Vec::new();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, schema) in properties.iter_mut() {
            if !required.contains(&json!(name)) {
                let optional = std::mem::take(schema);
                *schema = json!({"anyOf": [optional, {"type": "null"}]});
            }
            names.push(json!(name));
        }
    }
    object.insert("required".to_owned(), Value::Array(names));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_3_the_root_of_a_schema_becomes_an_object() {
        let empty = json!({"type": "object", "properties": {}});
        for (schema, expected, notes) in [
            (json!({}), empty.clone(), 0),
            (json!(true), empty.clone(), 0),
            (json!(null), empty.clone(), 1),
            (json!({"type": "string"}), empty.clone(), 1),
            (
                json!({"properties": {"b": {}, "a": {}}}),
                json!({"type": "object", "properties": {"b": {}, "a": {}}}),
                0,
            ),
            (json!({"type": ["object", "null"]}), empty.clone(), 0),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"x": {"type": "string"}}}}}),
                json!({"type": "object", "$defs": {"a": {"type": "object", "properties": {"x": {"type": "string"}}}},
                       "properties": {"x": {"type": "string"}}}),
                0,
            ),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
                json!({"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {}}),
                0,
            ),
            (json!({"$ref": "http://elsewhere"}), empty.clone(), 1),
            (
                json!({"anyOf": [{"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
                                 {"properties": {"b": {}, "c": {}}, "required": ["b"]}]}),
                json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["b"]}),
                1,
            ),
            (
                json!({"type": "object", "allOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"type": "object", "properties": {}, "required": ["a", "b"]}),
                1,
            ),
        ] {
            let mut found = Notes::default();
            let root = object_root(&schema, "f", &mut found);
            // Order counts: a changed order would lose the prompt cache.
            assert_eq!(root.to_string(), expected.to_string(), "{schema}");
            assert_eq!(found.into_diagnostics().len(), notes, "{schema}");
        }
    }

    const RULE: StrictRule = StrictRule {
        refused: &["minLength"],
        formats: &["uuid"],
        all_required: true,
    };

    #[test]
    fn pv_4_a_strict_schema_says_what_it_can_or_is_given_up() {
        let mut notes = Notes::default();
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "minLength": 1, "format": "uuid"},
            "b": {"oneOf": [{"type": "string", "format": "color"}, {"type": "null"}]}}});
        let lowered = strict(&schema, RULE, "f", &mut notes).unwrap();
        assert_eq!(
            lowered,
            json!({"type": "object", "additionalProperties": false, "required": ["a", "b"], "properties": {
                "a": {"type": "string", "format": "uuid"},
                "b": {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "null"}]}}})
        );
        assert_eq!(notes.into_diagnostics().len(), 2);
        for schema in [
            json!({"type": "object", "properties": {"a": {}}}),
            json!({"type": "object", "properties": {"a": true}}),
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"not": {"type": "string"}}}}),
        ] {
            assert_eq!(
                strict(&schema, RULE, "f", &mut Notes::default()),
                None,
                "{schema}"
            );
        }
    }
}
