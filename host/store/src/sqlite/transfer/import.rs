//! A session made of lines: each is checked, and all are taken or none.

use super::{CallLine, EndLine, FORMAT, Line, MessageLine, SessionLine, TurnLine};
use crate::error::StoreError;
use crate::id::SessionId;
use crate::record::{Checkpoint, NewMessage, NewSession, TurnStatus};
use crate::sqlite::failure::Failure;
use crate::sqlite::rows::{signed, text};
use crate::sqlite::{read, write};
use rusqlite::{ErrorCode, Transaction, named_params};
use sectile_model::{Digest, Role, Sequence};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(in crate::sqlite) fn import(
    tx: &Transaction<'_>,
    id: &SessionId,
    lines: &mut dyn Iterator<Item = Result<Value, StoreError>>,
) -> Result<(), Failure> {
    let mut import = Import::new(tx, id);
    let mut line = 0;
    for value in lines {
        line += 1;
        let refused = |why: String| StoreError::Import { line, why };
        let parsed = serde_json::from_value(value?).map_err(|e| refused(e.to_string()))?;
        match import.line(parsed) {
            Ok(()) => {}
            // What does not hold is the lines' fault, not the file's.
            Err(Failure::Garbage(why)) => return Err(refused(why).into()),
            Err(Failure::Sqlite(error)) if breaks_a_constraint(&error) => {
                let why = "it names something that is not there, or is there twice";
                return Err(refused(why.to_owned()).into());
            }
            Err(other) => return Err(other),
        }
    }
    if import.ended {
        return Ok(());
    }
    let why = "the session has no end".to_owned();
    Err(StoreError::Import { line, why }.into())
}

fn breaks_a_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn must(holds: bool, why: &str) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(Failure::Garbage(why.to_owned())),
    }
}

/// What of the lines was read so far.
struct Import<'a> {
    tx: &'a Transaction<'a>,
    id: &'a SessionId,
    lines: u64,
    ended: bool,
    turns: u64,
    messages: Sequence,
    checkpoint: Option<Checkpoint>,
}

impl<'a> Import<'a> {
    fn new(tx: &'a Transaction<'a>, id: &'a SessionId) -> Self {
        Self {
            tx,
            id,
            lines: 0,
            ended: false,
            turns: 0,
            messages: 0,
            checkpoint: None,
        }
    }

    fn line(&mut self, line: Line) -> Result<(), Failure> {
        must(!self.ended, "it stands behind the end")?;
        let begins = matches!(line, Line::Session(_));
        must(begins == (self.lines == 0), "a session begins once, first")?;
        match line {
            Line::Session(line) => self.session(line)?,
            Line::Turn(line) => self.turn(line)?,
            Line::Message(line) => self.message(line)?,
            Line::Checkpoint { checkpoint } => self.checkpoint(*checkpoint)?,
            Line::Call(line) => self.call(line)?,
            Line::End(EndLine { lines }) => {
                must(lines == self.lines, "lines are missing before it")?;
                self.ended = true;
            }
        }
        self.lines += 1;
        Ok(())
    }

    fn session(&self, line: SessionLine) -> Result<(), Failure> {
        must(line.format == FORMAT, "its format is not sectile.session/1")?;
        let session = NewSession {
            id: self.id.clone(),
            created_ms: line.created_ms,
            parent: None,
            about: line.about,
        };
        write::create(self.tx, &session)?;
        if !line.found_tools.is_empty() {
            write::set_found_tools(self.tx, self.id, &line.found_tools)?;
        }
        match line.pruned_through_sequence {
            Some(to) => write::advance_watermark(self.tx, self.id, to),
            None => Ok(()),
        }
    }

    fn turn(&mut self, line: TurnLine) -> Result<(), Failure> {
        let TurnLine { turn, plan } = line;
        self.turns += 1;
        must(turn.number == self.turns, "the turns are not in order")?;
        // A turn that ran where it was exported runs nowhere here.
        let status = match turn.status {
            TurnStatus::Running => TurnStatus::Interrupted,
            ended => ended,
        };
        self.tx
            .prepare_cached(
                "INSERT INTO turns (session, number, id, client_request_id, status, outcome, plan)
                 VALUES (:session, :number, :id, :request, :status, :outcome, :plan)",
            )?
            .execute(named_params! {
                ":session": self.id.as_str(),
                ":number": signed(turn.number),
                ":id": turn.id.as_str(),
                ":request": turn.client_request_id,
                ":status": status.name(),
                ":outcome": turn.outcome.as_ref().map(text).transpose()?,
                ":plan": plan.as_ref().map(text).transpose()?,
            })?;
        Ok(())
    }

    fn message(&mut self, line: MessageLine) -> Result<(), Failure> {
        self.messages += 1;
        let in_order = line.sequence == self.messages;
        must(in_order, "the messages are not in order")?;
        let system = line.message.role == Role::System;
        must(!system, "it is a system message")?;
        let message = NewMessage {
            id: line.id,
            kind: line.kind,
            message: line.message,
            source: line.source,
        };
        write::insert_message(self.tx, self.id, &line.turn, line.sequence, &message)
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<(), Failure> {
        let before = self.checkpoint.as_ref();
        let (number, made_after) = before.map_or((0, 0), |b| (b.number, b.made_after));
        let in_order = checkpoint.number == number + 1
            && (made_after..=self.messages).contains(&checkpoint.made_after);
        must(in_order, "the checkpoints are not in order")?;
        let new = &checkpoint.checkpoint;
        if let Err(why) = new.check(before, checkpoint.made_after) {
            return Err(Failure::Garbage(why.to_owned()));
        }
        if let Some(turn) = &checkpoint.turn {
            let known = read::turn_if_any(self.tx, self.id, turn)?.is_some();
            must(known, "it was made in a turn that is not there")?;
        }
        write::insert_checkpoint(self.tx, self.id, &checkpoint)?;
        self.checkpoint = Some(checkpoint);
        Ok(())
    }

    fn call(&self, line: CallLine) -> Result<(), Failure> {
        let mut call = line.call;
        match line.frame {
            Some(frame) => {
                let digest = Digest::from_bytes(Sha256::digest(frame.as_bytes()).into());
                must(digest == call.frame_digest, "the frame has another digest")?;
                call.frame = frame;
            }
            // It came with an earlier call, or the file would not have it.
            None => call.frame = read::frame(self.tx, &call.frame_digest)?.into(),
        }
        write::record_call(self.tx, self.id, &line.turn, &call)
    }
}
