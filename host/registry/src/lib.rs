//! Decides which plugin runs in a workspace, and with which grants.
//!
//! A workspace proposes plugins in `sectile.toml` and pins them in
//! `sectile.lock`; neither grants anything (PL-12). Grants are the operator's:
//! they lie in the user's data directory and name a workspace, a digest and
//! what was granted. Bundled plugins need none (PL-18).

mod candidate;
mod capabilities;
mod dirs;
mod error;
mod files;
mod grants;
mod lock;
mod operator;
mod provider;
mod source_file;
mod workspace;

pub use candidate::{Candidate, Source, Standing, candidates, read_component};
pub use capabilities::{Places, adapter_limits, capabilities, describe, limits, tool_limits};
pub use dirs::Dirs;
pub use error::RegistryError;
pub use files::deciding_files;
pub use grants::{Granted, Grants};
pub use lock::{Lock, LockedPlugin};
pub use operator::{Mode, Operator, ToolChoices};
pub use provider::{Provider, ProviderEntry, SecretPlace};
pub use workspace::{ErrorPolicy, ProposedPlugin, Workspace, WorkspaceFile};
