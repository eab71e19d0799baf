//! The walk through the workspace: sorted by name, links not followed, what is
//! ignored left out.

use crate::ignored::Ignored;
use crate::words::count_of;
use ignore::overrides::{Override, OverrideBuilder};
use sectile_paths::{Path, explain};
use sectile_sdk::Failure;
use sectile_sdk::files::{Dir, Kind, ReadError};

/// Directories inside one another.
const MAX_DEPTH: usize = 128;

/// Called with the open directory of a file, its name there and its path from
/// the workspace on.
pub(crate) type Each<'a> = dyn FnMut(&Dir, &str, &str) -> Result<(), Failure> + 'a;

/// What a walk could not see.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// Directories that could not be opened or lie too deep.
    directories: u64,
}

impl Unseen {
    /// Words for the end of a last line; empty when everything was seen.
    pub(crate) fn note(self) -> String {
        match self.directories {
            0 => String::new(),
            n => format!(
                "; not searched: {}",
                count_of(n, "directory", "directories")
            ),
        }
    }
}

/// Files that a pattern in the style of .gitignore picks, below a directory.
pub(crate) fn pattern(glob: &str) -> Result<Override, Failure> {
    let wrong = |e: ignore::Error| Failure::InvalidInput(format!("the pattern `{glob}`: {e}"));
    let mut builder = OverrideBuilder::new("");
    builder.add(glob).map_err(wrong)?;
    builder.build().map_err(wrong)
}

/// Calls `each` for every file below the directory `path` that is not ignored
/// and that `wanted` picks, or for the file `path` itself.
pub(crate) fn walk(path: &Path, wanted: &Override, each: &mut Each<'_>) -> Result<Unseen, Failure> {
    let mut walk = Walk {
        ignored: Ignored::default(),
        wanted,
        path: String::new(),
        from: 0,
        unseen: Unseen::default(),
    };
    let mut dir = Dir::open(&path.root).map_err(|error| explain(path, &error))?;
    let mut names = path.shown.split('/').filter(|name| *name != ".").peekable();
    while let Some(name) = names.next() {
        walk.ignored.enter(&dir, walk.path.len());
        match (dir.dir(name), names.peek()) {
            (Ok(next), _) => {
                dir = next;
                walk.path.push_str(name);
                walk.path.push('/');
            }
            (Err(ReadError::NotDirectory), None) => {
                each(&dir, name, &path.shown)?;
                return Ok(walk.unseen);
            }
            (Err(error), _) => return Err(explain(path, &error)),
        }
    }
    walk.from = walk.path.len();
    walk.below(&dir, MAX_DEPTH, each)?;
    Ok(walk.unseen)
}

struct Walk<'a> {
    ignored: Ignored,
    wanted: &'a Override,
    /// The path of the directory it is in, with a slash; empty at the top.
    path: String,
    /// Bytes of the path of the directory it began in.
    from: usize,
    unseen: Unseen,
}

impl Walk<'_> {
    fn below(&mut self, dir: &Dir, depth: usize, each: &mut Each<'_>) -> Result<(), Failure> {
        let mut entries = Vec::new();
        let listed = dir.list(|name, kind| {
            if matches!(kind, Kind::File | Kind::Directory) {
                entries.push((name, kind));
            }
        });
        let (Ok(()), Some(deeper)) = (listed, depth.checked_sub(1)) else {
            self.unseen.directories += 1;
            return Ok(());
        };
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let rules =
            |(name, _): &&(String, Kind)| matches!(&**name, ".gitignore" | ".ignore" | ".git");
        let mark = entries
            .iter()
            .find(rules)
            .map(|_| self.ignored.enter(dir, self.path.len()));
        let len = self.path.len();
        for (name, kind) in &entries {
            self.path.push_str(name);
            let is_dir = *kind == Kind::Directory;
            if !self.leaves_out(name, is_dir) {
                match is_dir {
                    false => each(dir, name, &self.path)?,
                    true => match dir.dir(name) {
                        Ok(next) => {
                            self.path.push('/');
                            self.below(&next, deeper, each)?;
                        }
                        Err(_) => self.unseen.directories += 1,
                    },
                }
            }
            self.path.truncate(len);
        }
        if let Some(mark) = mark {
            self.ignored.leave(mark);
        }
        Ok(())
    }

    fn leaves_out(&self, name: &str, is_dir: bool) -> bool {
        let below = self.path.get(self.from..).unwrap_or_default();
        self.ignored.covers(&self.path, name, is_dir)
            || self.wanted.matched(below, is_dir).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use ignore::WalkBuilder;

    fn files(tree: &Tree, path: &str, glob: &str) -> Vec<String> {
        let mut seen = Vec::new();
        walk(
            &tree.path(path),
            &pattern(glob).unwrap(),
            &mut |_, _, at| {
                seen.push(at.to_owned());
                Ok(())
            },
        )
        .unwrap();
        seen
    }

    /// The same by ripgrep's own walk.
    fn ripgrep(tree: &Tree) -> Vec<String> {
        let entries = WalkBuilder::new(tree.root())
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_path(Ord::cmp)
            .build();
        entries
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| {
                let path = entry.path().strip_prefix(tree.root()).unwrap();
                path.to_str().unwrap().to_owned()
            })
            .collect()
    }

    #[test]
    fn tl_4_what_is_ignored_is_what_ripgrep_ignores() {
        let tree = Tree::new(&[
            (
                ".gitignore",
                "target/\n*.log\n!keep.log\n/only-top\nsub/deep/*.tmp\n# note\n\\#odd\n",
            ),
            (".ignore", "!wanted.log\nhidden.txt\n"),
            (".git/info/exclude", "mine\n"),
            (".git/config", ""),
            ("a.log", ""),
            ("keep.log", ""),
            ("wanted.log", ""),
            ("hidden.txt", ""),
            ("mine", ""),
            ("#odd", ""),
            ("only-top", ""),
            (".hidden", ""),
            ("target/x", ""),
            ("sub/.gitignore", "!a.log\n*.txt\n/own\n[bad\n"),
            ("sub/a.log", ""),
            ("sub/b.log", ""),
            ("sub/b.txt", ""),
            ("sub/own", ""),
            ("sub/only-top", ""),
            ("sub/target", "a file"),
            ("sub/deep/own", ""),
            ("sub/deep/x.tmp", ""),
            ("sub/deep/.ignore", "!x.tmp\n"),
            ("sub/other/.gitignore", "*\n!.gitignore\n"),
            ("sub/other/x", ""),
            ("z/mine", ""),
        ]);
        let seen = files(&tree, ".", "**");
        assert_eq!(seen, ripgrep(&tree));
        assert!(seen.contains(&"wanted.log".to_owned()) && seen.len() > 10);
        let below: Vec<_> = seen
            .iter()
            .filter(|at| at.starts_with("sub/"))
            .cloned()
            .collect();
        assert_eq!(files(&tree, "sub", "**"), below, "rules above hold below");
        assert_eq!(
            files(&tree, "target", "**"),
            ["target/x"],
            "asked for by name"
        );
        assert_eq!(files(&tree, "a.log", "**"), ["a.log"]);
    }

    #[test]
    fn tl_4_links_are_not_followed_and_order_is_by_name() {
        let tree = Tree::new(&[("b/2", ""), ("b/1", ""), ("a", ""), ("c", "")]);
        std::os::unix::fs::symlink("..", tree.root().join("b/up")).unwrap();
        assert_eq!(files(&tree, ".", "**"), ["a", "b/1", "b/2", "c"]);
        assert_eq!(files(&tree, "b", "/1"), ["b/1"], "patterns begin at path");
    }

    #[test]
    fn a_tree_too_deep_is_left_and_said() {
        let deep = format!("{}x", "d/".repeat(MAX_DEPTH + 2));
        let tree = Tree::new(&[(&deep, ""), ("x", "")]);
        let mut seen = 0;
        let unseen = walk(&tree.path("."), &pattern("**").unwrap(), &mut |_, _, _| {
            seen += 1;
            Ok(())
        });
        assert_eq!(
            (seen, unseen.unwrap().note().as_str()),
            (1, "; not searched: 1 directory")
        );
    }
}
