//! The provider-neutral request (CE-11).

use crate::{Message, SectionSource};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One part of the system context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPart {
    /// Unique name, as in `core/agent-system`.
    pub key: String,
    /// The text.
    pub content: String,
    /// The section it renders, when the host knows; not part of a document.
    #[serde(skip)]
    pub source: Option<Arc<SectionSource>>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What the engine has to know of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCapabilities {
    /// Its name at the provider.
    pub name: String,
    /// Tokens of input and output together.
    pub context_window: u64,
    /// Tokens it may answer with.
    pub max_output_tokens: u64,
    /// Tokens it may think with besides.
    #[serde(default)]
    pub max_reasoning_tokens: u64,
    /// Whether it takes images and other data blocks.
    pub accepts_data: bool,
}

/// What is sent, before a provider's adapter encodes it. Sampling parameters
/// are the provider's unless the caller set them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRequest {
    /// Name of the model.
    pub model: String,
    /// The system context, in the caller's order (CE-5).
    pub system: Vec<SystemPart>,
    /// The request copy of the conversation.
    pub messages: Vec<Arc<Message>>,
    /// The advertised tools.
    pub tools: Vec<ToolDefinition>,
    /// Tokens the model may answer with.
    pub max_output_tokens: u64,
}
