//! Composes a workspace's context window from its plugins.
//!
//! [`Host::open`] finds the workspace, its plugins and their grants;
//! [`Host::compose`] renders every enabled section, takes a World State sample
//! into an in-memory conversation and hands all three regions to the engine.
//!
//! ```no_run
//! use sectile_prompt::SampleId;
//! use sectile_registry::Dirs;
//! use sectile_sandbox::Compiler;
//! use sectile_session::{Host, HostOptions, InMemoryConversation};
//!
//! let host = Host::open(HostOptions {
//!     workspace: None,
//!     profile: None,
//!     // Foreign plugins deserve a process of their own: see `Compiler::Worker`.
//!     compiler: Compiler::InProcess,
//!     dirs: Dirs::from_environment()?,
//!     tools: Vec::new(),
//! })?;
//! let mut conversation = InMemoryConversation::default();
//! let id = SampleId { turn: "1".into(), model_call: 1, sample: 1 };
//! let composed = host.compose(&mut conversation, Some("What is this project?"), &id)?;
//! println!("{}", serde_json::to_string(&composed.call.request)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adapter;
mod compaction;
mod compose;
mod config;
mod conversation;
mod error;
mod facts;
mod host;
mod live;
mod preview;
mod provider;
mod record;
mod render;
mod replay;
mod sections;
mod session;
mod single;
mod spill;
mod tools;
mod turn;

pub use adapter::NamedAdapter;
pub use compaction::{Compacted, clear, rewind};
pub use compose::{Composition, Part};
pub use conversation::InMemoryConversation;
pub use error::SessionError;
pub use host::{Host, HostOptions, LoadedPlugin, PluginEntry, PluginState};
pub use live::{Lagged, LiveEvent, LiveUpdate, LiveUpdates, Subscription};
pub use preview::preview;
pub use render::{RenderedSection, SectionFailure};
pub use replay::{Replayed, recorded_call, replay};
pub use sections::EnabledSection;
pub use session::{Session, SessionOptions, Turn, new_session_id};
pub use single::{SingleGrant, SingleRun, run_single};
pub use tools::{
    Called, DefinitionError, Tool, ToolContext, ToolInfo, ToolOutput, ToolRequest, ToolScope,
    ToolsetError,
};
pub use turn::{Plan, PlanStep, StepStatus, TurnInput, TurnOutcome};
