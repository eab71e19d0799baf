//! Names that are parsed once, at the edge, and trusted afterwards.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Text that is not a name of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}; expected {expected}")]
pub struct NameError {
    /// The text, control characters escaped.
    pub text: String,
    /// What it should have been.
    pub kind: &'static str,
    /// The form in words.
    pub expected: &'static str,
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $expected:literal, $valid:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                if $valid(text) {
                    return Ok(Self(text.into()));
                }
                Err(NameError {
                    text: text.escape_debug().take(200).collect(),
                    kind: $kind,
                    expected: $expected,
                })
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// Identity of a plugin: `publisher/name`.
    PluginId,
    "plugin id",
    "`publisher/name`, each of lower-case letters, digits and `-`, at most 39 characters, not beginning with `-`",
    is_plugin_id
);

name!(
    /// Identity of a section: two or more segments, as in `project/AGENTS.md`.
    SectionId,
    "section id",
    "segments of letters, digits, `.`, `_` and `-` joined by `/`, at least two, at most 128 bytes",
    is_section_id
);

name!(
    /// Name of the marker around a section's body (WS-11).
    Tag,
    "tag",
    "a lower-case letter and 1 to 47 lower-case letters, digits or `_`",
    is_tag
);

name!(
    /// Name of a tool in its plugin.
    ToolName,
    "tool name",
    "a lower-case letter and at most 47 lower-case letters, digits or `_`",
    is_tool_name
);

fn is_tool_name(text: &str) -> bool {
    text.len() == 1 && text.starts_with(|c: char| c.is_ascii_lowercase()) || is_tag(text)
}

fn is_plugin_id(text: &str) -> bool {
    let part = |part: &str| {
        let mut chars = part.chars();
        chars
            .next()
            .is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            && part.len() <= 39
            && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.split_once('/')
        .is_some_and(|(publisher, name)| part(publisher) && part(name))
}

fn is_section_id(text: &str) -> bool {
    let segment = |segment: &str| {
        !segment.is_empty()
            && !segment.chars().all(|c| c == '.')
            && segment
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    text.len() <= 128 && text.contains('/') && text.split('/').all(segment)
}

fn is_tag(text: &str) -> bool {
    text.len() >= 2
        && text.len() <= 48
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<T: FromStr>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(text.parse::<T>().is_ok(), "{text}");
        }
        for text in bad {
            assert!(text.parse::<T>().is_err(), "{text}");
        }
    }

    #[test]
    fn plugin_ids() {
        let long = format!("{}/x", "a".repeat(39));
        let too_long = format!("{}/x", "a".repeat(40));
        holds::<PluginId>(
            &["acme/git-status", "0/1", &long],
            &[
                "acme", "a/b/c", "-a/b", "A/b", "a/", "/b", "a/b ", "а/b", &too_long, "",
            ],
        );
    }

    #[test]
    fn section_ids() {
        holds::<SectionId>(
            &[
                "project/AGENTS.md",
                "runtime/user-project-context",
                "a/b/c_d",
            ],
            &[
                "project",
                "a//b",
                "/a",
                "a/",
                "a/..",
                "./a",
                "a/b\nc",
                "a/ü",
                &"a/".repeat(65),
            ],
        );
    }

    #[test]
    fn ws_11_tags() {
        holds::<Tag>(
            &["ab", "user_project_context", &"a".repeat(48)],
            &["a", "1a", "_a", "a-b", "aB", "a b", &"a".repeat(49), ""],
        );
    }

    #[test]
    fn an_error_shows_control_characters_escaped() {
        let error = "a\u{1b}[31m/b".parse::<PluginId>().unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'));
    }
}
