//! What the operator can set.

use serde::Deserialize;

/// Options of `project/AGENTS.md`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Whether AGENTS.md may be a symbolic link (WS-32).
    pub follow_symlink: FollowSymlink,
    /// Where AGENTS.md is looked for (WS-32).
    pub scope: Scope,
}

/// Whether a link is followed.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FollowSymlink {
    /// A link is an error.
    #[default]
    Never,
    /// A link is followed while it stays in the workspace.
    InsideWorkspace,
}

/// Where AGENTS.md is looked for.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    /// In the working directory.
    #[default]
    Workspace,
    /// In every directory from the repository root to the working directory.
    Ancestors,
}

pub(crate) fn parse(json: &str) -> Result<Config, String> {
    serde_json::from_str(json)
        .map_err(|e| format!("the configuration of sectile/project is not valid: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_strict_and_unknown_options_are_errors() {
        assert_eq!(parse("{}").unwrap(), Config::default());
        let set = parse(r#"{"follow_symlink": "inside-workspace", "scope": "ancestors"}"#).unwrap();
        assert_eq!(
            (set.follow_symlink, set.scope),
            (FollowSymlink::InsideWorkspace, Scope::Ancestors)
        );
        assert!(parse(r#"{"follow": true}"#).is_err());
    }
}
