//! Why a compaction is not installed.

use crate::EngineError;
use sectile_model::FinishReason;

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
    InvalidSummary(#[from] SummaryFault),
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

/// What is wrong with an answer that should be a summary (CP-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFault {
    /// It was cut, held back, or is something else.
    #[error("it ended with {0:?} and not by itself")]
    Finish(FinishReason),
    /// It calls a tool.
    #[error("it calls a tool, and a summary's request has none")]
    ToolCall,
    /// Something stands before the root, or there is none.
    #[error("it does not begin with <conversation_summary format_version=\"1\">")]
    Beginning,
    /// Something stands after the root, or it is not closed.
    #[error("it does not end with </conversation_summary>")]
    End,
    /// A tag that steers a model.
    #[error("it holds the tag <{0}>; the name may stand there without angle brackets")]
    ControlTag(&'static str),
    /// A heading that is missing, repeated or out of order.
    #[error("the heading `{0}` is missing, repeated or out of order")]
    Heading(&'static str),
    /// Less than a summary of so much must have.
    #[error(
        "it has {characters} characters; for an input of {input_tokens} tokens at least {least} are expected"
    )]
    TooShort {
        /// Its characters.
        characters: usize,
        /// The least.
        least: usize,
        /// Estimated tokens of what it summarises.
        input_tokens: u64,
    },
}
