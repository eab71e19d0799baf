//! Composing recorded model calls again: the proof that a session is what it
//! was, and what two of its requests differ in.

use crate::error::SessionError;
use crate::record::{Frame, digest, request_text};
use crate::spill;
use sectile_engine::{ContextInput, PreparedModelCall, prepare};
use sectile_store::{CallRecord, SessionId, SessionStore, TurnId};
use serde::Serialize;

/// Calls that are read at once.
const PAGE: u64 = 100;

/// A recorded call, composed again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// Counts from 1 in the session.
    pub call: u64,
    /// Its turn.
    pub turn: TurnId,
    /// The model call within its turn.
    pub model_call: u32,
    /// Bytes of the request now.
    pub bytes: u64,
    /// Whether they are the bytes that were sent.
    pub same: bool,
}

/// Composes every recorded model call of `session` again, in order, and tells
/// `each` whether the bytes are the same.
///
/// # Errors
/// Those of the store, and of `each`.
pub fn replay(
    store: &dyn SessionStore,
    session: &SessionId,
    each: &mut dyn FnMut(Replayed) -> Result<(), SessionError>,
) -> Result<(), SessionError> {
    store.session(session)?;
    let mut done = 0;
    loop {
        let page = store.calls(session, done, PAGE)?;
        if page.is_empty() {
            return Ok(());
        }
        for (turn, record) in page {
            done += 1;
            let call = compose_again(store, session, &record)?;
            let text = request_text(&call.request);
            each(Replayed {
                call: done,
                turn,
                model_call: record.model_call,
                bytes: text.len() as u64,
                same: digest(&text) == record.request_digest,
            })?;
        }
    }
}

/// The recorded call `number` of `session`, composed again.
///
/// # Errors
/// [`SessionError::UnknownCall`], and those of the store.
pub fn recorded_call(
    store: &dyn SessionStore,
    session: &SessionId,
    number: u64,
) -> Result<PreparedModelCall, SessionError> {
    store.session(session)?;
    let skip = number.checked_sub(1);
    let found = skip
        .map(|skip| store.calls(session, skip, 1))
        .transpose()?
        .and_then(|page| page.into_iter().next());
    let (_, record) = found.ok_or_else(|| SessionError::UnknownCall {
        session: session.clone(),
        number,
    })?;
    compose_again(store, session, &record)
}

fn compose_again(
    store: &dyn SessionStore,
    session: &SessionId,
    record: &CallRecord,
) -> Result<PreparedModelCall, SessionError> {
    let frame = Frame::load(store, record)?;
    let mut conversation =
        store.conversation_at(session, record.checkpoint, record.through_sequence)?;
    conversation.pruned_through_sequence = record.pruned_through_sequence;
    conversation.spill_folder = Some(spill::folder(session));
    Ok(prepare(&ContextInput {
        model: &frame.model,
        compact_rule: frame.compact_rule,
        displaced: frame.displaced,
        system: &frame.system,
        conversation: &conversation,
        tools: &frame.tools,
    })?)
}
