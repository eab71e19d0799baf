//! Composes a workspace's context window from its plugins.
//!
//! [`Host::open`] finds the workspace, its plugins and their grants;
//! [`Host::compose`] renders every enabled section, takes a World State sample
//! into an in-memory conversation and hands all three regions to the engine.

mod compose;
mod config;
mod conversation;
mod error;
mod facts;
mod host;
mod render;
mod sections;
mod single;

pub use compose::{Composition, Part};
pub use conversation::InMemoryConversation;
pub use error::SessionError;
pub use host::{Host, HostOptions, PluginEntry, PluginState};
pub use render::{RenderedSection, SectionFailure};
pub use sections::EnabledSection;
pub use single::{SingleGrant, SingleRun, run_single};
