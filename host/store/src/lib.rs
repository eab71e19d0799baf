//! Where sessions are kept: turns, messages, plans, checkpoints and the record
//! of every model call; and what plugins keep and did.
//!
//! [`SessionStore`], [`PluginValues`] and [`AuditLog`] are what the runtime sees;
//! [`SqliteStore`] keeps it all in one file of the workspace. What a method has returned is on the disk; what was
//! not returned leaves no trace (SR-11). Writing needs a lease, which one
//! process at a time holds for a session; reading is never blocked.
//!
//! ```
//! use sectile_store::{NewSession, SessionStore, SqliteStore};
//!
//! let workspace = tempfile::tempdir()?;
//! let store = SqliteStore::open(workspace.path())?;
//! let session = NewSession { id: "s-1".parse()?, created_ms: 0, parent: None, about: serde_json::json!({}) };
//! store.create(&session)?;
//! let writer = store.lease(&session.id)?;
//! assert!(writer.load()?.conversation.items.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api;
mod audit;
mod checkpoint;
mod error;
mod id;
mod queue;
mod record;
mod sqlite;
mod values;

pub use api::{SessionStore, SessionWriter};
pub use audit::{AuditFilter, AuditLog, AuditRow};
pub use error::StoreError;
pub use id::{IdError, SessionId, TurnId};
pub use queue::QueuedAudit;
pub use record::{
    Append, CallRecord, Checkpoint, CheckpointKind, LoadedSession, NewCheckpoint, NewMessage,
    NewSession, NewTurn, SessionRecord, SessionSummary, StartedTurn, StoredMessage, TurnRecord,
    TurnStatus,
};
pub use sqlite::SqliteStore;
pub use values::PluginValues;

/// All that a workspace keeps.
pub trait WorkspaceStore: SessionStore + PluginValues + AuditLog {}

impl<T: SessionStore + PluginValues + AuditLog> WorkspaceStore for T {}
