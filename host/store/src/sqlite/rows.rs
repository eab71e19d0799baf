//! Rows to records and back. What does not parse is damage, and is said to be.

use crate::record::{Checkpoint, NewCheckpoint, StoredMessage, TurnRecord, TurnStatus};
use crate::sqlite::failure::Failure;
use rusqlite::{Params, Row, Transaction};
use sectile_model::{Item, MessageKind, Origin, Sequence};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A number as SQLite has them.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that we stored.
pub(super) fn unsigned(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|_| Failure::Garbage(format!("the number {number} is negative")))
}

/// The rows of `sql`, each through `read`.
pub(super) fn all<T>(
    tx: &Transaction<'_>,
    sql: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut statement = tx.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first row of `sql`.
pub(super) fn first<T>(
    tx: &Transaction<'_>,
    sql: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    let mut statement = tx.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    rows.next()?.map(read).transpose()
}

pub(super) fn number(row: &Row<'_>, column: &str) -> Result<u64, Failure> {
    unsigned(row.get(column)?)
}

pub(super) fn json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|e| Failure::Garbage(format!("{what} does not parse: {e}")))
}

pub(super) fn text<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|e| Failure::Garbage(e.to_string()))
}

pub(super) fn id<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|e: T::Err| Failure::Garbage(e.to_string()))
}

pub(super) fn kind_name(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Normal => "normal",
        MessageKind::SkillInstruction => "skill_instruction",
        MessageKind::AgentMessage => "agent_message",
        MessageKind::WorldState => "world_state",
    }
}

/// A row of `messages`.
pub(super) fn message(row: &Row<'_>) -> Result<StoredMessage, Failure> {
    let sequence: Sequence = number(row, "sequence")?;
    let column = |name: &str| row.get_ref(name)?.as_str().map_err(rusqlite::Error::from);
    let session = column("session")?;
    let what = |part: &str| format!("{part} of message {sequence} of session {session}");
    let source = row.get_ref("source")?.as_str_or_null();
    let source = source.map_err(rusqlite::Error::from)?;
    let kind = serde_json::Value::from(column("kind")?);
    Ok(StoredMessage {
        turn: id(column("turn")?)?,
        item: Item {
            kind: serde_json::from_value(kind)
                .map_err(|e| Failure::Garbage(format!("{}: {e}", what("the kind"))))?,
            origin: Origin::Real {
                message_id: Some(column("id")?.to_owned()),
                sequence: Some(sequence),
            },
            message: json(&what("the text"), column("message")?)?,
            source: source
                .map(|text| json(&what("the source"), text))
                .transpose()?,
        },
    })
}

/// A row of `turns`.
pub(super) fn turn_record(row: &Row<'_>) -> Result<TurnRecord, Failure> {
    let status: String = row.get("status")?;
    let outcome: Option<String> = row.get("outcome")?;
    let turn: String = row.get("id")?;
    Ok(TurnRecord {
        id: id(&turn)?,
        number: number(row, "number")?,
        client_request_id: row.get("client_request_id")?,
        status: TurnStatus::named(&status)
            .ok_or_else(|| Failure::Garbage(format!("`{status}` of turn {turn} is no status")))?,
        outcome: outcome
            .map(|text| json(&format!("the outcome of turn {turn}"), &text))
            .transpose()?,
    })
}

/// A row of `checkpoints`.
pub(super) fn checkpoint(row: &Row<'_>) -> Result<Checkpoint, Failure> {
    let turn: Option<String> = row.get("turn")?;
    let checkpoint: String = row.get("checkpoint")?;
    let (session, place): (String, _) = (row.get("session")?, number(row, "number")?);
    let what = format!("checkpoint {place} of session {session}");
    Ok(Checkpoint {
        number: place,
        made_after: number(row, "made_after")?,
        turn: turn.map(|turn| id(&turn)).transpose()?,
        checkpoint: json::<NewCheckpoint>(&what, &checkpoint)?,
    })
}
