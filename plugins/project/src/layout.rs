//! `runtime/user-project-context`: where the project lies and what stands at
//! its top (WS-20 to WS-23).

use crate::Places;
use sectile_sdk::Failure;
use sectile_sdk::files::{self, Kind};
use std::collections::BTreeMap;

const MAX_ENTRIES: usize = 64;
const MAX_CHARS: usize = 16_384;

/// The body of the section.
pub(crate) fn render(places: &Places) -> Result<String, Failure> {
    let (named, directory) = match &places.repository {
        Some(repository) => ("the repository root", repository),
        None if places.is_repository_root() => ("the repository root", &places.workspace),
        None => ("the working directory", &places.workspace),
    };
    let mut layout = Layout::default();
    files::list(directory, |name, kind| layout.add(name, kind)).map_err(|e| {
        Failure::Unavailable(format!("the top level of {named} cannot be listed: {e}"))
    })?;
    let text = format!(
        "Working directory: {}\nRepository root: {}\nTop-level layout of {named}:\n{}",
        escape(&places.working_directory),
        places
            .repository_root
            .as_deref()
            .map_or("None detected".to_owned(), escape),
        layout.lines()
    );
    match text.chars().count() {
        chars if chars > MAX_CHARS => Err(Failure::Rejected(format!(
            "the project context has {chars} characters; at most {MAX_CHARS} are allowed"
        ))),
        _ => Ok(text),
    }
}

/// The first entries in byte order, and how many there are besides. Memory
/// does not grow with the directory.
#[derive(Default)]
struct Layout {
    shown: BTreeMap<String, Kind>,
    omitted: usize,
}

impl Layout {
    fn add(&mut self, name: String, kind: Kind) {
        if name == ".git" {
            return;
        }
        // A name that is not UTF-8 arrives with the replacement character in it;
        // one that really holds it cannot be told apart and counts as omitted too.
        if name.contains('\u{fffd}') {
            self.omitted += 1;
            return;
        }
        self.shown.insert(name, kind);
        if self.shown.len() > MAX_ENTRIES {
            self.shown.pop_last();
            self.omitted += 1;
        }
    }

    fn lines(&self) -> String {
        let mut lines: Vec<_> = self
            .shown
            .iter()
            .map(|(name, kind)| line(name, *kind))
            .collect();
        match (self.omitted, lines.is_empty()) {
            (0, true) => lines.push("None".to_owned()),
            (0, false) => {}
            (1, _) => lines.push("(1 more entry omitted)".to_owned()),
            (n, _) => lines.push(format!("({n} more entries omitted)")),
        }
        lines.join("\n")
    }
}

fn line(name: &str, kind: Kind) -> String {
    let end = match kind {
        Kind::Directory => "/",
        Kind::Link => "@",
        Kind::File | Kind::Other => "",
    };
    format!("- {}{end}", escape(name))
}

/// WS-22: nothing in a name or path can look like markup or begin a line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn render_at(dir: &Path, repository_root: Option<&str>) -> Result<String, String> {
        let path = dir.to_str().unwrap().to_owned();
        let places = Places {
            working_directory: "/home/me/<here>\n&".to_owned(),
            repository_root: repository_root.map(str::to_owned),
            workspace: path,
            repository: None,
        };
        render(&places).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn ws_20_the_layout_is_of_what_was_listed() {
        let (inner, outer) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(inner.path().join("inner"), "").unwrap();
        fs::write(outer.path().join("outer"), "").unwrap();
        let mut places = Places {
            working_directory: "/r/w".to_owned(),
            repository_root: Some("/r".to_owned()),
            workspace: inner.path().to_str().unwrap().to_owned(),
            repository: Some(outer.path().to_str().unwrap().to_owned()),
        };
        let above = "Working directory: /r/w\nRepository root: /r\nTop-level layout of ";
        assert_eq!(
            render(&places).unwrap(),
            format!("{above}the repository root:\n- outer")
        );
        places.repository = None;
        assert_eq!(
            render(&places).unwrap(),
            format!("{above}the working directory:\n- inner")
        );
    }

    #[test]
    fn f17_memory_does_not_grow_with_the_directory() {
        let mut layout = Layout::default();
        for n in (0..100_000).rev() {
            layout.add(format!("{n:06}"), Kind::File);
            assert!(layout.shown.len() <= MAX_ENTRIES);
        }
        let lines = layout.lines();
        assert!(lines.starts_with("- 000000\n"));
        assert!(lines.ends_with("- 000063\n(99936 more entries omitted)"));
    }

    #[test]
    fn ws_20_ws_21_entries_are_sorted_by_byte_and_marked_by_kind() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b", "a", "Z", "é", ".hidden"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        for name in ["src", ".git"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let text = render_at(dir.path(), Some("/home/me/<here>\n&")).unwrap();
        assert_eq!(
            text,
            "Working directory: /home/me/&lt;here&gt;\\n&amp;\nRepository root: /home/me/&lt;here&gt;\\n&amp;\n\
             Top-level layout of the repository root:\n- .hidden\n- Z\n- a\n- b\n- link@\n- src/\n- é"
        );
    }

    #[test]
    fn ws_21_an_empty_layout_says_none() {
        let dir = tempfile::tempdir().unwrap();
        let text = render_at(dir.path(), None).unwrap();
        assert!(
            text.ends_with(
                "Repository root: None detected\nTop-level layout of the working directory:\nNone"
            ),
            "{text}"
        );
    }

    #[test]
    fn ws_21_64_entries_are_shown_and_the_rest_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..64 {
            fs::write(dir.path().join(format!("{n:03}")), "").unwrap();
        }
        assert!(!render_at(dir.path(), None).unwrap().contains("omitted"));
        fs::write(dir.path().join("000a"), "").unwrap();
        let text = render_at(dir.path(), None).unwrap();
        assert!(text.ends_with("- 062\n(1 more entry omitted)"), "{text}");
    }

    #[test]
    fn ws_21_names_that_are_not_utf_8_are_counted_as_omitted() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"a\xff")), "").unwrap();
        assert!(
            render_at(dir.path(), None)
                .unwrap()
                .ends_with(":\n(1 more entry omitted)")
        );
    }

    #[test]
    fn ws_22_names_are_data() {
        assert_eq!(
            escape("a\r\n</x>&\u{1b}[0m"),
            "a\\r\\n&lt;/x&gt;&amp;\u{fffd}[0m"
        );
    }

    #[test]
    fn ws_23_more_than_16384_characters_fail() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..64 {
            fs::write(dir.path().join(format!("{n:02}{}", "&".repeat(60))), "").unwrap();
        }
        assert!(
            render_at(dir.path(), None)
                .unwrap_err()
                .contains("at most 16384")
        );
    }
}
