//! Writing: each method one transaction.

use crate::api::SessionWriter;
use crate::error::StoreError;
use crate::id::{SessionId, TurnId};
use crate::record::{
    Append, CallRecord, Checkpoint, LoadedSession, NewCheckpoint, NewMessage, NewSession, NewTurn,
    StartedTurn, TurnStatus,
};
use crate::sqlite::connection::Database;
use crate::sqlite::failure::Failure;
use crate::sqlite::lease::Lease;
use crate::sqlite::read;
use crate::sqlite::rows::{id, kind_name, signed, text};
use rusqlite::{Transaction, named_params};
use sectile_model::{Item, Origin, Sequence};
use serde_json::Value;
use std::sync::Arc;

pub(super) struct SqliteWriter {
    database: Arc<Database>,
    session: SessionId,
    _lease: Lease,
}

impl SqliteWriter {
    pub(super) fn new(database: Arc<Database>, session: SessionId, lease: Lease) -> Self {
        Self {
            database,
            session,
            _lease: lease,
        }
    }
}

impl SessionWriter for SqliteWriter {
    fn load(&self) -> Result<LoadedSession, StoreError> {
        self.database.read(|tx| read::load(tx, &self.session))
    }

    fn start_turn(&self, turn: &NewTurn) -> Result<StartedTurn, StoreError> {
        self.database
            .write(|tx| start_turn(tx, &self.session, turn))
    }

    fn append(&self, turn: &TurnId, append: &Append) -> Result<Vec<Item>, StoreError> {
        self.database.write(|tx| {
            running(tx, &self.session, turn)?;
            let items = store(tx, &self.session, turn, &append.messages)?;
            if let Some(plan) = &append.plan {
                tx.prepare_cached("UPDATE turns SET plan = ?3 WHERE session = ?1 AND id = ?2")?
                    .execute([self.session.as_str(), turn.as_str(), &text(plan)?])?;
            }
            if let Some(found) = &append.found_tools {
                set_found_tools(tx, &self.session, found)?;
            }
            if let Some(call) = &append.call {
                record_call(tx, &self.session, turn, call)?;
            }
            Ok(items)
        })
    }

    fn finish_turn(
        &self,
        turn: &TurnId,
        status: TurnStatus,
        outcome: &Value,
    ) -> Result<(), StoreError> {
        self.database.write(|tx| {
            read::turn(tx, &self.session, turn)?;
            tx.prepare_cached(
                "UPDATE turns SET status = ?3, outcome = ?4
                 WHERE session = ?1 AND id = ?2 AND status = 'running'",
            )?
            .execute([
                self.session.as_str(),
                turn.as_str(),
                status.name(),
                &text(outcome)?,
            ])?;
            Ok(())
        })
    }

    fn interrupt_running(&self) -> Result<Vec<TurnId>, StoreError> {
        self.database.write(|tx| {
            let mut statement = tx.prepare_cached(
                "UPDATE turns SET status = 'interrupted'
                 WHERE session = ?1 AND status = 'running' RETURNING id",
            )?;
            let mut rows = statement.query([self.session.as_str()])?;
            let mut turns = Vec::new();
            while let Some(row) = rows.next()? {
                turns.push(id(&row.get::<_, String>(0)?)?);
            }
            Ok(turns)
        })
    }

    fn advance_watermark(&self, to: Sequence) -> Result<(), StoreError> {
        self.database
            .write(|tx| advance_watermark(tx, &self.session, to))
    }

    fn install(
        &self,
        turn: Option<&TurnId>,
        checkpoint: &NewCheckpoint,
    ) -> Result<Checkpoint, StoreError> {
        self.database
            .write(|tx| install(tx, &self.session, turn, checkpoint))
    }
}

pub(super) fn advance_watermark(
    tx: &Transaction<'_>,
    session: &SessionId,
    to: Sequence,
) -> Result<(), Failure> {
    tx.prepare_cached(
        "UPDATE sessions SET pruned_through = max(coalesce(pruned_through, 0), :to) WHERE id = :id",
    )?
    .execute(named_params! {":id": session.as_str(), ":to": signed(to)})?;
    Ok(())
}

pub(super) fn set_found_tools(
    tx: &Transaction<'_>,
    session: &SessionId,
    found: &[String],
) -> Result<(), Failure> {
    tx.prepare_cached("UPDATE sessions SET found_tools = ?2 WHERE id = ?1")?
        .execute([session.as_str(), &text(&found)?])?;
    Ok(())
}

/// Only a running turn takes anything.
fn running(tx: &Transaction<'_>, session: &SessionId, turn: &TurnId) -> Result<(), Failure> {
    match read::turn(tx, session, turn)?.status {
        TurnStatus::Running => Ok(()),
        _ => Err(StoreError::TurnEnded(turn.clone()).into()),
    }
}

fn install(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: Option<&TurnId>,
    checkpoint: &NewCheckpoint,
) -> Result<Checkpoint, Failure> {
    match (turn, read::running_turn(tx, session)?) {
        (Some(turn), _) => running(tx, session, turn)?,
        (None, Some(turn)) => return Err(StoreError::SessionActive(turn).into()),
        (None, None) => {}
    }
    let before = read::last_checkpoint(tx, session)?;
    let last = read::last_sequence(tx, session)?;
    checkpoint
        .check(before.as_ref(), last)
        .map_err(StoreError::InvalidCheckpoint)?;
    let installed = Checkpoint {
        number: before.map_or(0, |before| before.number).saturating_add(1),
        made_after: last,
        turn: turn.cloned(),
        checkpoint: checkpoint.clone(),
    };
    insert_checkpoint(tx, session, &installed)?;
    Ok(installed)
}

pub(super) fn create(tx: &Transaction<'_>, session: &NewSession) -> Result<(), Failure> {
    let made = tx
        .prepare_cached(
            "INSERT INTO sessions (id, place, created_ms, parent, about)
             SELECT :id, (SELECT coalesce(max(place), 0) + 1 FROM sessions), :created, :parent, :about
             WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = :id)",
        )?
        .execute(named_params! {
            ":id": session.id.as_str(),
            ":created": signed(session.created_ms),
            ":parent": session.parent.as_ref().map(SessionId::as_str),
            ":about": text(&session.about)?,
        })?;
    match made {
        0 => Err(StoreError::SessionExists(session.id.clone()).into()),
        _ => Ok(()),
    }
}

fn start_turn(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &NewTurn,
) -> Result<StartedTurn, Failure> {
    if let Some(known) = read::turn_of_request(tx, session, &turn.client_request_id)? {
        return Ok(StartedTurn::Existing(known));
    }
    if let Some(running) = read::running_turn(tx, session)? {
        return Ok(StartedTurn::Busy(running));
    }
    if read::turn_if_any(tx, session, &turn.id)?.is_some() {
        return Err(StoreError::TurnExists {
            session: session.clone(),
            turn: turn.id.clone(),
        }
        .into());
    }
    tx.prepare_cached(
        "INSERT INTO turns (session, number, id, client_request_id, status)
         SELECT ?1, (SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session = ?1), ?2, ?3, 'running'",
    )?
    .execute([session.as_str(), turn.id.as_str(), &turn.client_request_id])?;
    store(tx, session, &turn.id, &turn.input).map(StartedTurn::Started)
}

/// Stores `messages` behind what is there; one that is there already stays.
pub(super) fn store(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &TurnId,
    messages: &[NewMessage],
) -> Result<Vec<Item>, Failure> {
    let mut last = read::last_sequence(tx, session)?;
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        if let Some(known) = read::message_by_id(tx, session, &message.id)? {
            items.push(known);
            continue;
        }
        last += 1;
        insert_message(tx, session, turn, last, message)?;
        items.push(Item {
            kind: message.kind,
            origin: Origin::Real {
                message_id: Some(message.id.clone()),
                sequence: Some(last),
            },
            message: Arc::clone(&message.message),
            source: message.source.clone(),
        });
    }
    Ok(items)
}

pub(super) fn insert_message(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &TurnId,
    sequence: Sequence,
    message: &NewMessage,
) -> Result<(), Failure> {
    tx.prepare_cached(
        "INSERT INTO messages (session, sequence, id, turn, kind, message, source)
         VALUES (:session, :sequence, :id, :turn, :kind, :message, :source)",
    )?
    .execute(named_params! {
        ":session": session.as_str(),
        ":sequence": signed(sequence),
        ":id": message.id,
        ":turn": turn.as_str(),
        ":kind": kind_name(message.kind),
        ":message": text(&message.message)?,
        ":source": message.source.as_ref().map(text).transpose()?,
    })?;
    Ok(())
}

pub(super) fn record_call(
    tx: &Transaction<'_>,
    session: &SessionId,
    turn: &TurnId,
    call: &CallRecord,
) -> Result<(), Failure> {
    let digest = call.frame_digest.to_string();
    tx.prepare_cached("INSERT OR IGNORE INTO frames (digest, text) VALUES (?1, ?2)")?
        .execute([digest.as_str(), &call.frame])?;
    tx.prepare_cached(
        "INSERT INTO model_calls (session, number, turn, frame, record)
         SELECT ?1, (SELECT coalesce(max(number), 0) + 1 FROM model_calls WHERE session = ?1), ?2, ?3, ?4",
    )?
    .execute([session.as_str(), turn.as_str(), digest.as_str(), &text(call)?])?;
    Ok(())
}

pub(super) fn insert_checkpoint(
    tx: &Transaction<'_>,
    session: &SessionId,
    checkpoint: &Checkpoint,
) -> Result<(), Failure> {
    tx.prepare_cached(
        "INSERT INTO checkpoints (session, number, made_after, turn, checkpoint)
         VALUES (:session, :number, :made_after, :turn, :checkpoint)",
    )?
    .execute(named_params! {
        ":session": session.as_str(),
        ":number": signed(checkpoint.number),
        ":made_after": signed(checkpoint.made_after),
        ":turn": checkpoint.turn.as_ref().map(TurnId::as_str),
        ":checkpoint": text(&checkpoint.checkpoint)?,
    })?;
    Ok(())
}
