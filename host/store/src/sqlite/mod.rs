//! Sessions in one SQLite file (SR-10).

mod audit;
mod connection;
mod failure;
mod lease;
mod place;
mod read;
mod rows;
mod schema;
mod sessions;
mod transfer;
mod values;
mod write;

use crate::api::{SessionStore, SessionWriter};
use crate::error::StoreError;
use crate::id::{SessionId, TurnId};
use crate::record::{
    CallRecord, Checkpoint, LoadedSession, NewSession, SessionRecord, SessionSummary,
    StoredMessage, TurnRecord,
};
use connection::Database;
use lease::Lease;
use sectile_model::{Conversation, Digest, Sequence};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use write::SqliteWriter;

/// Sessions in `.sectile/sectile.db` of a workspace. Cloning shares it.
#[derive(Clone)]
pub struct SqliteStore(Arc<Database>);

impl SqliteStore {
    /// Opens the store of `workspace`; makes it when there is none. A workspace
    /// that cannot be written is opened for reading.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Foreign`], [`StoreError::Corrupt`],
    /// and those of the file system.
    pub fn open(workspace: &Path) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(Database::open(workspace)?)))
    }

    /// Opens the store of `workspace` when there is one; makes nothing.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub fn open_existing(workspace: &Path) -> Result<Option<Self>, StoreError> {
        Ok(Database::open_existing(workspace)?.map(|database| Self(Arc::new(database))))
    }

    /// Reads the whole file and says what is damaged in it; `None` is good.
    ///
    /// # Errors
    /// Those of the medium.
    pub fn check(&self) -> Result<Option<String>, StoreError> {
        self.0.read(schema::check)
    }

    /// Marks what dead processes left running in any session as interrupted
    /// (SR-28); sessions that are in use are left alone.
    ///
    /// # Errors
    /// Those of the medium.
    pub fn interrupt_abandoned(&self) -> Result<Vec<(SessionId, TurnId)>, StoreError> {
        let mut interrupted = Vec::new();
        for session in self.0.read(read::sessions_with_running_turns)? {
            let writer = match self.lease(&session) {
                Ok(writer) => writer,
                Err(StoreError::SessionBusy(_)) => continue,
                Err(error) => return Err(error),
            };
            let turns = writer.interrupt_running()?;
            interrupted.extend(turns.into_iter().map(|turn| (session.clone(), turn)));
        }
        Ok(interrupted)
    }
}

impl SessionStore for SqliteStore {
    fn create(&self, session: &NewSession) -> Result<(), StoreError> {
        self.0.write(|tx| write::create(tx, session))
    }

    fn lease(&self, session: &SessionId) -> Result<Box<dyn SessionWriter>, StoreError> {
        self.session(session)?;
        let lease = Lease::take(self.0.place(), session)?;
        Ok(Box::new(SqliteWriter::new(
            Arc::clone(&self.0),
            session.clone(),
            lease,
        )))
    }

    fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        self.0.read(|tx| sessions::session(tx, session))
    }

    fn sessions(&self, skip: u64, limit: u64) -> Result<Vec<SessionSummary>, StoreError> {
        self.0.read(|tx| sessions::sessions(tx, skip, limit))
    }

    fn load(&self, session: &SessionId) -> Result<LoadedSession, StoreError> {
        self.0.read(|tx| read::load(tx, session))
    }

    fn conversation_at(
        &self,
        session: &SessionId,
        checkpoint: Option<u64>,
        through: Sequence,
    ) -> Result<Conversation, StoreError> {
        self.0
            .read(|tx| read::conversation_at(tx, session, checkpoint, through))
    }

    fn messages(
        &self,
        session: &SessionId,
        after: Sequence,
        through: Sequence,
        limit: u64,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        self.0
            .read(|tx| read::messages(tx, session, after, through, limit))
    }

    fn turns(
        &self,
        session: &SessionId,
        after: u64,
        limit: u64,
    ) -> Result<Vec<TurnRecord>, StoreError> {
        self.0.read(|tx| read::turns(tx, session, after, limit))
    }

    fn turn(&self, session: &SessionId, turn: &TurnId) -> Result<TurnRecord, StoreError> {
        self.0.read(|tx| read::turn(tx, session, turn))
    }

    fn turn_of_request(
        &self,
        session: &SessionId,
        client_request_id: &str,
    ) -> Result<Option<TurnRecord>, StoreError> {
        self.0
            .read(|tx| read::turn_of_request(tx, session, client_request_id))
    }

    fn checkpoints(&self, session: &SessionId) -> Result<Vec<Checkpoint>, StoreError> {
        self.0.read(|tx| read::checkpoints(tx, session))
    }

    fn calls(
        &self,
        session: &SessionId,
        skip: u64,
        limit: u64,
    ) -> Result<Vec<(TurnId, CallRecord)>, StoreError> {
        self.0.read(|tx| read::calls(tx, session, skip, limit))
    }

    fn count_calls(&self, session: &SessionId) -> Result<u64, StoreError> {
        self.0.read(|tx| read::count_calls(tx, session))
    }

    fn last_call(&self, session: &SessionId) -> Result<Option<(TurnId, CallRecord)>, StoreError> {
        self.0.read(|tx| read::last_call(tx, session))
    }

    fn frame(&self, digest: &Digest) -> Result<String, StoreError> {
        self.0.read(|tx| read::frame(tx, digest))
    }

    fn export(
        &self,
        session: &SessionId,
        each: &mut dyn FnMut(Value) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.read(|tx| transfer::export(tx, session, each))
    }

    fn import(
        &self,
        id: &SessionId,
        lines: &mut dyn Iterator<Item = Result<Value, StoreError>>,
    ) -> Result<(), StoreError> {
        self.0.write(|tx| transfer::import(tx, id, lines))
    }
}
