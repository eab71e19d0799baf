//! The same outside WebAssembly, for a plugin's own tests.

use super::{Kind, Links, ReadError};
use std::fs::{self, FileType};
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn read(path: &str, links: Links, limit: usize) -> Result<Vec<u8>, ReadError> {
    let looked = match links {
        Links::Refuse => fs::symlink_metadata(path),
        Links::Follow => fs::metadata(path),
    };
    let looked = looked.map_err(|e| match (error(e), fs::symlink_metadata(path)) {
        (ReadError::Missing, Ok(_)) => ReadError::Dangling,
        (other, _) => other,
    })?;
    match kind(looked.file_type()) {
        Kind::File => {}
        Kind::Link => return Err(ReadError::Link),
        Kind::Directory | Kind::Other => return Err(ReadError::NotRegular),
    }
    let file = fs::File::open(path).map_err(error)?;
    let size = file.metadata().map_err(error)?.len();
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() > limit {
        return Err(ReadError::TooLarge(Some(size)));
    }
    Ok(bytes)
}

pub(super) struct Dir(PathBuf);

impl Dir {
    pub(super) fn open(path: &str) -> Result<Self, ReadError> {
        match fs::metadata(path).map_err(error)?.is_dir() {
            true => Ok(Self(path.into())),
            false => Err(ReadError::NotDirectory),
        }
    }

    pub(super) fn dir(&self, name: &str) -> Result<Self, ReadError> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path).map_err(error)?.is_dir() {
            true => Ok(Self(path)),
            false => Err(ReadError::NotDirectory),
        }
    }

    pub(super) fn list(&self, each: &mut dyn FnMut(String, Kind)) -> Result<(), ReadError> {
        for entry in fs::read_dir(&self.0).map_err(error)? {
            let entry = entry.map_err(error)?;
            let kind = kind(entry.file_type().map_err(error)?);
            each(entry.file_name().to_string_lossy().into_owned(), kind);
        }
        Ok(())
    }

    pub(super) fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ReadError> {
        read(&self.0.join(name).to_string_lossy(), Links::Refuse, limit)
    }

    pub(super) fn changed(&self, name: &str) -> Option<Duration> {
        let metadata = fs::symlink_metadata(self.0.join(name)).ok()?;
        metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()
    }
}

fn kind(kind: FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

fn error(error: std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound => ReadError::Missing,
        ErrorKind::PermissionDenied => ReadError::Denied,
        _ => ReadError::Other(error.to_string()),
    }
}
