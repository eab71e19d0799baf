//! One call: what it may use, what came of it.

use crate::cancel::CancelToken;
use crate::error::SandboxError;
use crate::facts::Facts;
use crate::files::Mount;
use crate::limits::Limits;
use crate::log::LogLine;
use crate::services::Services;
use crate::usage::{FileUse, Refusal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A directory of a grant.
#[derive(Debug, Clone)]
pub enum GrantedDirectory {
    /// Open, and preopened for the guest.
    Open(Arc<Mount>),
    /// Granted and there, but it cannot be opened; the guest is told.
    Broken {
        /// The manifest's name for it.
        source: String,
        /// Where it lies on the host.
        host_path: PathBuf,
        /// Why it cannot be opened.
        problem: String,
    },
}

/// What a plugin was granted. The default grants nothing (PL-10).
#[derive(Debug, Clone, Default)]
pub struct Capabilities {
    /// Directories, in the operator's order.
    pub directories: Vec<GrantedDirectory>,
    /// Environment variables, by name and value.
    pub environment: Vec<(String, String)>,
    /// The real wall clock; without it time stands still at the epoch.
    pub clock: bool,
    /// The system's randomness; without it one fixed stream.
    pub random: bool,
}

/// Everything one call gets. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// What it may reach.
    pub capabilities: Arc<Capabilities>,
    /// What it may use.
    pub limits: Limits,
    /// What it is told.
    pub facts: Arc<Facts>,
    /// The operator's configuration of the plugin, a JSON object; empty means `{}`.
    pub config: String,
    /// What the host does for it meanwhile.
    pub services: Services,
    /// Ends it early.
    pub cancel: CancelToken,
}

/// What came of one call, succeeded or not.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The result.
    pub result: Result<T, SandboxError>,
    /// What the guest said and did on the way.
    pub report: CallReport,
}

/// What a guest said and did during one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallReport {
    /// Wall time from the request to the result, waiting for a slot included.
    pub elapsed: Duration,
    /// Calls into the host.
    pub host_calls: u64,
    /// Bytes of linear memory.
    pub memory: usize,
    /// Kept log lines.
    pub log: Vec<LogLine>,
    /// Log lines beyond the limit.
    pub suppressed_log_lines: u64,
    /// Granted paths that were used.
    pub uses: Vec<FileUse>,
    /// What was asked for and refused.
    pub refusals: Vec<Refusal>,
}
