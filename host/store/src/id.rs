//! Ids of sessions and turns: safe as file names and on every terminal.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an id; expected 1 to 64 lower-case letters, digits, `-` or `_`, beginning with a letter or digit"
)]
pub struct IdError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                if is_id(text) {
                    return Ok(Self(text.into()));
                }
                Err(IdError(text.escape_debug().take(80).collect()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// Identity of a session.
    SessionId
);
id!(
    /// Identity of a turn, unique in its session.
    TurnId
);

fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&text.len())
        && text.starts_with(plain)
        && text.chars().all(|c| plain(c) || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_as_file_names() {
        for good in ["a", "s-20261201_x", &"a".repeat(64)] {
            assert!(good.parse::<SessionId>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "A",
            "a/b",
            "..",
            "a b",
            "ä",
            &"a".repeat(65),
            "a\n",
        ] {
            assert!(bad.parse::<TurnId>().is_err(), "{bad}");
        }
    }
}
