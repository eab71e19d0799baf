//! A change of one file: it rests on the version that the session has seen, and
//! happens as a whole or not at all (TL-3).

use sectile_paths::{Path, open, refused, version};
use sectile_sdk::Failure;
use sectile_sdk::files::{self, Links, ReadError};
use sectile_sdk::tool::{Context, seen_files};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use similar::TextDiff;
use std::fs;
use std::io::{self, Write};

/// Bytes of a diff; it is for eyes, and longer ones are cut.
const MAX_DIFF: usize = 100_000;

/// The contents that a change starts from; `None` when there is no file yet.
///
/// # Errors
/// [`Failure::Rejected`] when the session has not seen this version.
pub(crate) fn before(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if let Err(ReadError::Missing) = files::read(&path.guest, Links::Refuse, 0) {
        return Ok(None);
    }
    let bytes = open(path, Links::Refuse)?;
    match seen_files::last(&path.guest) {
        Some(seen) if seen == version(&bytes) => Ok(Some(bytes)),
        Some(_) => Err(Failure::Rejected(format!(
            "`{}` has changed since it was read; read it again, then make the change",
            path.shown
        ))),
        None => Err(Failure::Rejected(format!(
            "`{}` was not read in this session; read it first",
            path.shown
        ))),
    }
}

/// New contents for a file.
pub(crate) struct Change<'a> {
    pub(crate) path: &'a Path,
    pub(crate) old: Option<&'a [u8]>,
    pub(crate) new: &'a [u8],
}

impl Change<'_> {
    /// Puts the new contents in place of the old ones and gives the difference.
    pub(crate) fn make(&self, context: &Context<'_>) -> Result<Value, Failure> {
        let failed = |what: &str, error: &io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => refused(self.path),
            _ => Failure::Unavailable(format!(
                "`{}` is not changed: cannot {what}: {error}",
                self.path.shown
            )),
        };
        let folder = self.path.guest.rsplit_once('/').map_or("", |(dir, _)| dir);
        fs::create_dir_all(folder).map_err(|e| failed("make its directory", &e))?;
        let unfinished = format!("{folder}/{}", unfinished_name(self.path, context));
        let written = write_whole(&unfinished, self.new)
            .map_err(|e| failed("write the new contents", &e))
            .and_then(|()| self.still_the_same())
            .and_then(|()| {
                fs::rename(&unfinished, &self.path.guest)
                    .map_err(|e| failed("put the new contents in place", &e))
            });
        if written.is_err() {
            // It may not have been made at all.
            let _ = fs::remove_file(&unfinished);
        }
        written?;
        seen_files::note(&self.path.guest, &version(self.new));
        Ok(self.diff())
    }

    /// Somebody else may have changed the file meanwhile.
    fn still_the_same(&self) -> Result<(), Failure> {
        let now = match files::read(&self.path.guest, Links::Refuse, sectile_paths::MAX_FILE) {
            Ok(bytes) => Some(bytes),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(sectile_paths::explain(self.path, &error)),
        };
        if now.as_deref() == self.old {
            return Ok(());
        }
        Err(Failure::Rejected(format!(
            "`{}` was changed by somebody else at this moment and is left as they made it; read it again",
            self.path.shown
        )))
    }

    fn diff(&self) -> Value {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (old, new) = (self.old.map(text).unwrap_or_default(), text(self.new));
        let diff = TextDiff::from_lines(&old, &new);
        let (from, to) = (
            format!("a/{}", self.path.shown),
            format!("b/{}", self.path.shown),
        );
        let mut diff = diff.unified_diff().header(&from, &to).to_string();
        let end = diff.floor_char_boundary(MAX_DIFF);
        diff.truncate(end);
        json!({"path": self.path.shown, "diff": diff})
    }
}

/// A name in the same directory, of this call alone.
fn unfinished_name(path: &Path, context: &Context<'_>) -> String {
    let mut hash = Sha256::new();
    for part in [context.session_id, context.call_id, &path.guest] {
        hash.update(part);
        hash.update([0]);
    }
    let short: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect();
    format!(".sectile-{short}.part")
}

fn write_whole(path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
