//! The schema: made, brought forward, and compared with what is there.

use crate::error::StoreError;
use crate::sqlite::connection::{BUSY, transact};
use crate::sqlite::failure::Failure;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// Stands in the file's header: "Sctl".
const APPLICATION_ID: i64 = 0x5363_746c;
/// How long to wait before asking for the journal's mode again.
const AGAIN: Duration = Duration::from_millis(10);
/// What brings a file from each version to the next; released ones never change.
const MIGRATIONS: [&str; 3] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
];

fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Brings the file to the newest schema and refuses one that is not ours.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    // In one transaction: another process may be making the file just now.
    let found = transact(connection, TransactionBehavior::Deferred, version)?;
    // Before the first table: it makes a new file's pages as they will be.
    write_ahead(connection)?;
    match found < MIGRATIONS.len() {
        true => transact(connection, TransactionBehavior::Immediate, bring_forward),
        false => Ok(()),
    }
}

/// Readers and the writer do not wait for each other (SR-11).
fn write_ahead(connection: &Connection) -> Result<(), Failure> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode == "wal" || connection.is_readonly("main")? {
        return Ok(());
    }
    let deadline = Instant::now() + BUSY;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            // SQLite itself does not wait here for somebody who does the same.
            Err(error) if is_busy(&error) && Instant::now() < deadline => thread::sleep(AGAIN),
            changed => return Ok(changed?),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn bring_forward(transaction: &Transaction<'_>) -> Result<(), Failure> {
    // Another process may have done it meanwhile.
    for migration in MIGRATIONS.iter().skip(version(transaction)?) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest())?;
    Ok(())
}

/// The version of the file's schema, 0 for a new file; an error when the file
/// is not ours.
fn version(connection: &Transaction<'_>) -> Result<usize, Failure> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found) = (number("application_id")?, number("user_version")?);
    let theirs = objects(connection)?;
    let foreign = |why| StoreError::Foreign {
        path: connection.path().unwrap_or_default().into(),
        why,
    };
    let known = match (application, usize::try_from(found)) {
        (0, Ok(0)) if theirs.is_empty() => return Ok(0),
        (APPLICATION_ID, Ok(version @ 1..)) => {
            MIGRATIONS.get(..version).ok_or_else(|| StoreError::Newer {
                path: connection.path().unwrap_or_default().into(),
                found,
                known: newest(),
            })?
        }
        _ => {
            let why = format!("its application id is {application:#x} and its version {found}");
            return Err(foreign(why).into());
        }
    };
    // Word by word the one that we make: no trigger, no view, no column of
    // another kind (D8).
    match theirs.symmetric_difference(&made_by(known)?).next() {
        None => Ok(known.len()),
        Some(odd) => {
            let why = format!("its schema differs at {}", odd.escape_debug());
            Err(foreign(why).into())
        }
    }
}

fn made_by(migrations: &[&str]) -> Result<BTreeSet<String>, Failure> {
    let made = Connection::open_in_memory()?;
    for migration in migrations {
        made.execute_batch(migration)?;
    }
    objects(&made)
}

fn objects(connection: &Connection) -> Result<BTreeSet<String>, Failure> {
    let mut statement = connection
        .prepare("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What SQLite finds damaged in the whole file.
pub(super) fn check(transaction: &Transaction<'_>) -> Result<Option<String>, Failure> {
    let said: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}
