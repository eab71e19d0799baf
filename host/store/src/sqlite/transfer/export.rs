//! The lines of a session.

use super::{CallLine, EndLine, FORMAT, Line, MessageLine, SessionLine, TurnLine};
use crate::error::StoreError;
use crate::id::SessionId;
use crate::sqlite::failure::Failure;
use crate::sqlite::{read, sessions};
use rusqlite::Transaction;
use sectile_model::Origin;
use serde_json::Value;
use std::collections::BTreeSet;

/// Rows that are read at once.
const PAGE: u64 = 500;

type Each<'a> = dyn FnMut(Value) -> Result<(), StoreError> + 'a;

pub(in crate::sqlite) fn export(
    tx: &Transaction<'_>,
    session: &SessionId,
    each: &mut Each<'_>,
) -> Result<(), Failure> {
    let mut export = Export {
        tx,
        session,
        each,
        lines: 0,
    };
    export.session()?;
    export.turns()?;
    export.messages()?;
    export.checkpoints()?;
    export.calls()?;
    let lines = export.lines;
    export.line(&Line::End(EndLine { lines }))
}

struct Export<'a, 'each> {
    tx: &'a Transaction<'a>,
    session: &'a SessionId,
    each: &'a mut Each<'each>,
    lines: u64,
}

impl Export<'_, '_> {
    fn line(&mut self, line: &Line) -> Result<(), Failure> {
        let value = serde_json::to_value(line).map_err(|e| Failure::Garbage(e.to_string()))?;
        self.lines += 1;
        Ok((self.each)(value)?)
    }

    fn session(&mut self) -> Result<(), Failure> {
        let record = sessions::session(self.tx, self.session)?;
        self.line(&Line::Session(SessionLine {
            format: FORMAT.to_owned(),
            created_ms: record.created_ms,
            about: record.about,
            pruned_through_sequence: read::pruned_through(self.tx, self.session)?,
            found_tools: read::found_tools(self.tx, self.session)?,
        }))
    }

    fn turns(&mut self) -> Result<(), Failure> {
        let mut after = 0;
        loop {
            let page = read::turns(self.tx, self.session, after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.number;
            for turn in page {
                let plan = read::plan(self.tx, self.session, turn.number)?;
                self.line(&Line::Turn(TurnLine { turn, plan }))?;
            }
        }
    }

    fn messages(&mut self) -> Result<(), Failure> {
        let mut after = 0;
        loop {
            let page = read::messages(self.tx, self.session, after, u64::MAX, PAGE)?;
            if page.is_empty() {
                return Ok(());
            }
            for stored in page {
                let item = stored.item;
                let Origin::Real {
                    message_id: Some(id),
                    sequence: Some(sequence),
                } = item.origin
                else {
                    continue;
                };
                after = sequence;
                self.line(&Line::Message(MessageLine {
                    turn: stored.turn,
                    sequence,
                    id,
                    kind: item.kind,
                    message: item.message,
                    source: item.source,
                }))?;
            }
        }
    }

    fn checkpoints(&mut self) -> Result<(), Failure> {
        for checkpoint in read::checkpoints(self.tx, self.session)? {
            let checkpoint = Box::new(checkpoint);
            self.line(&Line::Checkpoint { checkpoint })?;
        }
        Ok(())
    }

    fn calls(&mut self) -> Result<(), Failure> {
        let (mut skip, mut written) = (0, BTreeSet::new());
        loop {
            let page = read::calls(self.tx, self.session, skip, PAGE)?;
            if page.is_empty() {
                return Ok(());
            }
            for (turn, call) in page {
                skip += 1;
                let frame = match written.insert(call.frame_digest) {
                    true => Some(read::frame(self.tx, &call.frame_digest)?.into()),
                    false => None,
                };
                let call = Box::new(call);
                self.line(&Line::Call(CallLine { turn, call, frame }))?;
            }
        }
    }
}
