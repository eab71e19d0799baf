//! `edit`: one text for another, exactly (TL-3).

use crate::change::{Change, before};
use schemars::JsonSchema;
use sectile_paths::Path;
use sectile_sdk::Failure;
use sectile_sdk::tool::{Context, Output};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file, relative to the workspace
    path: String,
    /// The text to replace, exactly as it stands in the file
    #[schemars(length(min = 1))]
    old: String,
    /// The text in its place
    new: String,
    /// Replace every occurrence
    #[serde(default)]
    replace_all: bool,
}

pub(crate) fn run(input: Edit, context: &Context<'_>) -> Result<Output, Failure> {
    let path = Path::parse(&input.path)?;
    let missing = || {
        Failure::InvalidInput(format!(
            "`{}` does not exist; use write for a new file",
            path.shown
        ))
    };
    let old = before(&path)?.ok_or_else(missing)?;
    let text = std::str::from_utf8(&old)
        .map_err(|_| Failure::Rejected(format!("`{}` is not UTF-8 text", path.shown)))?;
    let (new, count) = replaced(text, &input)
        .map_err(|why| Failure::InvalidInput(format!("`{}` is not changed: {why}", path.shown)))?;
    let change = Change {
        path: &path,
        old: Some(&old),
        new: new.as_bytes(),
    };
    let diff = change.make(context)?;
    let times = match count {
        1 => "1 occurrence".to_owned(),
        n => format!("{n} occurrences"),
    };
    Ok(Output::text(format!("replaced {times} in {}", path.shown)).artifact(diff))
}

/// The new text, and how often the old one stood in it.
fn replaced(text: &str, input: &Edit) -> Result<(String, usize), String> {
    if input.old.is_empty() {
        return Err("`old` is empty".to_owned());
    }
    let mut old = input.old.clone();
    let mut new = input.new.clone();
    if !text.contains(&old) && text.contains("\r\n") && !old.contains('\r') {
        // Models write \n; the file keeps the line ends that it has.
        old = old.replace('\n', "\r\n");
        new = new.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if old == new {
        return Err("`old` and `new` are the same".to_owned());
    }
    match text.matches(&old).count() {
        0 => Err(format!(
            "`old` does not occur in it{}; read the file and copy the text exactly",
            hint(text, &old)
        )),
        1 => Ok((text.replacen(&old, &new, 1), 1)),
        n if input.replace_all => Ok((text.replace(&old, &new), n)),
        n => Err(format!(
            "`old` occurs {n} times; give more of the text around it, or set replace_all"
        )),
    }
}

/// What most often is the reason that a text does not match.
fn hint(text: &str, old: &str) -> &'static str {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if squeezed(text).contains(&squeezed(old)) {
        " (it does, but for spaces, tabs or line ends)"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(
        text: &str,
        old: &str,
        new: &str,
        replace_all: bool,
    ) -> Result<(String, usize), String> {
        let input = Edit {
            path: String::new(),
            old: old.to_owned(),
            new: new.to_owned(),
            replace_all,
        };
        replaced(text, &input)
    }

    #[test]
    fn tl_3_a_match_is_exact_and_unique() {
        assert_eq!(edit("a b c", "b", "x", false), Ok(("a x c".to_owned(), 1)));
        assert_eq!(edit("b b", "b", "x", true), Ok(("x x".to_owned(), 2)));
        assert!(
            edit("b b", "b", "x", false)
                .unwrap_err()
                .contains("2 times")
        );
        assert!(
            edit("a", "b", "x", false)
                .unwrap_err()
                .contains("does not occur")
        );
        assert!(
            edit("a\tb", "a  b", "x", false)
                .unwrap_err()
                .contains("but for spaces")
        );
        assert!(edit("a", "a", "a", false).is_err());
        assert!(edit("a", "", "x", false).is_err());
    }

    #[test]
    fn tl_3_a_file_keeps_its_line_ends() {
        assert_eq!(
            edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false),
            Ok(("x\r\ny\r\nz\r\nc\r\n".to_owned(), 1))
        );
    }
}
