//! `grep` and `glob`: finding text and files in the workspace.

mod glob;
mod grep;
mod ignored;
#[cfg(test)]
mod testing;
mod walk;
mod words;

use sectile_sdk::tool::{Tool, Tools};

struct Search;

impl Tools for Search {
    fn tools() -> Vec<Tool> {
        vec![
            Tool::new(
                "grep",
                "Searches the text files of the workspace for a regular expression (Rust syntax, \
                 line by line) and shows the matching lines below the path of each file, sorted \
                 by path; the last line has the exact totals. Files that .gitignore or .ignore \
                 leave out are not searched, unless path names them. Not for names of files (use \
                 glob).",
                grep::run,
            )
            .read_only(),
            Tool::new(
                "glob",
                "Finds files of the workspace by a pattern such as `**/*.rs` or `src/*.{c,h}` and \
                 lists the 100 that were changed last, newest first. Files that .gitignore or \
                 .ignore leave out are not listed. Not for text in files (use grep).",
                glob::run,
            )
            .read_only(),
        ]
    }
}

sectile_sdk::export_tools!(Search);
