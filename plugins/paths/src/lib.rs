//! What the file tools share: paths as a model writes them, the version of a
//! file that the session has seen, and what is said when something is refused.

use sectile_sdk::Failure;
use sectile_sdk::files::{self, Links, ReadError};
use sectile_sdk::host;
use sectile_sdk::tool::seen_files;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Bytes of a file that the tools open.
pub const MAX_FILE: usize = 32 << 20;

/// `line` with at most `most` characters, and how many more there are.
#[must_use]
pub fn cut_line(line: &str, most: usize) -> Cow<'_, str> {
    match line.char_indices().nth(most) {
        None => line.into(),
        Some((end, _)) => {
            let (shown, rest) = line.split_at(end);
            let more = rest.chars().count();
            format!("{shown} [cut: {more} more characters]").into()
        }
    }
}

/// A path inside the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The workspace, as the guest opens it.
    pub root: String,
    /// As the guest opens it.
    pub guest: String,
    /// As it is shown: relative to the workspace, `.` for the workspace itself.
    pub shown: String,
}

impl Path {
    /// The path that `text` names: relative to the workspace, or absolute and
    /// inside it.
    ///
    /// # Errors
    /// [`Failure::Denied`] when it leads out of the workspace.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mount = host::mount("workspace")
            .ok_or_else(|| Failure::Denied("no workspace was granted".to_owned()))?;
        let guest_root = mount
            .guest_path
            .ok_or_else(|| Failure::Unavailable("the workspace cannot be opened".to_owned()))?;
        Self::below(text, &guest_root, &mount.host_path)
    }

    fn below(text: &str, guest_root: &str, host_root: &str) -> Result<Self, Failure> {
        if text.contains('\0') {
            return Err(Failure::InvalidInput("the path has a NUL in it".to_owned()));
        }
        let inside = |root: &str| {
            let rest = text.strip_prefix(root)?;
            (rest.is_empty() || rest.starts_with('/') || root.ends_with('/')).then_some(rest)
        };
        let relative = match text.starts_with('/') {
            false => text,
            true => inside(host_root)
                .or_else(|| inside(guest_root))
                .ok_or_else(|| outside(text))?,
        };
        let mut names: Vec<&str> = Vec::new();
        for name in relative.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop().ok_or_else(|| outside(text))?;
                }
                name => names.push(name),
            }
        }
        let relative = names.join("/");
        let root = guest_root.to_owned();
        Ok(match relative.is_empty() {
            true => Self {
                guest: root.clone(),
                root,
                shown: ".".to_owned(),
            },
            false => Self {
                guest: format!("{root}/{relative}"),
                root,
                shown: relative,
            },
        })
    }
}

fn outside(text: &str) -> Failure {
    Failure::Denied(format!(
        "`{text}` lies outside the workspace, and only the workspace was granted; the operator can start the session in a directory that contains it"
    ))
}

/// What is said of a path that the grant does not cover, whether or not there
/// is something (TL-5).
#[must_use]
pub fn refused(path: &Path) -> Failure {
    Failure::Denied(format!(
        "`{}` is not covered by the grant on the workspace: secrets, keys and the program's own files are on its deny list; only the operator can open it, by hand",
        path.shown
    ))
}

/// A name or path as it can stand on one line, whatever is in it (T22).
#[must_use]
pub fn inert(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        false => Cow::Borrowed(name),
        true => name
            .chars()
            .flat_map(|c| match c.is_control() {
                true => c.escape_debug().collect(),
                false => vec![c],
            })
            .collect(),
    }
}

/// SHA-256 of the contents of a file.
#[must_use]
pub fn version(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// The bytes of the file at `path`; the session has seen this version then.
///
/// # Errors
/// A [`Failure`] that says what to do instead.
pub fn see(path: &Path, links: Links) -> Result<Vec<u8>, Failure> {
    let bytes = open(path, links)?;
    seen_files::note(&path.guest, &version(&bytes));
    Ok(bytes)
}

/// The bytes of the file at `path`.
///
/// # Errors
/// A [`Failure`] that says what to do instead.
pub fn open(path: &Path, links: Links) -> Result<Vec<u8>, Failure> {
    files::read(&path.guest, links, MAX_FILE).map_err(|error| explain(path, &error))
}

/// Why `path` could not be opened, and what to do instead.
#[must_use]
pub fn explain(path: &Path, error: &ReadError) -> Failure {
    let shown = &path.shown;
    match error {
        ReadError::Missing => Failure::InvalidInput(format!(
            "`{shown}` does not exist; use list to see what there is"
        )),
        ReadError::Link => Failure::Rejected(format!(
            "`{shown}` is a symbolic link; name the file that it points to"
        )),
        ReadError::Dangling => Failure::Rejected(format!(
            "`{shown}` is a symbolic link to something that does not exist"
        )),
        ReadError::Outside | ReadError::Denied => refused(path),
        ReadError::NotRegular => Failure::Rejected(format!(
            "`{shown}` is not a regular file; use list to see what is in a directory"
        )),
        ReadError::NotDirectory => {
            Failure::Rejected(format!("`{shown}` is not a directory; use read for files"))
        }
        ReadError::TooLarge(_) => {
            Failure::Rejected(format!("`{shown}` has more than {} MiB", MAX_FILE >> 20))
        }
        ReadError::Other(why) => Failure::Unavailable(format!("`{shown}` cannot be opened: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Result<String, Failure> {
        Path::below(text, "/workspace", "/home/me/project").map(|path| path.guest)
    }

    #[test]
    fn tl_5_a_path_stays_in_the_workspace_or_is_refused() {
        for (text, guest) in [
            ("a/b.rs", "/workspace/a/b.rs"),
            ("./a//b.rs", "/workspace/a/b.rs"),
            ("a/../b.rs", "/workspace/b.rs"),
            ("", "/workspace"),
            (".", "/workspace"),
            ("/home/me/project/a", "/workspace/a"),
            ("/home/me/project", "/workspace"),
            ("/workspace/a", "/workspace/a"),
        ] {
            assert_eq!(path(text).unwrap(), guest, "{text}");
        }
        for text in [
            "..",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "/home/me/projects/x",
            "/home/me/project/../x",
        ] {
            assert!(matches!(path(text), Err(Failure::Denied(_))), "{text}");
        }
        assert!(matches!(path("a\0b"), Err(Failure::InvalidInput(_))));
    }
}
