//! The two connections on the file.

use crate::error::StoreError;
use crate::sqlite::failure::Failure;
use crate::sqlite::place::Place;
use crate::sqlite::schema;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a transaction waits for another process.
pub(super) const BUSY: Duration = Duration::from_secs(5);
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;
/// Bytes of one row; the largest is a message with its images.
const ROW: i32 = 256 << 20;
/// Bytes of one statement; the largest is a migration.
const STATEMENT: i32 = 64 << 10;

/// One file, with a connection for writing and one for reading.
pub(super) struct Database {
    place: Place,
    // Closed before the writer, which then puts everything into the one file.
    reader: Mutex<Connection>,
    writer: Mutex<Connection>,
}

impl Database {
    /// Opens the database of `workspace`; makes it when there is none. One that
    /// cannot be written is opened for reading.
    pub(super) fn open(workspace: &Path) -> Result<Self, StoreError> {
        let place = Place::of(workspace)?;
        if let Err(error) = place.prepare()
            && !place.exists()?
        {
            return Err(error);
        }
        Self::at(place)
    }

    /// Opens the database of `workspace` when there is one.
    pub(super) fn open_existing(workspace: &Path) -> Result<Option<Self>, StoreError> {
        let place = Place::of(workspace)?;
        match place.exists()? {
            true => Self::at(place).map(Some),
            false => Ok(None),
        }
    }

    fn at(place: Place) -> Result<Self, StoreError> {
        place.refuse_links()?;
        let (writer, reader) = connect(&place).map_err(|f| f.explain(place.file()))?;
        Ok(Self {
            place,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
        })
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Runs `body` on one consistent state of the file.
    pub(super) fn read<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(&self.reader, TransactionBehavior::Deferred, body)
    }

    /// Runs `body` as one transaction: when this returns, it is on the disk.
    pub(super) fn write<T>(
        &self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.transact(&self.writer, TransactionBehavior::Immediate, body)
    }

    fn transact<T>(
        &self,
        connection: &Mutex<Connection>,
        behavior: TransactionBehavior,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        // A transaction that a panic left open was rolled back as it was dropped.
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        transact(&mut connection, behavior, body).map_err(|f| f.explain(self.place.file()))
    }
}

/// Runs `body` in a transaction; an error of it or of the commit leaves nothing.
pub(super) fn transact<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    body: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    let result = body(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

fn connect(place: &Place) -> Result<(Connection, Connection), Failure> {
    match connect_to(place.file(), OpenFlags::empty()) {
        // Readers keep an index beside the file. Where none can be made, and no
        // change waits for one, the file is all there is.
        Err(Failure::Sqlite(error)) if no_index(&error) && !place.has_changes_beside() => {
            connect_to(&immutable(place.file()), OpenFlags::SQLITE_OPEN_URI)
        }
        other => other,
    }
}

fn no_index(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

/// `path` as an address that says that nobody writes there.
fn immutable(path: &Path) -> std::path::PathBuf {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            // Writing to a string does not fail.
            _ => drop(write!(address, "%{byte:02X}")),
        }
    }
    address.push_str("?immutable=1");
    address.into()
}

fn connect_to(path: &Path, flags: OpenFlags) -> Result<(Connection, Connection), Failure> {
    // Without the right to write, SQLite opens the file for reading by itself.
    let write = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut writer = open(path, flags | write)?;
    schema::migrate(&mut writer)?;
    let reader = open(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok((writer, reader))
}

/// The file may come from somebody else: nothing in it may run (D8).
fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Failure> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, value)?;
    }
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, ROW),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}
