//! `list`: one level of a directory, sorted and in pages (TL-4).

use schemars::JsonSchema;
use sectile_paths::{Path, explain, inert};
use sectile_sdk::Failure;
use sectile_sdk::files::{self, Kind};
use sectile_sdk::tool::{Context, Output};
use serde::Deserialize;

/// Entries of one page.
const PAGE: usize = 500;
/// Bytes of one page.
const MAX_BYTES: usize = 30_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// The directory, relative to the workspace
    #[serde(default = "here")]
    path: String,
    /// The first entry, counted from 1
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    offset: usize,
}

fn here() -> String {
    ".".to_owned()
}

fn one() -> usize {
    1
}

pub(crate) fn run(input: List, _: &Context<'_>) -> Result<Output, Failure> {
    let path = Path::parse(&input.path)?;
    let mut entries = Vec::new();
    files::list(&path.guest, |name, kind| entries.push(entry(&name, kind)))
        .map_err(|error| explain(&path, &error))?;
    entries.sort_unstable();
    page(&entries, input.offset.max(1)).map(Output::text)
}

/// A name on one line, with what it stands for.
fn entry(name: &str, kind: Kind) -> String {
    let mark = match kind {
        Kind::Directory => "/",
        Kind::Link => "@",
        Kind::File | Kind::Other => "",
    };
    format!("{}{mark}", inert(name))
}

fn page(entries: &[String], offset: usize) -> Result<String, Failure> {
    let total = entries.len();
    if total == 0 {
        return Ok("[the directory is empty]".to_owned());
    }
    if offset > total {
        return Err(Failure::InvalidInput(format!(
            "entry {offset} is past the end: there are {total}; use an offset from 1 to {total}"
        )));
    }
    let mut shown = String::new();
    let mut last = offset - 1;
    for entry in entries.iter().skip(offset - 1).take(PAGE) {
        if !shown.is_empty() && shown.len() + entry.len() > MAX_BYTES {
            break;
        }
        shown.push_str(entry);
        shown.push('\n');
        last += 1;
    }
    let more = match last < total {
        true => format!("; go on with offset {}", last + 1),
        false => String::new(),
    };
    Ok(format!(
        "{shown}[entries {offset} to {last} of {total}{more}]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tl_4_pages_join_to_the_whole() {
        let entries: Vec<_> = (0..1_234).map(|n| format!("file {n:04}")).collect();
        let mut seen = Vec::new();
        while seen.len() < entries.len() {
            let page = page(&entries, seen.len() + 1).unwrap();
            let lines: Vec<_> = page.lines().map(str::to_owned).collect();
            seen.extend(lines.into_iter().filter(|line| !line.starts_with('[')));
        }
        assert_eq!(seen, entries);
        assert!(page(&entries, 1_235).is_err());
    }

    #[test]
    fn t22_a_name_is_one_line_whatever_is_in_it() {
        assert_eq!(entry("a\nb\u{1b}[2J", Kind::File), "a\\nb\\u{1b}[2J");
        assert_eq!(entry("dir", Kind::Directory), "dir/");
    }
}
