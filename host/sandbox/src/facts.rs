//! What the host tells a section: the contract's `facts`, as plain data.

use std::sync::Arc;

/// Where the session works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Host path, as text for prose.
    pub working_directory: String,
    /// Nearest ancestor with a `.git` entry, as text for prose.
    pub repository_root: Option<String>,
}

/// The model that will read the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// Name of the provider.
    pub provider: String,
    /// Name of the model.
    pub name: String,
    /// Tokens of its window.
    pub context_window: u32,
    /// Tokens it may answer with.
    pub max_output_tokens: u32,
}

/// What the session may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// `auto` or `accept-edits`.
    pub mode: String,
    /// Whether a file tool may change files inside the workspace.
    pub file_tools_write: bool,
    /// `available`, or `unavailable: ` and the reason.
    pub process_execution: String,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            mode: "auto".to_owned(),
            file_tools_write: false,
            process_execution: "unavailable: no tool offers it".to_owned(),
        }
    }
}

/// The machine the host runs on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Platform {
    /// `linux`, `macos` …
    pub os: String,
    /// Its version, empty when unknown.
    pub os_version: String,
    /// `x86_64`, `aarch64` …
    pub arch: String,
    /// The user's shell.
    pub shell: Option<String>,
}

/// The time of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// Seconds since the epoch.
    pub unix_seconds: u64,
    /// `YYYY-MM-DD` where the user is.
    pub local_date: String,
    /// `HH:MM:SS` where the user is.
    pub local_time: String,
    /// Name of the time zone.
    pub time_zone: String,
}

impl Default for Clock {
    /// The epoch: what a plugin sees without the `clock` capability.
    fn default() -> Self {
        Self {
            unix_seconds: 0,
            local_date: "1970-01-01".to_owned(),
            local_time: "00:00:00".to_owned(),
            time_zone: "UTC".to_owned(),
        }
    }
}

/// One advertised tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSummary {
    /// Its name in the request.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The plugin it comes from.
    pub plugin: String,
    /// Whether the model has to find it first.
    pub deferred: bool,
}

/// The agent that is running.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Model calls one turn may make.
    pub max_model_calls: u32,
    /// Seconds one tool call may take.
    pub tool_timeout_seconds: u32,
    /// Whether another agent started it.
    pub is_sub_agent: bool,
}

/// Where a request came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// `cli`, `api` …
    pub source: String,
    /// Name of the client program.
    pub client: Option<String>,
    /// Channel of a chat service.
    pub channel: Option<String>,
    /// What the client can display.
    pub display_contract: Option<String>,
}

/// Everything a section may render from, besides its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Where the session works.
    pub workspace: Workspace,
    /// The model that will read the request.
    pub model: Model,
    /// The machine the host runs on.
    pub platform: Platform,
    /// The advertised tools, in their order.
    pub tools: Arc<[ToolSummary]>,
    /// The time of this sample; only plugins with the `clock` capability see it.
    pub clock: Clock,
    /// The agent that is running.
    pub agent: Agent,
    /// Where the request came from.
    pub request: Request,
    /// What the session may do.
    pub policy: Policy,
    /// Name of the agent's profile.
    pub profile: String,
    /// BCP 47 tag for fixed texts.
    pub locale: String,
    /// The user request that is being answered.
    pub query: Option<String>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            workspace: Workspace::default(),
            model: Model::default(),
            platform: Platform::default(),
            tools: Arc::default(),
            clock: Clock::default(),
            agent: Agent::default(),
            request: Request::default(),
            policy: Policy::default(),
            profile: "default".to_owned(),
            locale: "en".to_owned(),
            query: None,
        }
    }
}
