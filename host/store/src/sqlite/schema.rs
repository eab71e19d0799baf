//! The schema: made, brought forward, and compared with what is there.

use crate::error::StoreError;
use crate::sqlite::connection::Failure;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::collections::BTreeSet;

/// Stands in the file's header: "Sctl".
const APPLICATION_ID: i64 = 0x5363_746c;
/// What brings a file from each version to the next; released ones never change.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];

/// Brings the file to the newest schema and refuses one that is not ours.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    if newest(connection)? {
        return inspect(connection);
    }
    // Before the first table: it makes a new file's pages as they will be.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Another process may be doing the same: what is read before is read again.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = version(&transaction)?;
    for migration in MIGRATIONS
        .iter()
        .skip(usize::try_from(version).unwrap_or(usize::MAX))
    {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()?;
    inspect(connection)
}

fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Whether the file has the newest schema; an error when it is not ours.
fn newest(connection: &Connection) -> Result<bool, Failure> {
    Ok(version(connection)? == known())
}

fn version(connection: &Connection) -> Result<i64, Failure> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let path = || connection.path().unwrap_or_default().into();
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version, objects) {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, found, _) if found > known() => Err(StoreError::Newer {
            path: path(),
            found,
            known: known(),
        }
        .into()),
        (APPLICATION_ID, found, _) if found > 0 => Ok(found),
        _ => Err(StoreError::Foreign {
            path: path(),
            why: format!("its application id is {application:#x} and its version {version}"),
        }
        .into()),
    }
}

/// The schema must be, word by word, the one that we make: no trigger, no view,
/// no column of another kind (D8).
fn inspect(connection: &Connection) -> Result<(), Failure> {
    let made = Connection::open_in_memory()?;
    for migration in MIGRATIONS {
        made.execute_batch(migration)?;
    }
    let (ours, theirs) = (objects(&made)?, objects(connection)?);
    match theirs.symmetric_difference(&ours).next() {
        None => Ok(()),
        Some(odd) => Err(StoreError::Foreign {
            path: connection.path().unwrap_or_default().into(),
            why: format!("its schema differs at {}", odd.escape_debug()),
        }
        .into()),
    }
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
