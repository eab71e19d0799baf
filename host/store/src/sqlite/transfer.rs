//! A session as lines of JSON, and a session made of such lines.

use crate::error::StoreError;
use crate::id::{SessionId, TurnId};
use crate::record::{CallRecord, Checkpoint, NewMessage, NewSession, TurnRecord};
use crate::sqlite::failure::Failure;
use crate::sqlite::rows::{signed, text};
use crate::sqlite::{read, write};
use rusqlite::{Transaction, named_params};
use sectile_model::{Digest, Message, MessageKind, Role, SectionSource, Sequence};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows that are read at once.
const PAGE: u64 = 500;
const FORMAT: &str = "sectile.session/1";

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Session {
        format: String,
        created_ms: u64,
        about: Value,
        pruned_through_sequence: Option<Sequence>,
    },
    Turn {
        #[serde(flatten)]
        turn: TurnRecord,
    },
    Message {
        turn: TurnId,
        sequence: Sequence,
        id: String,
        kind: MessageKind,
        message: Arc<Message>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Arc<SectionSource>>,
    },
    Checkpoint {
        checkpoint: Box<Checkpoint>,
    },
    Call {
        turn: TurnId,
        call: Box<CallRecord>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frame: Option<Arc<str>>,
    },
}

pub(super) fn export(
    tx: &Transaction<'_>,
    session: &SessionId,
    each: &mut dyn FnMut(Value) -> Result<(), StoreError>,
) -> Result<(), Failure> {
    let mut line = |line: Line| -> Result<(), Failure> {
        let value = serde_json::to_value(line).map_err(|e| Failure::Garbage(e.to_string()))?;
        Ok(each(value)?)
    };
    let record = read::session(tx, session)?;
    line(Line::Session {
        format: FORMAT.to_owned(),
        created_ms: record.created_ms,
        about: record.about,
        pruned_through_sequence: read::pruned_through(tx, session)?,
    })?;
    let mut after = 0;
    while let page @ [.., last] = &*read::turns(tx, session, after, PAGE)? {
        after = last.number;
        page.iter()
            .try_for_each(|turn| line(Line::Turn { turn: turn.clone() }))?;
    }
    after = 0;
    while let page @ [.., last] = &*read::messages(tx, session, after, u64::MAX, PAGE)? {
        after = last.item.origin.sequence().unwrap_or(u64::MAX);
        for message in page {
            line(Line::Message {
                turn: message.turn.clone(),
                sequence: message.item.origin.sequence().unwrap_or_default(),
                id: message
                    .item
                    .origin
                    .message_id()
                    .unwrap_or_default()
                    .to_owned(),
                kind: message.item.kind,
                message: Arc::clone(&message.item.message),
                source: message.item.source.clone(),
            })?;
        }
    }
    for checkpoint in read::checkpoints(tx, session)? {
        line(Line::Checkpoint {
            checkpoint: Box::new(checkpoint),
        })?;
    }
    export_calls(tx, session, &mut line)
}

fn export_calls(
    tx: &Transaction<'_>,
    session: &SessionId,
    line: &mut dyn FnMut(Line) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut skip, mut written) = (0, BTreeSet::new());
    loop {
        let page = read::calls(tx, session, skip, PAGE)?;
        if page.is_empty() {
            return Ok(());
        }
        skip += page.len() as u64;
        for (turn, call) in page {
            // A frame goes with the first call that has it.
            let frame = match written.insert(call.frame_digest) {
                true => Some(read::frame(tx, &call.frame_digest)?.into()),
                false => None,
            };
            line(Line::Call {
                turn,
                call: Box::new(call),
                frame,
            })?;
        }
    }
}

/// What of the lines was read so far.
#[derive(Default)]
struct Import {
    begun: bool,
    turns: u64,
    messages: Sequence,
    checkpoints: u64,
}

pub(super) fn import(
    tx: &Transaction<'_>,
    id: &SessionId,
    lines: &mut dyn Iterator<Item = Result<Value, StoreError>>,
) -> Result<(), Failure> {
    let mut import = Import::default();
    for (n, value) in lines.enumerate() {
        let refused = |why: String| StoreError::Import { line: n + 1, why };
        let line = serde_json::from_value(value?).map_err(|e| refused(e.to_string()))?;
        match import.take(tx, id, line) {
            Ok(()) => {}
            // A constraint that the lines break is theirs, not the file's.
            Err(Failure::Garbage(why)) => return Err(refused(why).into()),
            Err(Failure::Sqlite(rusqlite::Error::SqliteFailure(error, _)))
                if error.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                let why = "it names something that is not there, or is there twice".to_owned();
                return Err(refused(why).into());
            }
            Err(other) => return Err(other),
        }
    }
    match import.begun {
        true => Ok(()),
        false => Err(StoreError::Import {
            line: 1,
            why: "there is no session in it".to_owned(),
        }
        .into()),
    }
}

impl Import {
    fn take(&mut self, tx: &Transaction<'_>, id: &SessionId, line: Line) -> Result<(), Failure> {
        let must = |holds: bool, why: &str| match holds {
            true => Ok(()),
            false => Err(Failure::Garbage(why.to_owned())),
        };
        match line {
            Line::Session {
                format,
                created_ms,
                about,
                pruned_through_sequence,
            } => {
                must(!self.begun, "a second session begins")?;
                must(format == FORMAT, "its format is not sectile.session/1")?;
                self.begun = true;
                let session = NewSession {
                    id: id.clone(),
                    created_ms,
                    parent: None,
                    about,
                };
                write::create(tx, &session)?;
                tx.execute(
                    "UPDATE sessions SET pruned_through = :to WHERE id = :id",
                    named_params! {":id": id.as_str(), ":to": pruned_through_sequence.map(signed)},
                )?;
                Ok(())
            }
            Line::Turn { turn } => {
                self.turns += 1;
                must(turn.number == self.turns, "the turns are not in order")?;
                insert_turn(tx, id, &turn)
            }
            Line::Message {
                turn,
                sequence,
                id: message_id,
                kind,
                message,
                source,
            } => {
                self.messages += 1;
                must(sequence == self.messages, "the messages are not in order")?;
                must(message.role != Role::System, "it is a system message")?;
                let message = NewMessage {
                    id: message_id,
                    kind,
                    message,
                    source,
                };
                write::insert_message(tx, id, &turn, sequence, &message)
            }
            Line::Checkpoint { checkpoint } => {
                self.checkpoints += 1;
                let in_order = checkpoint.number == self.checkpoints;
                must(in_order, "the checkpoints are not in order")?;
                let known = checkpoint.made_after <= self.messages;
                must(known, "it was made after a message that is not there")?;
                let system = |item: &sectile_model::Item| item.message.role == Role::System;
                must(
                    !checkpoint.checkpoint.head.iter().any(system),
                    "it has a system message",
                )?;
                write::insert_checkpoint(tx, id, &checkpoint)
            }
            Line::Call {
                turn,
                mut call,
                frame,
            } => {
                if let Some(frame) = frame {
                    let digest = Digest::from_bytes(Sha256::digest(frame.as_bytes()).into());
                    must(digest == call.frame_digest, "the frame has another digest")?;
                    call.frame = frame;
                } else {
                    read::frame(tx, &call.frame_digest)?;
                }
                write::record_call(tx, id, &turn, &call)
            }
        }
    }
}

fn insert_turn(tx: &Transaction<'_>, id: &SessionId, turn: &TurnRecord) -> Result<(), Failure> {
    // A turn that ran where it was exported runs nowhere here.
    let status = match turn.status {
        crate::TurnStatus::Running => crate::TurnStatus::Interrupted,
        other => other,
    };
    tx.prepare_cached(
        "INSERT INTO turns (session, number, id, client_request_id, status, outcome)
         VALUES (:session, :number, :id, :request, :status, :outcome)",
    )?
    .execute(named_params! {
        ":session": id.as_str(),
        ":number": signed(turn.number),
        ":id": turn.id.as_str(),
        ":request": turn.client_request_id,
        ":status": status.name(),
        ":outcome": turn.outcome.as_ref().map(text).transpose()?,
    })?;
    Ok(())
}
