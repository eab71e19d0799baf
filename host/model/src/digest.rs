//! A SHA-256 digest, printed as `sha256:` and 64 hexadecimal digits.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

/// Text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest; expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct DigestError(String);

impl Digest {
    /// A digest from its bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first twelve hexadecimal digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.0
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        parse(text)
            .map(Self)
            .ok_or_else(|| DigestError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<[u8; 32]> {
    let hex = text.strip_prefix("sha256:")?.as_bytes();
    let (pairs, rest) = hex.as_chunks::<2>();
    let mut bytes = [0; 32];
    if !rest.is_empty() || pairs.len() != bytes.len() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(c: u8) -> Option<u8> {
    match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_prints_and_parses_to_itself() {
        let digest = Digest::from_bytes(std::array::from_fn(|n| u8::try_from(n * 7).unwrap()));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!(digest.to_string().contains(&digest.short()));
    }

    #[test]
    fn anything_else_is_refused() {
        let good = Digest::from_bytes([0xab; 32]).to_string();
        for bad in [
            good.get(1..).unwrap(),
            good.get(..70).unwrap(),
            &format!("{good}0"),
            &good.to_uppercase(),
            &good.replace('a', "g"),
            "",
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
