//! Reading a session: only what is asked for, by index.

use crate::error::StoreError;
use crate::id::{SessionId, TurnId};
use crate::record::{CallRecord, Checkpoint, LoadedSession, StoredMessage, TurnRecord};
use crate::sqlite::failure::Failure;
use crate::sqlite::rows::{
    all, checkpoint, first, id, json, message, signed, turn_record, unsigned,
};
use crate::sqlite::sessions;
use rusqlite::{OptionalExtension, Row, Transaction, named_params};
use sectile_model::{Conversation, Digest, Item, Sequence};

pub(super) fn last_sequence(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Sequence, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT coalesce(max(sequence), 0) FROM messages WHERE session = ?1")?;
    unsigned(statement.query_row([session.as_str()], |row| row.get(0))?)
}

pub(super) fn load(tx: &Transaction<'_>, session: &SessionId) -> Result<LoadedSession, Failure> {
    sessions::session(tx, session)?;
    let checkpoint = last_checkpoint(tx, session)?;
    let last_sequence = last_sequence(tx, session)?;
    let mut conversation = visible(tx, session, checkpoint.as_ref(), last_sequence)?;
    conversation.pruned_through_sequence = pruned_through(tx, session)?;
    Ok(LoadedSession {
        conversation,
        checkpoint,
        last_sequence,
        running: running_turn(tx, session)?,
        plan: last_plan(tx, session)?,
        found_tools: found_tools(tx, session)?,
    })
}

pub(super) fn conversation_at(
    tx: &Transaction<'_>,
    session: &SessionId,
    checkpoint: Option<u64>,
    through: Sequence,
) -> Result<Conversation, Failure> {
    let checkpoint = checkpoint
        .map(|number| numbered_checkpoint(tx, session, number))
        .transpose()?;
    visible(tx, session, checkpoint.as_ref(), through)
}

/// What is seen from `checkpoint` on, up to `through`.
fn visible(
    tx: &Transaction<'_>,
    session: &SessionId,
    checkpoint: Option<&Checkpoint>,
    through: Sequence,
) -> Result<Conversation, Failure> {
    let mut conversation = Conversation::default();
    let mut behind = 0;
    if let Some(checkpoint) = checkpoint {
        conversation.items.clone_from(&checkpoint.checkpoint.head);
        for &(from, to) in &checkpoint.checkpoint.visible {
            let range = items(tx, session, from.saturating_sub(1), to.min(through))?;
            conversation.items.extend(range);
        }
        behind = checkpoint.made_after;
    }
    conversation
        .items
        .extend(items(tx, session, behind, through)?);
    Ok(conversation)
}

fn items(
    tx: &Transaction<'_>,
    session: &SessionId,
    after: Sequence,
    through: Sequence,
) -> Result<Vec<Item>, Failure> {
    let found = messages(tx, session, after, through, u64::MAX)?;
    Ok(found.into_iter().map(|message| message.item).collect())
}

pub(super) fn messages(
    tx: &Transaction<'_>,
    session: &SessionId,
    after: Sequence,
    through: Sequence,
    limit: u64,
) -> Result<Vec<StoredMessage>, Failure> {
    all(
        tx,
        "SELECT * FROM messages WHERE session = :session AND sequence > :after
         AND sequence <= :through ORDER BY sequence LIMIT :limit",
        named_params! {
            ":session": session.as_str(),
            ":after": signed(after),
            ":through": signed(through),
            ":limit": signed(limit),
        },
        message,
    )
}

pub(super) fn message_by_id(
    tx: &Transaction<'_>,
    session: &SessionId,
    id: &str,
) -> Result<Option<Item>, Failure> {
    let found = first(
        tx,
        "SELECT * FROM messages WHERE session = ?1 AND id = ?2",
        [session.as_str(), id],
        message,
    )?;
    Ok(found.map(|message| message.item))
}

pub(super) fn turns(
    tx: &Transaction<'_>,
    session: &SessionId,
    after: u64,
    limit: u64,
) -> Result<Vec<TurnRecord>, Failure> {
    all(
        tx,
        "SELECT * FROM turns WHERE session = :session AND number > :after ORDER BY number LIMIT :limit",
        named_params! {":session": session.as_str(), ":after": signed(after), ":limit": signed(limit)},
        turn_record,
    )
}

pub(super) fn turn(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &TurnId,
) -> Result<TurnRecord, Failure> {
    let found = turn_if_any(tx, session, turn)?;
    found.ok_or_else(|| {
        StoreError::UnknownTurn {
            session: session.clone(),
            turn: turn.clone(),
        }
        .into()
    })
}

pub(super) fn turn_if_any(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &TurnId,
) -> Result<Option<TurnRecord>, Failure> {
    first(
        tx,
        "SELECT * FROM turns WHERE session = ?1 AND id = ?2",
        [session.as_str(), turn.as_str()],
        turn_record,
    )
}

pub(super) fn turn_of_request(
    tx: &Transaction<'_>,
    session: &SessionId,
    client_request_id: &str,
) -> Result<Option<TurnRecord>, Failure> {
    first(
        tx,
        "SELECT * FROM turns WHERE session = ?1 AND client_request_id = ?2",
        [session.as_str(), client_request_id],
        turn_record,
    )
}

pub(super) fn running_turn(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Option<TurnId>, Failure> {
    first(
        tx,
        "SELECT id FROM turns WHERE session = ?1 AND status = 'running' LIMIT 1",
        [session.as_str()],
        |row| id(&row.get::<_, String>(0)?),
    )
}

pub(super) fn sessions_with_running_turns(tx: &Transaction<'_>) -> Result<Vec<SessionId>, Failure> {
    all(
        tx,
        "SELECT DISTINCT session FROM turns WHERE status = 'running'",
        [],
        |row| id(&row.get::<_, String>(0)?),
    )
}

fn last_plan(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Option<serde_json::Value>, Failure> {
    let last = last_turn(tx, session)?;
    plan(tx, session, last)
}

/// The number of the last turn, 0 when there is none.
pub(super) fn last_turn(tx: &Transaction<'_>, session: &SessionId) -> Result<u64, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT coalesce(max(number), 0) FROM turns WHERE session = ?1")?;
    unsigned(statement.query_row([session.as_str()], |row| row.get(0))?)
}

pub(super) fn plan(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: u64,
) -> Result<Option<serde_json::Value>, Failure> {
    let plan = first(
        tx,
        "SELECT plan FROM turns WHERE session = :session AND number = :turn",
        named_params! {":session": session.as_str(), ":turn": signed(turn)},
        |row| Ok(row.get::<_, Option<String>>(0)?),
    )?;
    let what = format!("the plan of turn {turn} of session {session}");
    plan.flatten().map(|text| json(&what, &text)).transpose()
}

pub(super) fn pruned_through(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Option<Sequence>, Failure> {
    let mut statement = tx.prepare_cached("SELECT pruned_through FROM sessions WHERE id = ?1")?;
    let found: Option<Option<i64>> = statement
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    found.flatten().map(unsigned).transpose()
}

pub(super) fn found_tools(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Vec<String>, Failure> {
    let found = first(
        tx,
        "SELECT found_tools FROM sessions WHERE id = ?1",
        [session.as_str()],
        |row| Ok(row.get::<_, Option<String>>(0)?),
    )?;
    let what = format!("the tools that session {session} found");
    let found = found.flatten().map(|text| json(&what, &text)).transpose()?;
    Ok(found.unwrap_or_default())
}

pub(super) fn last_checkpoint(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Option<Checkpoint>, Failure> {
    first(
        tx,
        "SELECT * FROM checkpoints WHERE session = ?1 ORDER BY number DESC LIMIT 1",
        [session.as_str()],
        checkpoint,
    )
}

fn numbered_checkpoint(
    tx: &Transaction<'_>,
    session: &SessionId,
    number: u64,
) -> Result<Checkpoint, Failure> {
    let found = first(
        tx,
        "SELECT * FROM checkpoints WHERE session = :session AND number = :number",
        named_params! {":session": session.as_str(), ":number": signed(number)},
        checkpoint,
    )?;
    found.ok_or_else(|| {
        StoreError::UnknownCheckpoint {
            session: session.clone(),
            number,
        }
        .into()
    })
}

pub(super) fn checkpoints(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Vec<Checkpoint>, Failure> {
    all(
        tx,
        "SELECT * FROM checkpoints WHERE session = ?1 ORDER BY number",
        [session.as_str()],
        checkpoint,
    )
}

fn call(row: &Row<'_>) -> Result<(TurnId, CallRecord), Failure> {
    let (session, number): (String, i64) = (row.get("session")?, row.get("number")?);
    let what = format!("model call {number} of session {session}");
    let record: CallRecord = json(&what, &row.get::<_, String>("record")?)?;
    Ok((id(&row.get::<_, String>("turn")?)?, record))
}

pub(super) fn calls(
    tx: &Transaction<'_>,
    session: &SessionId,
    skip: u64,
    limit: u64,
) -> Result<Vec<(TurnId, CallRecord)>, Failure> {
    // Numbers are without gaps from 1, so that no row is read only to be skipped.
    all(
        tx,
        "SELECT * FROM model_calls WHERE session = :session AND number > :skip ORDER BY number LIMIT :limit",
        named_params! {":session": session.as_str(), ":skip": signed(skip), ":limit": signed(limit)},
        call,
    )
}

pub(super) fn count_calls(tx: &Transaction<'_>, session: &SessionId) -> Result<u64, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT coalesce(max(number), 0) FROM model_calls WHERE session = ?1")?;
    unsigned(statement.query_row([session.as_str()], |row| row.get(0))?)
}

pub(super) fn last_call(
    tx: &Transaction<'_>,
    session: &SessionId,
) -> Result<Option<(TurnId, CallRecord)>, Failure> {
    first(
        tx,
        "SELECT * FROM model_calls WHERE session = ?1 ORDER BY number DESC LIMIT 1",
        [session.as_str()],
        call,
    )
}

pub(super) fn frame(tx: &Transaction<'_>, digest: &Digest) -> Result<String, Failure> {
    let mut statement = tx.prepare_cached("SELECT text FROM frames WHERE digest = ?1")?;
    let found = statement
        .query_row([digest.to_string()], |row| row.get(0))
        .optional()?;
    found.ok_or_else(|| Failure::Garbage(format!("the frame {digest} is missing")))
}
