//! The sessions there are.

use crate::error::StoreError;
use crate::id::SessionId;
use crate::record::{SessionRecord, SessionSummary, StoredMessage};
use crate::sqlite::failure::Failure;
use crate::sqlite::read;
use crate::sqlite::rows::{all, first, id, json, message, number, signed};
use rusqlite::{Row, Transaction};
use sectile_model::Block;

/// Characters of a request that a list shows.
const SHOWN: usize = 200;

fn record(row: &Row<'_>) -> Result<SessionRecord, Failure> {
    let parent: Option<String> = row.get("parent")?;
    let session: String = row.get("id")?;
    Ok(SessionRecord {
        created_ms: number(row, "created_ms")?,
        parent: parent.map(|parent| id(&parent)).transpose()?,
        about: json(
            &format!("what session {session} is about"),
            &row.get::<_, String>("about")?,
        )?,
        id: id(&session)?,
    })
}

pub(super) fn session(tx: &Transaction<'_>, session: &SessionId) -> Result<SessionRecord, Failure> {
    first(
        tx,
        "SELECT * FROM sessions WHERE id = ?1",
        [session.as_str()],
        record,
    )?
    .ok_or_else(|| StoreError::UnknownSession(session.clone()).into())
}

pub(super) fn sessions(
    tx: &Transaction<'_>,
    skip: u64,
    limit: u64,
) -> Result<Vec<SessionSummary>, Failure> {
    let records = all(
        tx,
        "SELECT * FROM sessions ORDER BY place DESC LIMIT ?2 OFFSET ?1",
        [signed(skip), signed(limit)],
        record,
    )?;
    let summary = |session: SessionRecord| {
        Ok(SessionSummary {
            turns: read::last_turn(tx, &session.id)?,
            messages: read::last_sequence(tx, &session.id)?,
            first_request: first_request(tx, &session.id)?,
            session,
        })
    };
    records.into_iter().map(summary).collect()
}

fn first_request(tx: &Transaction<'_>, session: &SessionId) -> Result<Option<String>, Failure> {
    let found = first(
        tx,
        "SELECT * FROM messages WHERE session = ?1 AND kind = 'normal' ORDER BY sequence LIMIT 1",
        [session.as_str()],
        message,
    )?;
    let text = |message: StoredMessage| {
        let mut texts = message.item.message.content.iter().filter_map(Block::text);
        texts.next().map(|text| text.chars().take(SHOWN).collect())
    };
    Ok(found.and_then(text))
}
