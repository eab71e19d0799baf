//! Texts of a manifest that have a form: each is checked where it is read, so
//! that a mistake is named with its line and column.

use globset::GlobBuilder;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, de};

/// Contract versions that this program speaks (PL-3).
const CONTRACTS: [&str; 1] = ["0.1"];
/// Characters of a text in a message.
const SHOWN: usize = 200;

/// Reads a string and refuses it when `valid` says no.
fn text<'de, D: Deserializer<'de>>(
    from: D,
    valid: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<String, D::Error> {
    checked(String::deserialize(from)?, valid, expected)
}

fn texts<'de, D: Deserializer<'de>>(
    from: D,
    valid: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<Vec<String>, D::Error> {
    let list = Vec::<String>::deserialize(from)?;
    list.into_iter()
        .map(|text| checked(text, &valid, expected))
        .collect()
}

fn checked<E: de::Error>(
    text: String,
    valid: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<String, E> {
    if valid(&text) {
        return Ok(text);
    }
    let shown: String = text.escape_debug().take(SHOWN).collect();
    Err(E::custom(format!("`{shown}` is not {expected}")))
}

/// A sentence for people.
pub(crate) fn one_line<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(from, is_one_line, "one line of text")
}

/// A version of the contract.
pub(crate) fn contract<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(
        from,
        |text| CONTRACTS.contains(&text),
        "a contract that this program speaks; it speaks contract 0.1",
    )
}

/// Where a guest sees a directory.
pub(crate) fn guest_path<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(
        from,
        is_guest_path,
        "an absolute path without `.`, `..` and empty names",
    )
}

/// Patterns of paths below a mount, as the sandbox understands them.
pub(crate) fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    texts(
        from,
        is_glob,
        "a path pattern below the mount, like `docs/**/*.md`",
    )
}

/// Hosts that a plugin wants to reach.
pub(crate) fn host_pattern<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(
        from,
        |text| is_host(text.strip_prefix("*.").unwrap_or(text)),
        "a host: a name in lower case like `api.example.com`, or `*.example.com`",
    )
}

/// The one host that a secret is sent to.
pub(crate) fn host<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(
        from,
        is_host,
        "a host: a name in lower case like `api.example.com`",
    )
}

/// Methods of HTTP.
pub(crate) fn methods<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let upper = |text: &str| made_of(text, 20, |c| c.is_ascii_uppercase());
    texts(from, upper, "a method in upper case, like `GET`")
}

/// Name of an HTTP header.
pub(crate) fn header<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let token = |text: &str| made_of(text, 64, |c| c.is_ascii_alphanumeric() || c == '-');
    text(from, token, "the name of a header")
}

/// Value of an HTTP header with a place for a secret.
pub(crate) fn secret_format<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let valid = |text: &str| is_one_line(text) && text.matches("{}").count() == 1;
    text(from, valid, "a header's value with one `{}` for the secret")
}

/// Name of a secret.
pub(crate) fn secret_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(
        from,
        is_slug,
        "a name of lower-case letters, digits and `-`",
    )
}

/// Names of environment variables.
pub(crate) fn variables<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let valid = |text: &str| {
        made_of(text, 128, |c| c.is_ascii_alphanumeric() || c == '_')
            && !text.starts_with(|c: char| c.is_ascii_digit())
    };
    texts(from, valid, "the name of an environment variable")
}

/// At least one.
pub(crate) fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match u32::deserialize(from)? {
        0 => Err(D::Error::custom("it is at least 1")),
        number => Ok(number),
    }
}

pub(crate) fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(|c: char| c.is_control())
}

/// Lower-case letters, digits and `-`.
pub(crate) fn is_slug(text: &str) -> bool {
    made_of(text, 64, |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
    }) && !text.starts_with('-')
}

fn made_of(text: &str, most: usize, part: impl Fn(char) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.chars().all(part)
}

fn is_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(|c: char| c.is_control())
}

fn is_guest_path(text: &str) -> bool {
    text.strip_prefix('/')
        .is_some_and(|rest| rest.split('/').all(is_name))
}

fn is_glob(text: &str) -> bool {
    let parses = || {
        GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .is_ok()
    };
    text.split('/').all(is_name) && parses()
}

fn is_host(text: &str) -> bool {
    text.len() <= 253
        && text
            .split('.')
            .all(|label| is_slug(label) && !label.ends_with('-'))
}
