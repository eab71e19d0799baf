//! Text for terminals: safe to print, cut to a width, numbers in groups.

use sectile_sandbox::one_line;
use std::borrow::Cow;
use std::path::Path;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` with its line breaks, and with every other control character made
/// visible: what a plugin or a file says cannot drive the terminal (T22).
pub(crate) fn printable(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let cells: Vec<_> = line.split('\t').map(one_line).collect();
        cells.join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A path as text, for JSON too: what is not Unicode in it is replaced.
pub(crate) fn path(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// `text` in at most `width` columns, on one line.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text = one_line(text);
    if text.width() <= width {
        return text;
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

/// `text` in exactly `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let gap = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(gap))
}

/// `n` with its digits in groups of three.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A bar of `width` columns for `part` of `whole`; anything shows as something.
pub(crate) fn bar(part: u64, whole: u64, width: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (u128::from(part) * u128::from(width) * 8).div_ceil(u128::from(whole.max(1)));
    let eighths = usize::try_from(eighths.min(u128::from(width) * 8)).unwrap_or(0);
    let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or("");
    format!("{}{rest}", "█".repeat(eighths / 8))
}

/// Columns of the terminal, or 80.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).clamp(40, 120))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t22_nothing_a_plugin_says_drives_the_terminal() {
        assert_eq!(
            printable("a\tb\r\n\u{1b}]52;c;x\u{7}"),
            "a\tb\\r\n\\u{1b}]52;c;x\\u{7}"
        );
    }

    #[test]
    fn text_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(cut("漢字漢字", 8), "漢字漢字");
        assert_eq!(cut("漢字漢字", 7), "漢字漢…");
        assert_eq!(padded("a", 3), "a  ");
        assert_eq!(cut("a\nb", 9), "a\\nb");
    }

    #[test]
    fn numbers_and_bars() {
        assert_eq!(
            (grouped(0), grouped(1_000), grouped(142_800)),
            ("0".into(), "1 000".into(), "142 800".into())
        );
        assert_eq!(
            (bar(0, 10, 4), bar(10, 10, 4), bar(1, 1_000_000, 4)),
            (String::new(), "████".into(), "▏".into())
        );
        assert_eq!(bar(99, 10, 2), "██");
    }
}
