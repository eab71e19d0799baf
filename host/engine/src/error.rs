//! Why no request could be prepared.

use serde_json::{Map, Value, json};

/// Why no request could be prepared. Code, message and [`EngineError::fields`]
/// make up the form that leaves through the command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A document that does not parse or has a field too many.
    #[error("the context document is not valid: {0}")]
    InvalidDocument(String),
    /// A document of another format.
    #[error("the document's format is `{found}`; this program reads `{expected}`")]
    UnknownFormat {
        /// What it says.
        found: String,
        /// What it should say.
        expected: &'static str,
    },
    /// CE-4.
    #[error("a system part has an empty key; give every part a name")]
    EmptySystemKey,
    /// CE-4.
    #[error("two system parts have the key `{key}`; keys are unique")]
    DuplicateSystemKey {
        /// The key.
        key: String,
    },
    /// CE-4.
    #[error("the system part `{key}` is empty; leave it out instead")]
    EmptySystemContent {
        /// The key.
        key: String,
    },
    /// CE-4, CE-17.
    #[error(
        "the system part `{key}` has about {tokens} tokens; at most {limit} are allowed, and it is never cut"
    )]
    SystemPartTooLarge {
        /// The key.
        key: String,
        /// Its estimate.
        tokens: u64,
        /// The ceiling.
        limit: u64,
    },
    /// CE-10.
    #[error(
        "item {item_index} of the conversation is a system message; system text belongs into a system part"
    )]
    SystemMessageInConversation {
        /// Position in the conversation.
        item_index: usize,
    },
    /// CE-9.
    #[error(
        "item {item_index} is a user request with a data block, and the model accepts none; choose another model or remove it"
    )]
    UnsupportedUserData {
        /// Position in the conversation.
        item_index: usize,
    },
    /// CE-15.
    #[error(
        "the model leaves no room for input: its window of {context_window} tokens is taken by output and reasoning"
    )]
    InvalidModelLimits {
        /// Tokens of the window.
        context_window: u64,
    },
}

impl EngineError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidDocument(_) => "invalid_document",
            Self::UnknownFormat { .. } => "unknown_format",
            Self::EmptySystemKey => "empty_system_key",
            Self::DuplicateSystemKey { .. } => "duplicate_system_key",
            Self::EmptySystemContent { .. } => "empty_system_content",
            Self::SystemPartTooLarge { .. } => "system_part_too_large",
            Self::SystemMessageInConversation { .. } => "system_message_in_conversation",
            Self::UnsupportedUserData { .. } => "unsupported_user_data",
            Self::InvalidModelLimits { .. } => "invalid_model_limits",
        }
    }

    /// The error's own fields.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        let fields = match self {
            Self::InvalidDocument(_) | Self::EmptySystemKey | Self::InvalidModelLimits { .. } => {
                json!({})
            }
            Self::UnknownFormat { found, expected } => {
                json!({"found": found, "expected": expected})
            }
            Self::DuplicateSystemKey { key } | Self::EmptySystemContent { key } => {
                json!({"key": key})
            }
            Self::SystemPartTooLarge { key, tokens, limit } => {
                json!({"key": key, "tokens": tokens, "limit": limit})
            }
            Self::SystemMessageInConversation { item_index }
            | Self::UnsupportedUserData { item_index } => {
                json!({"item_index": item_index})
            }
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}
