//! Neutral data of Sectile: messages, requests, names and digests.
//!
//! Nothing in here reads, writes or decides. The JSON forms are those of the
//! documents `sectile.context/1` and `sectile.prepared/1`: lower snake case,
//! unknown fields refused, absent options not printed.

mod block;
mod digest;
mod item;
mod name;
mod provider;
mod request;

pub use block::{
    Block, BlockKind, CallInput, Data, DataSource, Message, ProviderState, ResultBlock,
    ResultStatus, Role, Thinking, ToolCall, ToolResult,
};
pub use digest::{Digest, DigestError};
pub use item::{Conversation, Item, MessageKind, Origin, SectionSource, Sequence, SyntheticReason};
pub use name::{NameError, PluginId, SectionId, Tag, ToolName};
pub use provider::{
    CacheMarks, Diagnostic, DiagnosticAction, EncodedRequest, ErrorClass, FinishReason, Finished,
    HttpRequest, Intents, ProviderCapabilities, ProviderError, ProviderEvent, ProviderRequest,
    Retry, ThinkingIntent, ToolChoice, Usage,
};
pub use request::{ModelCapabilities, ModelRequest, SystemPart, ToolDefinition};
