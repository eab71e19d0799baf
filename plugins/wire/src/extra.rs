//! What the operator configured for an adapter.

use crate::notes::Notes;
use crate::outbox::invalid;
use sectile_sdk::provider::ProviderError;
use serde_json::{Map, Value};

/// The operator's object: settings of the adapter by reserved keys, and
/// additions to the body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra(Map<String, Value>);

impl Extra {
    /// Reads the object; no text is an empty one.
    ///
    /// # Errors
    /// Of class `invalid-request`, when it is no object.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(Value::Null) => Ok(Self::default()),
            _ => Err(invalid(
                "the provider's `extra` is not a JSON object; correct its configuration",
            )),
        }
    }

    /// Takes the setting `key` out.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// Takes the text setting `key` out.
    ///
    /// # Errors
    /// Of class `invalid-request`, when it is no text.
    pub fn take_text(&mut self, key: &str) -> Result<Option<String>, ProviderError> {
        match self.take(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid(&format!(
                "`{key}` in the provider's `extra` is not a text; correct its configuration"
            ))),
        }
    }

    /// Adds what is left to `body`, never in the place of what the adapter set.
    pub fn add_to(self, body: &mut Map<String, Value>, notes: &mut Notes) {
        for (key, value) in self.0 {
            if body.contains_key(&key) {
                notes.dropped(
                    &format!("extra.{key}"),
                    "the adapter sets this field itself",
                );
            } else {
                body.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn additions_never_override_what_the_adapter_sets() {
        let mut extra = Extra::parse(r#"{"path": "/x", "model": "other", "seed": 1}"#).unwrap();
        assert_eq!(extra.take_text("path").unwrap().as_deref(), Some("/x"));
        let mut body = Map::from_iter([("model".to_owned(), json!("m"))]);
        let mut notes = Notes::default();
        extra.add_to(&mut body, &mut notes);
        assert_eq!(Value::Object(body), json!({"model": "m", "seed": 1}));
        assert_eq!(notes.into_diagnostics().len(), 1);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(Extra::parse("[1]").is_err());
        assert!(Extra::parse("{").is_err());
        assert!(
            Extra::parse(r#"{"path": 1}"#)
                .unwrap()
                .take_text("path")
                .is_err()
        );
        assert_eq!(Extra::parse("").unwrap(), Extra::default());
    }
}
