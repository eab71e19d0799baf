//! Which files a search leaves out: what `.ignore` and `.gitignore` say, as
//! ripgrep reads them, and folders that are nobody's text.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use sectile_sdk::files::Dir;

/// Bytes of one file with rules.
const MAX_RULES: usize = 1 << 20;
/// Files with rules, those that win first: `.ignore` anywhere wins over
/// `.gitignore` anywhere.
const SOURCES: [&str; 2] = [".ignore", ".gitignore"];
/// The history and bookkeeping of tools.
const SKIPPED: [&str; 5] = [".git", ".hg", ".jj", ".sectile", ".svn"];

/// The rules of the directories from the workspace down to where a walk is.
#[derive(Default)]
pub(crate) struct Ignored {
    stacks: [Vec<Rules>; SOURCES.len()],
}

struct Rules {
    matcher: Gitignore,
    /// Bytes of the paths below that its own directory takes.
    prefix: usize,
}

/// How many rules there were before a directory was entered.
#[derive(Clone, Copy)]
pub(crate) struct Mark([usize; SOURCES.len()]);

impl Ignored {
    /// Adds the rules of `dir`, whose path with a slash has `prefix` bytes.
    /// Rules that cannot be read are rules that are not there.
    pub(crate) fn enter(&mut self, dir: &Dir, prefix: usize) -> Mark {
        let mark = Mark(self.stacks.each_ref().map(Vec::len));
        for (stack, source) in self.stacks.iter_mut().zip(SOURCES) {
            stack.extend(
                dir.read(source, MAX_RULES)
                    .ok()
                    .and_then(|bytes| rules(&bytes, prefix)),
            );
            let top = prefix == 0 && source == ".gitignore";
            if let (true, Ok(git)) = (top, dir.dir(".git")) {
                let own = git
                    .dir("info")
                    .and_then(|info| info.read("exclude", MAX_RULES));
                // They are the weakest.
                if let Some(rules) = own.ok().and_then(|bytes| rules(&bytes, prefix)) {
                    stack.insert(0, rules);
                }
            }
        }
        mark
    }

    /// Forgets what was added since `mark`.
    pub(crate) fn leave(&mut self, mark: Mark) {
        for (stack, len) in self.stacks.iter_mut().zip(mark.0) {
            stack.truncate(len);
        }
    }

    /// Whether the walk goes past `path`, whose last name is `name`.
    pub(crate) fn covers(&self, path: &str, name: &str, is_dir: bool) -> bool {
        if SKIPPED.contains(&name) {
            return true;
        }
        for rules in self.stacks.iter().flat_map(|stack| stack.iter().rev()) {
            let below = path.get(rules.prefix..).unwrap_or_default();
            match rules.matcher.matched(below, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn rules(bytes: &[u8], prefix: usize) -> Option<Rules> {
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(bytes).lines() {
        // A rule that cannot be read says nothing; the others still hold.
        let _ = builder.add_line(None, line);
    }
    let matcher = builder.build().ok()?;
    (!matcher.is_empty()).then_some(Rules { matcher, prefix })
}
