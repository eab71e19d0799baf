//! What a model thought, in the fields that services use for it.

use serde_json::Value;

/// The list of parts of thinking, some of them encrypted.
pub(super) const DETAILS: &str = "reasoning_details";

/// The text that `delta` adds to thinking with the field it is from, and the
/// details. Services give one text in several fields; it is taken once.
pub(super) fn of(delta: &Value) -> (&'static str, Option<String>, Vec<Value>) {
    let details = delta.get(DETAILS).and_then(Value::as_array);
    let details = details.cloned().unwrap_or_default();
    for field in ["reasoning_content", "reasoning"] {
        let text = delta.get(field).and_then(Value::as_str);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            return (field, Some(text.to_owned()), details);
        }
    }
    let text: String = details.iter().filter_map(text_of).collect();
    (DETAILS, Some(text).filter(|text| !text.is_empty()), details)
}

fn text_of(detail: &Value) -> Option<&str> {
    let text = detail.get("text").or(detail.get("summary"));
    text.and_then(Value::as_str)
}

/// Adds a detail, to the last one when it goes on with it.
pub(crate) fn join(details: &mut Vec<Value>, detail: Value) {
    if let (Some(Value::Object(last)), Value::Object(more)) = (details.last_mut(), &detail) {
        let is_same = |key: &str| last.get(key) == more.get(key);
        let has_text = ["text", "summary", "signature"]
            .iter()
            .any(|key| more.contains_key(*key));
        let has_other_id = more.get("id").is_some_and(|id| !id.is_null()) && !is_same("id");
        if has_text && is_same("type") && is_same("index") && !has_other_id {
            for (key, value) in more {
                match (last.get_mut(key), value) {
                    (Some(Value::String(text)), Value::String(piece))
                        if key == "text" || key == "summary" =>
                    {
                        text.push_str(piece);
                    }
                    (Some(_), Value::Null) => {}
                    _ => {
                        last.insert(key.clone(), value.clone());
                    }
                }
            }
            return;
        }
    }
    details.push(detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pv_2_details_are_joined_piece_by_piece_and_kept_apart_otherwise() {
        let mut details = Vec::new();
        for detail in [
            json!({"type": "reasoning.text", "index": 0, "text": "a", "format": "f"}),
            json!({"type": "reasoning.text", "index": 0, "text": "b", "format": null}),
            json!({"type": "reasoning.text", "index": 0, "signature": "s"}),
            json!({"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "x"}),
            json!({"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "y"}),
            json!({"type": "reasoning.text", "index": 1, "text": "c"}),
        ] {
            join(&mut details, detail);
        }
        let expected = json!([
            {"type": "reasoning.text", "index": 0, "text": "ab", "format": "f", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "x"},
            {"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "y"},
            {"type": "reasoning.text", "index": 1, "text": "c"},
        ]);
        assert_eq!(Value::Array(details), expected);
    }
}
