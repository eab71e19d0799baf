//! The marker that the host puts around a body (WS-11).

use sectile_model::Tag;
use std::fmt::Write;

/// Attributes that one marker can have.
const MAX_ATTRIBUTES: usize = 8;
/// Bytes of an attribute's name.
const MAX_NAME: usize = 48;
/// Characters of an attribute's value, before it is escaped.
const MAX_VALUE: usize = 256;

/// Why a plugin's attributes cannot stand in a marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// More attributes than a marker can have.
    #[error("the marker has {count} attributes; at most {MAX_ATTRIBUTES} are allowed")]
    TooManyAttributes {
        /// How many there are.
        count: usize,
    },
    /// The name is not one.
    #[error(
        "`{name}` is not an attribute name; expected a lower-case letter and at most 47 lower-case letters, digits or `_`"
    )]
    InvalidName {
        /// The name, control characters escaped, shortened.
        name: String,
    },
    /// One name twice.
    #[error("the attribute `{name}` is given twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The value is too long; it is refused and never cut.
    #[error("the attribute `{name}` has {characters} characters; at most {MAX_VALUE} are allowed")]
    ValueTooLong {
        /// The name.
        name: String,
        /// Its length.
        characters: usize,
    },
}

impl MarkerError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooManyAttributes { .. } => "too_many_attributes",
            Self::InvalidName { .. } => "invalid_attribute_name",
            Self::DuplicateName { .. } => "duplicate_attribute",
            Self::ValueTooLong { .. } => "attribute_too_long",
        }
    }
}

/// `<tag name="value" …>`, newline, `body`, newline, `</tag>`. The body is taken
/// as it is: it has been made inert before.
pub(crate) fn wrap(
    tag: &Tag,
    attributes: &[(String, String)],
    body: &str,
) -> Result<String, MarkerError> {
    if attributes.len() > MAX_ATTRIBUTES {
        let count = attributes.len();
        return Err(MarkerError::TooManyAttributes { count });
    }
    let mut text = format!("<{tag}");
    for (position, (name, value)) in attributes.iter().enumerate() {
        check(name, value)?;
        let mut earlier = attributes.iter().take(position);
        if earlier.any(|(other, _)| other == name) {
            return Err(MarkerError::DuplicateName { name: name.clone() });
        }
        push_attribute(&mut text, name, value);
    }
    text.push_str(">\n");
    text.push_str(body);
    text.push_str("\n</");
    text.push_str(tag.as_str());
    text.push('>');
    Ok(text)
}

fn check(name: &str, value: &str) -> Result<(), MarkerError> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(is_part);
    if !is_name {
        return Err(MarkerError::InvalidName {
            name: name.escape_debug().take(64).collect(),
        });
    }
    let characters = value.chars().count();
    if characters > MAX_VALUE {
        return Err(MarkerError::ValueTooLong {
            name: name.to_owned(),
            characters,
        });
    }
    Ok(())
}

/// A value can neither end its quotes nor its line; it can be read back.
fn push_attribute(text: &mut String, name: &str, value: &str) {
    text.push(' ');
    text.push_str(name);
    text.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                // Writing to a string cannot fail.
                let _ = write!(text, "&#{};", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(attributes: &[(&str, &str)]) -> Result<String, MarkerError> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        wrap(&"git_status".parse().unwrap(), &attributes, "clean")
    }

    #[test]
    fn ws_11_the_body_stands_on_its_own_lines_between_the_markers() {
        assert_eq!(wrapped(&[]).unwrap(), "<git_status>\nclean\n</git_status>");
        assert_eq!(
            wrapped(&[("format_version", "1"), ("b", "")]).unwrap(),
            "<git_status format_version=\"1\" b=\"\">\nclean\n</git_status>"
        );
    }

    #[test]
    fn ws_11_a_value_cannot_leave_its_quotes_or_its_line() {
        assert_eq!(
            wrapped(&[("a", "\"> & <\r\n\u{2028}\0")]).unwrap(),
            "<git_status a=\"&quot;&gt; &amp; &lt;&#13;&#10;&#8232;&#0;\">\nclean\n</git_status>"
        );
    }

    #[test]
    fn ws_11_names_are_checked() {
        let longest = "a".repeat(48);
        for good in ["a", "a1_", &longest] {
            assert!(wrapped(&[(good, "")]).is_ok(), "{good}");
        }
        let too_long = "a".repeat(49);
        for bad in ["", "A", "1a", "_a", "a-b", "a b", "a\"", "é", &too_long] {
            let error = wrapped(&[(bad, "")]).unwrap_err();
            assert_eq!(error.code(), "invalid_attribute_name", "{bad}");
        }
        let error = wrapped(&[("\u{1b}[31m", "")]).unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn ws_11_a_value_has_at_most_256_characters_whatever_they_become() {
        let at_the_limit = "<".repeat(128) + &"界".repeat(128);
        assert!(wrapped(&[("a", &at_the_limit)]).is_ok());
        let error = wrapped(&[("a", &format!("{at_the_limit}x"))]).unwrap_err();
        assert_eq!(
            error,
            MarkerError::ValueTooLong {
                name: "a".into(),
                characters: 257
            }
        );
    }

    #[test]
    fn ws_11_a_marker_has_at_most_eight_attributes_each_once() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let attributes = names.map(|name| (name, ""));
        assert!(wrapped(&attributes[..8]).is_ok());
        let error = wrapped(&attributes).unwrap_err();
        assert_eq!(error, MarkerError::TooManyAttributes { count: 9 });
        let error = wrapped(&[("a", "1"), ("b", "2"), ("a", "3")]).unwrap_err();
        assert_eq!(error, MarkerError::DuplicateName { name: "a".into() });
    }
}
