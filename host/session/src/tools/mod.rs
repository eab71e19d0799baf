//! The tools of a session: what they are, who runs them, and what keeps a call
//! and its result in bounds.

mod arguments;
mod call;
mod deferral;
mod definition;
mod output;
mod search;
mod surface;
mod toolset;
mod values;

pub use call::{Called, ToolRequest, ToolScope};
pub use definition::DefinitionError;
pub use output::ToolOutput;
pub use toolset::{ToolInfo, ToolsetError};

pub(crate) use call::{Around, ToolMemory};
pub(crate) use definition::{FIRST_PARTY, PluginTool, check, definitions_digest};
pub(crate) use search::Search;
pub(crate) use surface::Surface;
pub(crate) use toolset::{Dispatch, Toolset};
pub(crate) use values::OwnValues;

use sectile_model::ToolDefinition;
use sectile_sandbox::{CancelToken, Effects};
use serde_json::Value;

/// A tool of the program that embeds the host.
pub trait Tool: Send + Sync {
    /// How the model sees it; the same for the life of the session.
    fn definition(&self) -> ToolDefinition;

    /// What it does to the world.
    fn effects(&self) -> Effects {
        Effects::default()
    }

    /// Runs one call, whose `input` fits the definition's schema (SR-43). The
    /// conversation waits; watch `context.cancel`.
    fn call(&self, input: &Value, context: &ToolContext<'_>) -> ToolOutput;
}

/// What a tool is told of a call.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    /// The session.
    pub session: &'a str,
    /// The call's id, unique in its message.
    pub call_id: &'a str,
    /// Set when the turn is cancelled.
    pub cancel: &'a CancelToken,
}
