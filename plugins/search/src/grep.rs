//! `grep`: lines that match, with exact totals (TL-4).

use crate::walk::{Unseen, pattern, walk};
use crate::words::count;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use sectile_paths::{MAX_FILE, Path, cut_line, explain, inert};
use sectile_sdk::Failure;
use sectile_sdk::files::ReadError;
use sectile_sdk::tool::{Context, Output, progress};
use serde::Deserialize;
use std::fmt::Write;
use std::io;

/// Matching lines that one call shows.
const MAX_LINES: usize = 250;
/// Of them, in one file.
const MAX_LINES_A_FILE: usize = 50;
/// Bytes that one call shows.
const MAX_BYTES: usize = 31_000;
/// Characters of one line.
const MAX_LINE: usize = 500;
/// Bytes of a compiled expression, and of what it builds while it matches.
const MAX_EXPRESSION: usize = 16 << 20;
/// Files between two reports of progress.
const REPORT_EACH: u64 = 2_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// The regular expression; it matches within one line
    #[schemars(length(min = 1, max = 4096))]
    pattern: String,
    /// The directory or file to search, relative to the workspace
    #[serde(default = "here")]
    path: String,
    /// Search only files that this pattern picks, below path: `*.rs`, `src/**/*.{c,h}`, `!*.lock`
    glob: Option<String>,
    /// Upper and lower case are the same
    #[serde(default)]
    ignore_case: bool,
    /// The pattern is plain text and no expression
    #[serde(default)]
    literal: bool,
    /// Lines shown before and after each matching line
    #[serde(default)]
    #[schemars(range(max = 10))]
    context: usize,
    /// Show only the paths of the files, each with its number of matching lines
    #[serde(default)]
    files_only: bool,
}

fn here() -> String {
    ".".to_owned()
}

pub(crate) fn run(input: Grep, _: &Context<'_>) -> Result<Output, Failure> {
    search(&Path::parse(&input.path)?, &input).map(Output::text)
}

fn search(path: &Path, input: &Grep) -> Result<String, Failure> {
    let matcher = matcher(input)?;
    let wanted = pattern(input.glob.as_deref().unwrap_or("**"))?;
    let mut searcher = SearcherBuilder::new()
        .before_context(input.context.min(10))
        .after_context(input.context.min(10))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut report = Report::new(input.files_only);
    let mut searched = 0_u64;
    let unseen = walk(path, &wanted, &mut |dir, name, at| {
        let bytes = match dir.read(name, MAX_FILE) {
            Ok(bytes) => bytes,
            Err(error) if at == path.shown => return Err(explain(path, &error)),
            Err(ReadError::TooLarge(_)) => {
                report.too_large += 1;
                return Ok(());
            }
            // What is not granted, gone or no file any more.
            Err(_) => return Ok(()),
        };
        searched += 1;
        if searched.is_multiple_of(REPORT_EACH) {
            progress(
                &format!("{} matching lines", report.lines),
                Some(searched),
                None,
            );
        }
        let mut file = report.file(at);
        searcher
            .search_slice(&matcher, &bytes, &mut file)
            .map_err(|error| Failure::Internal(error.to_string()))?;
        report.add(at, file);
        Ok(())
    })?;
    Ok(report.finish(searched, unseen))
}

fn matcher(input: &Grep) -> Result<RegexMatcher, Failure> {
    RegexMatcherBuilder::new()
        .case_insensitive(input.ignore_case)
        .fixed_strings(input.literal)
        .size_limit(MAX_EXPRESSION)
        .dfa_size_limit(MAX_EXPRESSION)
        .line_terminator(Some(b'\n'))
        .build(&input.pattern)
        .map_err(|error| {
            Failure::InvalidInput(format!(
                "the pattern cannot be used: {error}; set literal to search for it as plain text"
            ))
        })
}

/// What is shown of all files, and how much there is.
struct Report {
    files_only: bool,
    text: String,
    /// Matching lines that are shown.
    shown: usize,
    /// All matching lines, and the files that they are in.
    lines: u64,
    files: u64,
    too_large: u64,
}

impl Report {
    fn new(files_only: bool) -> Self {
        Self {
            files_only,
            text: String::new(),
            shown: 0,
            lines: 0,
            files: 0,
            too_large: 0,
        }
    }

    fn file(&self, path: &str) -> File {
        let limit = match self.files_only || self.is_full() {
            true => 0,
            false => MAX_LINES_A_FILE.min(MAX_LINES - self.shown),
        };
        File {
            text: String::new(),
            shown: 0,
            lines: 0,
            limit,
            room: MAX_BYTES.saturating_sub(self.text.len() + path.len()),
            is_binary: false,
        }
    }

    fn is_full(&self) -> bool {
        self.shown >= MAX_LINES || self.text.len() >= MAX_BYTES
    }

    fn add(&mut self, path: &str, file: File) {
        // A binary file has no lines.
        if file.lines == 0 || file.is_binary {
            return;
        }
        self.lines += file.lines;
        self.files += 1;
        let path = inert(path);
        if self.files_only {
            let line = format!("{path}: {}\n", file.lines);
            if !self.is_full() && self.text.len() + line.len() <= MAX_BYTES {
                self.shown += 1;
                self.text.push_str(&line);
            }
        } else if file.shown > 0 {
            self.shown += file.shown;
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            let _ = writeln!(self.text, "{path}");
            self.text.push_str(&file.text);
            let more = file.lines - file.shown as u64;
            if more > 0 {
                let more = count(more, "more matching line");
                let _ = writeln!(self.text, "[{more} in this file]");
            }
        }
    }

    fn finish(self, searched: u64, unseen: Unseen) -> String {
        let Self { lines, files, .. } = self;
        let all = match self.files_only {
            true => files,
            false => lines,
        };
        let cut = match (self.shown as u64) < all {
            true => format!(
                "; {} of them shown: narrow pattern, path or glob",
                self.shown
            ),
            false => String::new(),
        };
        let mut last = match lines {
            0 => format!("no line matches in {}", count(searched, "file")),
            _ => format!(
                "{} in {files} of {}{cut}",
                count(lines, "matching line"),
                count(searched, "file")
            ),
        };
        if self.too_large > 0 {
            let files = count(self.too_large, "file");
            let _ = write!(last, "; not searched: {files} above {} MiB", MAX_FILE >> 20);
        }
        last.push_str(&unseen.note());
        format!("{}[{last}]", self.text)
    }
}

/// What is shown of one file, and how much there is.
struct File {
    text: String,
    shown: usize,
    lines: u64,
    /// Matching lines and bytes that may be shown.
    limit: usize,
    room: usize,
    is_binary: bool,
}

impl File {
    fn is_full(&self) -> bool {
        self.shown >= self.limit
    }

    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) -> bool {
        let line = format!("{}{mark}{}\n", number.unwrap_or(0), shown_line(bytes));
        if self.text.len() + line.len() > self.room {
            self.limit = self.shown;
            return false;
        }
        self.text.push_str(&line);
        true
    }
}

impl Sink for File {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines += 1;
        if !self.is_full() && self.push(found.line_number(), ':', found.bytes()) {
            self.shown += 1;
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // What follows the last line that is shown still belongs to it.
        if self.shown < self.limit {
            self.push(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.is_full() && !self.text.is_empty() {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

fn shown_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    cut_line(text.trim_end_matches(['\n', '\r']), MAX_LINE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    fn grep(tree: &Tree, path: &str, options: serde_json::Value) -> Result<String, Failure> {
        search(&tree.path(path), &serde_json::from_value(options).unwrap())
    }

    #[test]
    fn tl_4_lines_stand_below_their_files_with_numbers_and_context() {
        let tree = Tree::new(&[
            ("b.rs", "one\ntwo\nthree\nfour\nfive\nsix\ntwo\n"),
            ("a/x.txt", "two\r\n"),
            ("bin", "two\0"),
        ]);
        let options = serde_json::json!({"pattern": "^t(wo)\r?$", "context": 1});
        assert_eq!(
            grep(&tree, ".", options).unwrap(),
            "a/x.txt\n1:two\n\nb.rs\n1-one\n2:two\n3-three\n--\n6-six\n7:two\n\
             [3 matching lines in 2 of 3 files]"
        );
        let options = serde_json::json!({"pattern": "TWO", "ignore_case": true, "glob": "*.rs", "files_only": true});
        assert_eq!(
            grep(&tree, ".", options).unwrap(),
            "b.rs: 2\n[2 matching lines in 1 of 1 file]"
        );
        let options = serde_json::json!({"pattern": "t.o", "literal": true});
        assert_eq!(
            grep(&tree, "b.rs", options).unwrap(),
            "[no line matches in 1 file]"
        );
    }

    #[test]
    fn tl_4_totals_are_exact_whatever_is_cut() {
        let many = "hit\n".repeat(1_000);
        let long = format!("{}hit\n", "é".repeat(2_000)).repeat(60);
        let tree = Tree::new(&[("a", &many), ("b", &many), ("c", "hit"), ("long/d", &long)]);
        let options = serde_json::json!({"pattern": "hit"});
        let text = grep(&tree, ".", options.clone()).unwrap();
        assert!(text.contains("[950 more matching lines in this file]"));
        assert!(text.contains(" [cut: 1503 more characters]\n"));
        let last = "[2061 matching lines in 4 of 4 files; ";
        assert!(text.lines().last().unwrap().starts_with(last), "{text}");
        assert!(text.len() <= 32_000);
        let shown = text
            .lines()
            .filter(|line| line.contains(':') && !line.starts_with('['));
        let said = format!("{last}{} of them shown", shown.count());
        assert!(text.contains(&said), "{said}");
        assert!(grep(&tree, "long", options).unwrap().len() <= 32_000);
    }

    #[test]
    fn tl_4_what_cannot_be_searched_is_said() {
        let tree = Tree::new(&[("a", "x")]);
        for (path, options) in [
            (".", serde_json::json!({"pattern": "("})),
            (".", serde_json::json!({"pattern": "a\nb"})),
            (".", serde_json::json!({"pattern": "(a{1000}){1000}"})),
            (".", serde_json::json!({"pattern": "a", "glob": "{a"})),
            ("none", serde_json::json!({"pattern": "a"})),
        ] {
            assert!(matches!(
                grep(&tree, path, options),
                Err(Failure::InvalidInput(_))
            ));
        }
    }
}
