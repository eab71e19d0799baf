//! `project/AGENTS.md`: the project's own instructions, verbatim (WS-30 to WS-32).

use crate::Places;
use crate::config::{Config, FollowSymlink, Scope};
use sectile_sdk::Failure;
use sectile_sdk::files::{self, Links, ReadError};

const NAME: &str = "AGENTS.md";
/// Bytes of all files together.
const MAX_BYTES: usize = 65_536;

/// The instructions, or `None` when there are none or they are blank.
pub(crate) fn load(places: &Places, config: &Config) -> Result<Option<String>, Failure> {
    let links = match config.follow_symlink {
        FollowSymlink::Never => Links::Refuse,
        FollowSymlink::InsideWorkspace => Links::Follow,
    };
    let mut room = MAX_BYTES;
    let mut texts = Vec::new();
    for directory in directories(places, &config.scope) {
        let Some(text) = load_one(&directory, links, room)? else {
            continue;
        };
        room -= text.len();
        texts.push(without_mark(text));
    }
    texts.retain(|text| !text.trim().is_empty());
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}

/// A directory to look in.
struct Directory {
    /// Where it can be opened.
    guest: String,
    /// How a message names the file in it.
    file: String,
}

/// Where to look, the farthest first, so that the closest has the last word.
fn directories(places: &Places, scope: &Scope) -> Vec<Directory> {
    let mut directories = Vec::new();
    if let (Scope::Ancestors, Some(repository), Some(root)) =
        (scope, &places.repository, &places.repository_root)
        && let Some(below) = below(&places.working_directory, root)
    {
        let (mut guest, mut host) = (repository.clone(), root.trim_end_matches('/').to_owned());
        for name in below.split('/').filter(|name| !name.is_empty()) {
            directories.push(Directory {
                file: format!("{host}/{NAME}"),
                guest: guest.clone(),
            });
            guest = format!("{guest}/{name}");
            host = format!("{host}/{name}");
        }
    }
    directories.push(Directory {
        guest: places.workspace.clone(),
        file: NAME.to_owned(),
    });
    directories
}

/// What of `path` lies below `root`, by whole names.
fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn load_one(directory: &Directory, links: Links, room: usize) -> Result<Option<String>, Failure> {
    let file = &directory.file;
    match files::read(&format!("{}/{NAME}", directory.guest), links, room) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(Failure::Rejected(format!(
                "{file} is not UTF-8: byte {} is not; save it as UTF-8",
                error.utf8_error().valid_up_to()
            ))),
        },
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(explain(file, &error, room)),
    }
}

fn explain(file: &str, error: &ReadError, room: usize) -> Failure {
    let why = match error {
        ReadError::Link => "is a symbolic link, which this profile does not follow; put the text into the file itself \
                            or set follow_symlink = \"inside-workspace\""
            .to_owned(),
        ReadError::Outside => "is a symbolic link that leads out of the workspace; only links inside it are followed".to_owned(),
        ReadError::Dangling => "is a symbolic link to something that does not exist".to_owned(),
        ReadError::NotRegular | ReadError::NotDirectory => "is not a regular file".to_owned(),
        ReadError::TooLarge(size) => {
            let has = size.map_or(String::new(), |bytes| format!(": it has {bytes}"));
            let of = if room == MAX_BYTES { "" } else { " of what the files above it leave" };
            format!("is larger than {room} bytes{of}{has}; it is refused rather than cut")
        }
        ReadError::Denied => return Failure::Denied(format!("{file} cannot be read: the grant of this plugin does not cover it")),
        ReadError::Missing | ReadError::Other(_) => return Failure::Unavailable(format!("{file} cannot be read: {error}")),
    };
    Failure::Rejected(format!("{file} {why}"))
}

/// Without one leading byte-order mark.
fn without_mark(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn places(workspace: &Path) -> Places {
        let path = workspace.to_str().unwrap().to_owned();
        Places {
            working_directory: path.clone(),
            repository_root: None,
            workspace: path,
            repository: None,
        }
    }

    fn said(failure: Failure) -> String {
        match failure {
            Failure::Rejected(text) => text,
            other => panic!("{other:?}"),
        }
    }

    fn load_from(workspace: &Path, config: &Config) -> Result<Option<String>, String> {
        load(&places(workspace), config).map_err(said)
    }

    fn with(bytes: &[u8]) -> Result<Option<String>, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), bytes).unwrap();
        load_from(dir.path(), &Config::default())
    }

    fn following() -> Config {
        Config {
            follow_symlink: FollowSymlink::InsideWorkspace,
            ..Config::default()
        }
    }

    #[test]
    fn ws_30_missing_and_blank_are_absent() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(load_from(dir.path(), &Config::default()), Ok(None));
        for blank in ["", " \t\r\n\n", "\u{feff}", "\u{feff}\n"] {
            assert_eq!(with(blank.as_bytes()), Ok(None), "{blank:?}");
        }
    }

    #[test]
    fn ws_30_content_is_verbatim_but_for_one_byte_order_mark() {
        assert_eq!(
            with(b"# A\r\n\r\nb \n").unwrap().unwrap(),
            "# A\r\n\r\nb \n"
        );
        assert_eq!(with("\u{feff}a".as_bytes()).unwrap().unwrap(), "a");
        assert_eq!(
            with("\u{feff}\u{feff}a".as_bytes()).unwrap().unwrap(),
            "\u{feff}a"
        );
    }

    #[test]
    fn ws_31_65536_bytes_pass_and_one_more_does_not() {
        assert_eq!(with(&[b'x'; 65_536]).unwrap().unwrap().len(), 65_536);
        assert!(
            with(&[b'x'; 65_537])
                .unwrap_err()
                .contains("larger than 65536 bytes: it has 65537")
        );
    }

    #[test]
    fn ws_31_each_defect_has_its_own_message() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join(NAME);
        assert!(with(b"a\xffb").unwrap_err().contains("not UTF-8: byte 1"));
        fs::create_dir(&at).unwrap();
        assert!(
            load_from(dir.path(), &following())
                .unwrap_err()
                .contains("not a regular file")
        );
        fs::remove_dir(&at).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &at,
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        assert!(
            load_from(dir.path(), &following())
                .unwrap_err()
                .contains("not a regular file")
        );
        fs::remove_file(&at).unwrap();
        symlink("nowhere", &at).unwrap();
        assert!(
            load_from(dir.path(), &following())
                .unwrap_err()
                .contains("does not exist")
        );
        assert!(
            load_from(dir.path(), &Config::default())
                .unwrap_err()
                .contains("does not follow")
        );
    }

    #[test]
    fn ws_32_a_link_inside_the_workspace_is_followed_when_the_profile_says_so() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("CLAUDE.md"), "rules").unwrap();
        symlink("CLAUDE.md", dir.path().join(NAME)).unwrap();
        assert_eq!(
            load_from(dir.path(), &following()),
            Ok(Some("rules".to_owned()))
        );
    }

    #[test]
    fn ws_32_ancestors_come_root_first_within_one_total() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap().to_owned();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join(NAME), "root").unwrap();
        fs::write(dir.path().join("a/b").join(NAME), "leaf").unwrap();
        let places = Places {
            working_directory: format!("{root}/a/b"),
            repository_root: Some(root.clone()),
            workspace: format!("{root}/a/b"),
            repository: Some(root),
        };
        let config = Config {
            scope: Scope::Ancestors,
            ..Config::default()
        };
        let loaded = |config: &Config| load(&places, config).map_err(said);
        assert_eq!(loaded(&config), Ok(Some("root\n\nleaf".to_owned())));
        assert_eq!(loaded(&Config::default()), Ok(Some("leaf".to_owned())));
        let middle = dir.path().join("a").join(NAME);
        fs::write(&middle, "x".repeat(65_532)).unwrap();
        assert!(loaded(&config).unwrap_err().contains(
            "AGENTS.md is larger than 0 bytes of what the files above it leave: it has 4"
        ));
        fs::write(&middle, "x".repeat(65_533)).unwrap();
        let says = loaded(&config).unwrap_err();
        assert!(says.starts_with(middle.to_str().unwrap()), "{says}");
    }
    #[test]
    fn ws_32_a_sibling_with_a_longer_name_is_not_below() {
        for (path, root, rest) in [
            ("/repo", "/repo", Some("")),
            ("/repo/a/b", "/repo", Some("/a/b")),
            ("/repo-other/a", "/repo", None),
            ("/a/b", "/", Some("/a/b")),
        ] {
            assert_eq!(below(path, root), rest, "{path} {root}");
        }
    }

    #[test]
    fn an_unreadable_file_is_unavailable_and_one_outside_the_grant_denied() {
        for (error, denied) in [
            (ReadError::Denied, true),
            (ReadError::Other("too many open files".to_owned()), false),
        ] {
            let failure = explain(NAME, &error, MAX_BYTES);
            assert_eq!(matches!(failure, Failure::Denied(_)), denied);
            assert_eq!(matches!(failure, Failure::Unavailable(_)), !denied);
        }
    }
}
