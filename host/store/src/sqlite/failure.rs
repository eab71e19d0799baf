//! What a transaction can run into, and what that means to the caller.

use crate::error::StoreError;
use rusqlite::ErrorCode;
use std::io;
use std::path::Path;

/// What a transaction ran into.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite's own.
    Sqlite(rusqlite::Error),
    /// Ours.
    Store(StoreError),
    /// What is stored cannot be read.
    Garbage(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    /// The error of the file at `path`.
    pub(super) fn explain(self, path: &Path) -> StoreError {
        let error = match self {
            Self::Store(error) => return error,
            Self::Garbage(why) => {
                return StoreError::Corrupt {
                    path: path.to_owned(),
                    why,
                };
            }
            Self::Sqlite(error) => error,
        };
        let (path, why) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => StoreError::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly { path }
            }
            Some(ErrorCode::TooBig) => StoreError::TooLarge { path },
            Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, why },
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::OutOfMemory) => {
                StoreError::Io { path, why }
            }
            // What is left is a file that is not as we wrote it.
            _ => StoreError::Corrupt { path, why },
        }
    }
}

/// An error of the file system at `path`.
pub(super) fn io_error(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            StoreError::ReadOnly { path }
        }
        _ => StoreError::Io {
            path,
            why: error.to_string(),
        },
    }
}
