//! What the operator can set.

use serde::Deserialize;
use std::collections::BTreeSet;

/// Options of `skills/catalog`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// A name that is not the directory's, or is malformed, leaves the skill out (WS-43a).
    pub strict: bool,
    /// Skills that are not listed, by name (WS-44).
    pub disabled: BTreeSet<String>,
}

pub(crate) fn parse(json: &str) -> Result<Config, String> {
    serde_json::from_str(json)
        .map_err(|e| format!("the configuration of sectile/skills is not valid: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_lenient_and_unknown_options_are_errors() {
        let config = parse("{}").unwrap();
        assert!(!config.strict && config.disabled.is_empty());
        let config = parse(r#"{"strict": true, "disabled": ["a", "b"]}"#).unwrap();
        assert!(config.strict && config.disabled.len() == 2);
        assert!(parse(r#"{"disable": []}"#).is_err());
    }
}
