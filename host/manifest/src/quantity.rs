//! Sizes and times as people write them: `64MiB`, `2s`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of bytes, written with `B`, `KiB`, `MiB` or `GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ByteSize(pub u64);

/// A span of time, written with `ms` or `s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Span(pub Duration);

const SIZES: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];
const SPANS: [(&str, u64); 2] = [("ms", 1), ("s", 1_000)];

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = parse(text, &SIZES).filter(|bytes| *bytes > 0);
        bytes.map(Self).ok_or_else(|| {
            format!(
                "`{}` is not a size; write it like `64MiB`",
                text.escape_debug()
            )
        })
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let millis = parse(text, &SPANS).filter(|millis| *millis > 0);
        millis
            .map(|millis| Self(Duration::from_millis(millis)))
            .ok_or_else(|| {
                format!(
                    "`{}` is not a time; write it like `500ms` or `2s`",
                    text.escape_debug()
                )
            })
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = SIZES
            .iter()
            .find(|(_, factor)| self.0.is_multiple_of(*factor));
        let (unit, factor) = fits.copied().unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis if millis.is_multiple_of(1_000) => write!(f, "{}s", millis / 1_000),
            millis => write!(f, "{millis}ms"),
        }
    }
}

macro_rules! through_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
through_text!(ByteSize);
through_text!(Span);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_what_they_were_read_from() {
        for text in ["64MiB", "1KiB", "1500B", "2GiB"] {
            assert_eq!(text.parse::<ByteSize>().unwrap().to_string(), text);
        }
        for text in ["2s", "1500ms"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn malformed_quantities_are_refused() {
        for text in [
            "",
            "64",
            "MiB",
            "64 MiB",
            "64mb",
            "-1KiB",
            "0B",
            "1.5KiB",
            "99999999999GiB",
            "٣KiB",
        ] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        for text in ["", "2", "0s", "2m", "-1s", "18446744073709551615s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
