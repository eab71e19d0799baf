//! Why something could not be stored or read.

use crate::id::{SessionId, TurnId};
use sectile_model::PluginId;
use std::path::PathBuf;

/// Why something could not be stored or read. Nothing was stored then.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session `{0}`; `sectile session list` shows those there are")]
    UnknownSession(SessionId),
    /// A session of this id is there already.
    #[error("there is a session `{0}` already")]
    SessionExists(SessionId),
    /// There is no such turn.
    #[error("session `{session}` has no turn `{turn}`")]
    UnknownTurn {
        /// The session.
        session: SessionId,
        /// The turn.
        turn: TurnId,
    },
    /// A turn of this id is there already.
    #[error("session `{session}` has a turn `{turn}` already, of another request")]
    TurnExists {
        /// The session.
        session: SessionId,
        /// The turn.
        turn: TurnId,
    },
    /// A checkpoint of no turn waits until no turn runs (CP-5).
    #[error("turn `{0}` is running; wait for its end")]
    SessionActive(TurnId),
    /// A checkpoint contradicts what is stored.
    #[error("the checkpoint cannot be installed: {0}")]
    InvalidCheckpoint(&'static str),
    /// There is no such checkpoint.
    #[error("session `{session}` has no checkpoint {number}")]
    UnknownCheckpoint {
        /// The session.
        session: SessionId,
        /// Its number.
        number: u64,
    },
    /// Somebody else writes to the session (SR-11).
    #[error("session `{0}` is in use by another process; wait for it, or begin another session")]
    SessionBusy(SessionId),
    /// A turn that has ended takes no more messages.
    #[error("turn `{0}` has ended")]
    TurnEnded(TurnId),
    /// A plugin would keep more than it was granted.
    #[error("the plugin {plugin} would keep more than the {quota} bytes that it was granted")]
    Quota {
        /// The plugin.
        plugin: PluginId,
        /// What it was granted, in bytes.
        quota: u64,
    },
    /// The disk is full.
    #[error("{}: the disk is full; nothing of this was stored", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The file system failed.
    #[error("{}: {why}; nothing of this was stored", path.display())]
    Io {
        /// What could not be read or written.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// One row would be larger than the store takes.
    #[error("{}: this is too large to be stored; nothing of it was", path.display())]
    TooLarge {
        /// The database.
        path: PathBuf,
    },
    /// Another process held the database for too long.
    #[error("{}: another process holds the database for too long", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// It may be read and not written.
    #[error("{}: the database cannot be written here; check the permissions", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// The file is damaged. It is left as it is.
    #[error("{}: the database is damaged: {why}; it was left as it is, keep a copy of it", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A newer program made it.
    #[error("{}: the database has schema {found}, and this program knows {known}; use a newer program", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that is known.
        known: i64,
    },
    /// Another program made it, or somebody changed its schema (D8).
    #[error("{}: this is not a database of this program: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is odd.
        why: String,
    },
    /// An imported session breaks a rule.
    #[error("line {line} of the session cannot be imported: {why}")]
    Import {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

impl StoreError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownSession(_) => "unknown_session",
            Self::SessionExists(_) => "session_exists",
            Self::UnknownTurn { .. } => "unknown_turn",
            Self::TurnExists { .. } => "turn_exists",
            Self::SessionActive(_) => "session_active",
            Self::InvalidCheckpoint(_) => "invalid_checkpoint",
            Self::UnknownCheckpoint { .. } => "unknown_checkpoint",
            Self::SessionBusy(_) => "session_busy",
            Self::TurnEnded(_) => "turn_ended",
            Self::Quota { .. } => "quota_exceeded",
            Self::Full { .. } => "store_full",
            Self::Io { .. } => "store_io",
            Self::TooLarge { .. } => "store_too_large",
            Self::Busy { .. } => "store_busy",
            Self::ReadOnly { .. } => "store_read_only",
            Self::Corrupt { .. } => "store_corrupt",
            Self::Newer { .. } => "store_newer",
            Self::Foreign { .. } => "store_foreign",
            Self::Import { .. } => "invalid_import",
        }
    }
}
