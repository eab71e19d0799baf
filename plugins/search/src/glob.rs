//! `glob`: files whose path matches, the newest first (TL-4).

use crate::walk::{pattern, walk};
use crate::words::count;
use schemars::JsonSchema;
use sectile_paths::{Path, inert};
use sectile_sdk::Failure;
use sectile_sdk::tool::{Context, Output};
use serde::Deserialize;
use std::cmp::Reverse;
use std::fmt::Write;
use std::time::Duration;

/// Files that one call shows.
const MAX_FILES: usize = 100;
/// Bytes that one call shows.
const MAX_BYTES: usize = 31_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// The pattern; without a slash it is matched against names, with one against paths below path
    #[schemars(length(min = 1, max = 4096))]
    pattern: String,
    /// The directory to look in, relative to the workspace
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".to_owned()
}

/// A file that was found; in the order in which files are shown.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    changed: Reverse<Option<Duration>>,
    path: String,
}

pub(crate) fn run(input: Glob, _: &Context<'_>) -> Result<Output, Failure> {
    find(&Path::parse(&input.path)?, &input.pattern).map(Output::text)
}

fn find(path: &Path, wanted: &str) -> Result<String, Failure> {
    if wanted.starts_with('!') {
        return Err(Failure::InvalidInput(
            "the pattern says what to leave out; say what to find".to_owned(),
        ));
    }
    let mut found = Vec::new();
    let unseen = walk(path, &pattern(wanted)?, &mut |dir, name, at| {
        found.push(Found {
            changed: Reverse(dir.changed(name)),
            path: at.to_owned(),
        });
        Ok(())
    })?;
    found.sort_unstable();
    let mut text = String::new();
    let mut shown = 0;
    for file in found.iter().take(MAX_FILES) {
        let path = inert(&file.path);
        if text.len() + path.len() > MAX_BYTES {
            break;
        }
        let _ = writeln!(text, "{path}");
        shown += 1;
    }
    let all = count(found.len() as u64, "file");
    let last = match found.len() {
        0 => "no file matches".to_owned(),
        n if n == shown => format!("{all}, newest first"),
        _ => format!("the newest {shown} of {all}: narrow pattern or path"),
    };
    Ok(format!("{text}[{last}{}]", unseen.note()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use std::fs::File;
    use std::time::UNIX_EPOCH;

    #[test]
    fn tl_4_the_newest_come_first_and_the_total_is_exact() {
        let names: Vec<_> = (0..150).map(|n| format!("d{}/f{n:03}.rs", n % 7)).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        let tree = Tree::new(&files);
        for (age, name) in names.iter().enumerate() {
            let at = UNIX_EPOCH + Duration::from_secs(2_000_000_000 - age as u64);
            File::open(tree.root().join(name))
                .unwrap()
                .set_modified(at)
                .unwrap();
        }
        let text = find(&tree.path("."), "*.rs").unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..100], names[..100]);
        assert_eq!(
            lines[100],
            "[the newest 100 of 150 files: narrow pattern or path]"
        );
        assert_eq!(
            find(&tree.path("d3"), "f003.*").unwrap(),
            "d3/f003.rs\n[1 file, newest first]"
        );
        assert_eq!(find(&tree.path("."), "/f*").unwrap(), "[no file matches]");
        assert!(find(&tree.path("."), "!*.rs").is_err());
    }

    #[test]
    fn t22_a_path_is_one_line_whatever_is_in_it() {
        let tree = Tree::new(&[("a\nb\u{1b}[2J.rs", "")]);
        let text = find(&tree.path("."), "*.rs").unwrap();
        assert_eq!(text, "a\\nb\\u{1b}[2J.rs\n[1 file, newest first]");
    }
}
