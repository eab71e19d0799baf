//! The two connections on the file, and what their errors mean.

use crate::error::StoreError;
use crate::sqlite::schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const DIRECTORY: &str = ".sectile";
const FILE: &str = "sectile.db";
/// How long a transaction waits for another process.
const BUSY: Duration = Duration::from_secs(5);
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;

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

/// One file, with a connection for writing and one for reading.
pub(super) struct Database {
    directory: PathBuf,
    path: PathBuf,
    // Closed before the writer, which then puts everything into the one file.
    reader: Mutex<Connection>,
    writer: Mutex<Connection>,
}

impl Database {
    pub(super) fn open(workspace: &Path) -> Result<Self, StoreError> {
        let directory = workspace.join(DIRECTORY);
        if let Err(error) = prepare_directory(&directory) {
            // What cannot be written may still be read.
            return match Self::open_existing(workspace)? {
                Some(database) => Ok(database),
                None => Err(error),
            };
        }
        Self::at(directory)
    }

    pub(super) fn open_existing(workspace: &Path) -> Result<Option<Self>, StoreError> {
        let directory = workspace.join(DIRECTORY);
        match directory.join(FILE).symlink_metadata() {
            Ok(_) => Self::at(directory).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(&directory.join(FILE), &error)),
        }
    }

    fn at(directory: PathBuf) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        refuse_links(&directory, &path)?;
        let (writer, reader) = connect(&path).map_err(|failure| explain(failure, &path))?;
        Ok(Self {
            directory,
            path,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
        })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs `body` on one consistent state of the file.
    pub(super) fn read<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        transact(&self.reader, TransactionBehavior::Deferred, body)
            .map_err(|failure| explain(failure, &self.path))
    }

    /// Runs `body` as one transaction: when this returns, it is on the disk.
    pub(super) fn write<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        transact(&self.writer, TransactionBehavior::Immediate, body)
            .map_err(|failure| explain(failure, &self.path))
    }
}

fn transact<T>(
    connection: &Mutex<Connection>,
    behavior: TransactionBehavior,
    body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // A transaction that a panic left open was rolled back as it was dropped.
    let mut connection: MutexGuard<'_, _> =
        connection.lock().unwrap_or_else(PoisonError::into_inner);
    let transaction = connection.transaction_with_behavior(behavior)?;
    let result = body(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Makes the directory for this user alone, ignored by git.
fn prepare_directory(directory: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| io_error(directory, &error);
    match fs::create_dir(directory) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    if !directory.symlink_metadata().map_err(failed)?.is_dir() {
        return Err(foreign(directory, "it is not a directory"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Another user's directory stays as it is.
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    let ignore = directory.join(".gitignore");
    match fs::File::create_new(&ignore).and_then(|mut file| file.write_all(b"*\n")) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(io_error(&ignore, &error))
        }
        _ => Ok(()),
    }
}

/// Only a plain file in a plain directory: a repository that brings a link
/// could have us write elsewhere.
fn refuse_links(directory: &Path, path: &Path) -> Result<(), StoreError> {
    if !directory.symlink_metadata().is_ok_and(|m| m.is_dir()) {
        return Err(foreign(directory, "it is not a directory"));
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let file = PathBuf::from(name);
        match file.symlink_metadata() {
            Ok(metadata) if !metadata.is_file() => return Err(foreign(&file, "it is not a file")),
            _ => {}
        }
    }
    Ok(())
}

fn foreign(path: &Path, why: &str) -> StoreError {
    StoreError::Foreign {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

fn connect(path: &Path) -> Result<(Connection, Connection), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let write = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut writer = match open(path, write) {
        Ok(connection) => connection,
        // Without the right to write there is one state of the file to read.
        Err(_) => open(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?,
    };
    harden(&writer)?;
    schema::migrate(&mut writer)?;
    let reader = open(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    harden(&reader)?;
    Ok((writer, reader))
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// The file may come from somebody else: nothing in it may run (D8).
fn harden(connection: &Connection) -> Result<(), Failure> {
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, value)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(())
}

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

fn explain(failure: Failure, path: &Path) -> StoreError {
    let path = path.to_owned();
    let error = match failure {
        Failure::Store(error) => return error,
        Failure::Garbage(why) => return StoreError::Corrupt { path, why },
        Failure::Sqlite(error) => error,
    };
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly { path },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, why },
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => StoreError::Io { path, why },
        // What is left is a file that is not as we wrote it.
        _ => StoreError::Corrupt { path, why },
    }
}
