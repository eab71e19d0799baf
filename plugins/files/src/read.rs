//! `read`: a range of lines of a text file (TL-2).

use schemars::JsonSchema;
use sectile_paths::{Path, cut_line, see};
use sectile_sdk::Failure;
use sectile_sdk::files::Links;
use sectile_sdk::tool::{Context, Output};
use serde::Deserialize;

/// Lines that one call shows at the most.
const MAX_LINES: usize = 2_000;
/// Bytes that one call shows at the most, and one long line beyond.
const MAX_BYTES: usize = 32_000;
/// Room for the last line, which says what was shown.
const LAST_LINE: usize = 200;
/// Characters of one line.
const MAX_LINE: usize = 2_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The file, relative to the workspace
    path: String,
    /// The first line, counted from 1
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    offset: usize,
    /// How many lines at the most
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = 2000))]
    limit: usize,
}

fn one() -> usize {
    1
}

fn most() -> usize {
    MAX_LINES
}

pub(crate) fn run(input: Read, _: &Context<'_>) -> Result<Output, Failure> {
    let path = Path::parse(&input.path)?;
    let bytes = see(&path, Links::Follow)?;
    if bytes.contains(&0) {
        return Err(Failure::Rejected(format!(
            "`{}` is a binary file of {} bytes, and this tool reads text",
            path.shown,
            bytes.len()
        )));
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Failure::Rejected(format!(
            "`{}` is not UTF-8: byte {} does not fit; this tool reads UTF-8 text",
            path.shown,
            error.valid_up_to()
        ))
    })?;
    lines(text, input.offset.max(1), input.limit.clamp(1, MAX_LINES)).map(Output::text)
}

fn lines(text: &str, offset: usize, limit: usize) -> Result<String, Failure> {
    let total = text.lines().count();
    if total == 0 && offset == 1 {
        return Ok("[the file is empty]".to_owned());
    }
    if offset > total {
        return Err(Failure::InvalidInput(format!(
            "line {offset} is past the end: the file has {total} lines; use an offset from 1 to {total}"
        )));
    }
    let mut shown = String::new();
    let mut last = offset - 1;
    for line in text.lines().skip(offset - 1).take(limit) {
        let line = format!("{}\t{}\n", last + 1, cut_line(line, MAX_LINE));
        if !shown.is_empty() && shown.len() + line.len() > MAX_BYTES - LAST_LINE {
            break;
        }
        shown.push_str(&line);
        last += 1;
    }
    let more = match last < total {
        true => format!("; go on with offset {}", last + 1),
        false => String::new(),
    };
    Ok(format!(
        "{shown}[lines {offset} to {last} of {total}{more}]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tl_2_lines_have_numbers_and_the_range_is_named() {
        assert_eq!(
            lines("a\nb\r\nc\n", 1, 2_000).unwrap(),
            "1\ta\n2\tb\n3\tc\n[lines 1 to 3 of 3]"
        );
        assert_eq!(
            lines("a\nb\nc", 2, 1).unwrap(),
            "2\tb\n[lines 2 to 2 of 3; go on with offset 3]"
        );
        assert_eq!(lines("", 1, 10).unwrap(), "[the file is empty]");
        assert_eq!(lines("\n", 1, 10).unwrap(), "1\t\n[lines 1 to 1 of 1]");
    }

    #[test]
    fn tl_2_an_offset_past_the_end_says_how_far_it_goes() {
        for (text, offset) in [("a\nb\n", 3), ("", 2)] {
            let Err(Failure::InvalidInput(why)) = lines(text, offset, 10) else {
                panic!("{text:?} has no line {offset}");
            };
            assert!(why.contains("past the end"), "{why}");
        }
    }

    #[test]
    fn tl_2_what_is_shown_is_bounded_and_nothing_is_skipped() {
        let text = "0123456789\n".repeat(50_000);
        let (mut offset, mut seen) = (1, 0);
        while seen < 50_000 {
            let shown = lines(&text, offset, MAX_LINES).unwrap();
            assert!(shown.len() <= MAX_BYTES);
            seen += shown.lines().count() - 1;
            offset = seen + 1;
        }
        assert_eq!(seen, 50_000);
    }

    #[test]
    fn tl_2_a_long_line_is_cut_and_says_so() {
        let shown = lines(&"é".repeat(2_005), 1, 1).unwrap();
        let line = shown.lines().next().unwrap();
        assert!(line.ends_with("é [cut: 5 more characters]"));
    }
}
