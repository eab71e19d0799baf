//! What cannot be part of a conversation (SR-3).

/// What cannot be part of a conversation (SR-3).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// A stored conversation holds one.
    #[error("item {index} of the stored conversation is a system message")]
    PersistedSystemMessage {
        /// Its place.
        index: usize,
    },
    /// System text belongs into the system context.
    #[error("a system message cannot be appended to a conversation")]
    SystemMessage,
    /// Nothing waits for this result.
    #[error("the tool result for call `{call_id}` answers no open call")]
    UnmatchedToolResult {
        /// The call that it names.
        call_id: String,
    },
    /// One message calls twice under one id.
    #[error("the call id `{call_id}` occurs twice in one message")]
    DuplicateToolCall {
        /// The id.
        call_id: String,
    },
    /// The thread that owns the conversation is gone.
    #[error("the conversation is gone; open the session again")]
    Gone,
}

impl ChatError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::PersistedSystemMessage { .. } => "persisted_system_message",
            Self::SystemMessage => "system_message",
            Self::UnmatchedToolResult { .. } => "unmatched_tool_result",
            Self::DuplicateToolCall { .. } => "duplicate_tool_call",
            Self::Gone => "chat_state_error",
        }
    }
}
