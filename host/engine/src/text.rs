//! Cutting text without cutting a character.

/// The longest beginning of `text` of at most `bytes` bytes.
pub(crate) fn head_bytes(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// The longest end of `text` of at most `bytes` bytes.
pub(crate) fn tail_bytes(text: &str, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(start..).unwrap_or("")
}

/// The first `chars` characters of `text`.
pub(crate) fn head_chars(text: &str, chars: usize) -> &str {
    let end = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// The last `chars` characters of `text`.
pub(crate) fn tail_chars(text: &str, chars: usize) -> &str {
    let from_end = chars
        .checked_sub(1)
        .and_then(|n| text.char_indices().nth_back(n));
    let start = match (chars, from_end) {
        (0, _) => text.len(),
        (_, Some((at, _))) => at,
        (_, None) => 0,
    };
    text.get(start..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_move_inwards_to_characters() {
        assert_eq!(head_bytes("aé漢", 2), "a");
        assert_eq!(head_bytes("aé漢", 3), "aé");
        assert_eq!(tail_bytes("aé漢", 4), "漢");
        assert_eq!(tail_bytes("aé漢", 99), "aé漢");
        assert_eq!(
            (head_chars("é漢x", 2), tail_chars("é漢x", 2)),
            ("é漢", "漢x")
        );
        assert_eq!(
            (head_chars("é", 9), tail_chars("é", 9), tail_chars("é", 0)),
            ("é", "é", "")
        );
    }
}
