//! Why a compaction is not installed.

use crate::EngineError;

/// Why a compaction is not installed. Nothing has changed then (CP-5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompactionError {
    /// CP-4.
    #[error("the conversation has no request of its user that could be shown again")]
    MissingLastUser,
    /// CP-7a.
    #[error("compacting would not make the conversation smaller: {before} tokens would be {after}")]
    NoProgress {
        /// The estimate now.
        before: u64,
        /// The estimate it would have.
        after: u64,
    },
    /// CP-7a: not even the instruction fits beside what must be kept.
    #[error("the model's window has no room for a summary's request")]
    NoRoom,
    /// CP-12: an answer that is no summary; it is never repaired.
    #[error("the model's answer is not a summary: {0}")]
    InvalidSummary(String),
    /// The engine refuses the conversation.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl CompactionError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingLastUser => "missing_last_user",
            Self::NoProgress { .. } => "no_progress",
            Self::NoRoom => "no_room",
            Self::InvalidSummary(_) => "invalid_summary",
            Self::Engine(error) => error.code(),
        }
    }
}
