//! What the runtime sees of a store (SR-10).

use crate::error::StoreError;
use crate::id::{SessionId, TurnId};
use crate::record::{
    Append, CallRecord, Checkpoint, LoadedSession, NewCheckpoint, NewSession, NewTurn,
    SessionRecord, SessionSummary, StartedTurn, StoredMessage, TurnRecord, TurnStatus,
};
use sectile_model::{Conversation, Digest, Item, Sequence};
use serde_json::Value;

/// Where sessions are kept. Reading never waits for a writer.
pub trait SessionStore: Send + Sync {
    /// Makes a session.
    ///
    /// # Errors
    /// [`StoreError::SessionExists`], and those of the medium.
    fn create(&self, session: &NewSession) -> Result<(), StoreError>;

    /// The right to write to a session, for as long as the writer lives; it ends
    /// with the process at the latest.
    ///
    /// # Errors
    /// [`StoreError::SessionBusy`] at once when somebody else has it, and
    /// [`StoreError::UnknownSession`].
    fn lease(&self, session: &SessionId) -> Result<Box<dyn SessionWriter>, StoreError>;

    /// A session.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`], and those of the medium.
    fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError>;

    /// At most `limit` sessions, the newest first, behind the first `skip`.
    ///
    /// # Errors
    /// Those of the medium.
    fn sessions(&self, skip: u64, limit: u64) -> Result<Vec<SessionSummary>, StoreError>;

    /// The session as it goes on.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`], and those of the medium.
    fn load(&self, session: &SessionId) -> Result<LoadedSession, StoreError>;

    /// What a model call saw that stood on `checkpoint` and had the messages up
    /// to `through`.
    ///
    /// # Errors
    /// [`StoreError::UnknownCheckpoint`], and those of the medium.
    fn conversation_at(
        &self,
        session: &SessionId,
        checkpoint: Option<u64>,
        through: Sequence,
    ) -> Result<Conversation, StoreError>;

    /// At most `limit` messages, seen or not, behind `after` and up to `through`.
    ///
    /// # Errors
    /// Those of the medium.
    fn messages(
        &self,
        session: &SessionId,
        after: Sequence,
        through: Sequence,
        limit: u64,
    ) -> Result<Vec<StoredMessage>, StoreError>;

    /// At most `limit` turns with a number above `after`, in order.
    ///
    /// # Errors
    /// Those of the medium.
    fn turns(
        &self,
        session: &SessionId,
        after: u64,
        limit: u64,
    ) -> Result<Vec<TurnRecord>, StoreError>;

    /// A turn.
    ///
    /// # Errors
    /// [`StoreError::UnknownTurn`], and those of the medium.
    fn turn(&self, session: &SessionId, turn: &TurnId) -> Result<TurnRecord, StoreError>;

    /// The turn of a client's request, when there is one (SR-20).
    ///
    /// # Errors
    /// Those of the medium.
    fn turn_of_request(
        &self,
        session: &SessionId,
        client_request_id: &str,
    ) -> Result<Option<TurnRecord>, StoreError>;

    /// All checkpoints, in order.
    ///
    /// # Errors
    /// Those of the medium.
    fn checkpoints(&self, session: &SessionId) -> Result<Vec<Checkpoint>, StoreError>;

    /// At most `limit` recorded model calls behind the first `skip`, in order,
    /// each with its turn. Their frames are read with [`SessionStore::frame`].
    ///
    /// # Errors
    /// Those of the medium.
    fn calls(
        &self,
        session: &SessionId,
        skip: u64,
        limit: u64,
    ) -> Result<Vec<(TurnId, CallRecord)>, StoreError>;

    /// How many model calls are recorded.
    ///
    /// # Errors
    /// Those of the medium.
    fn count_calls(&self, session: &SessionId) -> Result<u64, StoreError>;

    /// The last recorded model call.
    ///
    /// # Errors
    /// Those of the medium.
    fn last_call(&self, session: &SessionId) -> Result<Option<(TurnId, CallRecord)>, StoreError>;

    /// The text of a frame.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it is missing, and those of the medium.
    fn frame(&self, digest: &Digest) -> Result<String, StoreError>;

    /// The session as JSON values, one for each thing it has, for
    /// [`SessionStore::import`]; `each` may stop it, and must not use this store.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`], those of the medium, and those of `each`.
    fn export(
        &self,
        session: &SessionId,
        each: &mut dyn FnMut(Value) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Makes the session `id` out of what was exported: all or nothing. Other
    /// writers wait until the last line has come.
    ///
    /// # Errors
    /// [`StoreError::Import`] with the line, [`StoreError::SessionExists`], and
    /// those of the medium.
    fn import(
        &self,
        id: &SessionId,
        lines: &mut dyn Iterator<Item = Result<Value, StoreError>>,
    ) -> Result<(), StoreError>;
}

/// The right to write to one session. Each method is one transaction.
pub trait SessionWriter: Send + Sync {
    /// The session as it goes on.
    ///
    /// # Errors
    /// Those of the medium.
    fn load(&self) -> Result<LoadedSession, StoreError>;

    /// Starts a turn, unless its request is known or another one runs.
    ///
    /// # Errors
    /// [`StoreError::TurnExists`], and those of the medium.
    fn start_turn(&self, turn: &NewTurn) -> Result<StartedTurn, StoreError>;

    /// Stores one step of a turn and gives its messages as they stand now.
    ///
    /// # Errors
    /// [`StoreError::UnknownTurn`], [`StoreError::TurnEnded`], and those of the medium.
    fn append(&self, turn: &TurnId, append: &Append) -> Result<Vec<Item>, StoreError>;

    /// Ends a turn. One that has ended stays as it is.
    ///
    /// # Errors
    /// [`StoreError::UnknownTurn`], and those of the medium.
    fn finish_turn(
        &self,
        turn: &TurnId,
        status: TurnStatus,
        outcome: &Value,
    ) -> Result<(), StoreError>;

    /// Marks the turns that a dead process left as interrupted (SR-28).
    ///
    /// # Errors
    /// Those of the medium.
    fn interrupt_running(&self) -> Result<Vec<TurnId>, StoreError>;

    /// Moves the watermark up, never back (CP-6).
    ///
    /// # Errors
    /// Those of the medium.
    fn advance_watermark(&self, to: Sequence) -> Result<(), StoreError>;

    /// Installs a checkpoint (CP-7), in the running `turn` or while none runs.
    ///
    /// # Errors
    /// [`StoreError::InvalidCheckpoint`], [`StoreError::SessionActive`],
    /// [`StoreError::UnknownTurn`], [`StoreError::TurnEnded`], and those of the
    /// medium.
    fn install(
        &self,
        turn: Option<&TurnId>,
        checkpoint: &NewCheckpoint,
    ) -> Result<Checkpoint, StoreError>;
}
