//! Files with what the standard library cannot say: whether a link is
//! followed, what the opened object is, how much is read at the most.
//!
//! The answer is always about the object that was opened, never about a path
//! that was looked at before.

#[cfg(not(target_family = "wasm"))]
#[path = "native.rs"]
mod system;
#[cfg(target_family = "wasm")]
#[path = "wasi.rs"]
mod system;

use std::fmt;
use std::time::Duration;

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// What to do with a symbolic link in the last place of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Refuse it.
    Refuse,
    /// Follow it, as far as it stays inside the granted directory.
    Follow,
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// There is none.
    Missing,
    /// It is a symbolic link, and links are refused.
    Link,
    /// It is a symbolic link to something that does not exist.
    Dangling,
    /// A link in its path leads out of the granted directory.
    Outside,
    /// It is something else than a regular file.
    NotRegular,
    /// It is something else than a directory.
    NotDirectory,
    /// It has more bytes than asked for; their number when known.
    TooLarge(Option<u64>),
    /// The grant does not cover it.
    Denied,
    /// The system's answer.
    Other(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not exist"),
            Self::Link => f.write_str("it is a symbolic link"),
            Self::Dangling => f.write_str("it is a symbolic link to something that does not exist"),
            Self::Outside => f.write_str("a link leads out of the granted directory"),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::NotDirectory => f.write_str("it is not a directory"),
            Self::TooLarge(Some(bytes)) => write!(f, "it has {bytes} bytes"),
            Self::TooLarge(None) => f.write_str("it is too large"),
            Self::Denied => f.write_str("the grant does not cover it"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

/// The bytes of the regular file at `path`, an absolute guest path, when there
/// are at most `limit`.
///
/// # Errors
/// [`ReadError`], about the opened object.
pub fn read(path: &str, links: Links, limit: usize) -> Result<Vec<u8>, ReadError> {
    system::read(path, links, limit)
}

/// Calls `each` with every name in the directory at `path` and its kind, in no
/// order. A name that is not Unicode comes with U+FFFD in it.
///
/// # Errors
/// [`ReadError`] when the directory cannot be listed.
pub fn list(path: &str, each: impl FnMut(String, Kind)) -> Result<(), ReadError> {
    Dir::open(path)?.list(each)
}

/// An open directory. What is in it is reached by its name, and no link is
/// followed on the way: the cheapest way through a tree, and no directory can
/// be exchanged for another in the middle of it.
pub struct Dir(system::Dir);

impl Dir {
    /// The directory at `path`, an absolute guest path.
    ///
    /// # Errors
    /// [`ReadError`], about the opened object.
    pub fn open(path: &str) -> Result<Self, ReadError> {
        system::Dir::open(path).map(Self)
    }

    /// The directory `name` in this one.
    ///
    /// # Errors
    /// [`ReadError::NotDirectory`] for a link, too.
    pub fn dir(&self, name: &str) -> Result<Self, ReadError> {
        self.0.dir(name).map(Self)
    }

    /// Calls `each` as [`list`] does.
    ///
    /// # Errors
    /// [`ReadError`] when the directory cannot be listed.
    pub fn list(&self, mut each: impl FnMut(String, Kind)) -> Result<(), ReadError> {
        self.0.list(&mut each)
    }

    /// The bytes of the regular file `name` when there are at most `limit`.
    ///
    /// # Errors
    /// [`ReadError`], about the opened object.
    pub fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.0.read(name, limit)
    }

    /// When `name` was changed last, from 1970 on; `None` when it is gone, and
    /// without the `clock` capability.
    #[must_use]
    pub fn changed(&self, name: &str) -> Option<Duration> {
        self.0.changed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_kind_of_object_has_its_own_answer() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("file"), "12345").unwrap();
        fs::create_dir(at("dir")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("lost")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("fifo"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let read = |name: &str, links, limit| super::read(&at(name), links, limit);
        assert_eq!(read("file", Links::Refuse, 5), Ok(b"12345".to_vec()));
        assert_eq!(
            read("file", Links::Refuse, 4),
            Err(ReadError::TooLarge(Some(5)))
        );
        assert_eq!(read("link", Links::Refuse, 5), Err(ReadError::Link));
        assert_eq!(read("link", Links::Follow, 5), Ok(b"12345".to_vec()));
        assert_eq!(read("dir", Links::Follow, 5), Err(ReadError::NotRegular));
        assert_eq!(read("fifo", Links::Follow, 5), Err(ReadError::NotRegular));
        assert_eq!(read("lost", Links::Follow, 5), Err(ReadError::Dangling));
        assert_eq!(read("none", Links::Follow, 5), Err(ReadError::Missing));
        let mut seen = Vec::new();
        let dir = Dir::open(dir.path().to_str().unwrap()).unwrap();
        dir.list(|name, kind| seen.push((name, kind))).unwrap();
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        let kinds: Vec<_> = seen.into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Directory,
                Kind::Other,
                Kind::File,
                Kind::Link,
                Kind::Link
            ]
        );
        assert_eq!(dir.read("file", 5), Ok(b"12345".to_vec()));
        assert_eq!(dir.read("link", 5), Err(ReadError::Link));
        assert_eq!(dir.read("none", 5), Err(ReadError::Missing));
        assert!(dir.dir("dir").is_ok() && dir.changed("file").is_some());
        assert_eq!(dir.dir("file").err(), Some(ReadError::NotDirectory));
    }
}
