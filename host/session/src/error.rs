//! Why a context window could not be composed.

use crate::tools::{DefinitionError, ToolsetError};
use sectile_chat::ChatError;
use sectile_engine::EngineError;
use sectile_engine::compaction::CompactionError;
use sectile_model::ProviderError;
use sectile_prompt::{MarkerError, NoticeError, ProfileError, WorldStateError};
use sectile_registry::RegistryError;
use sectile_sandbox::SandboxError;
use sectile_store::{IdError, SessionId, StoreError, TurnId};
use sectile_transport::TransportError;

/// Why a context window could not be composed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The workspace, its plugins or the operator's files.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The sandbox itself, or a component.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The definitions of a plugin's tools.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// Two sections cannot live together.
    #[error(transparent)]
    WorldState(#[from] WorldStateError),
    /// A notice of a plugin's manifest is malformed.
    #[error("the plugin {plugin} is not valid: {why}")]
    Notice {
        /// The plugin.
        plugin: String,
        /// What is wrong.
        why: NoticeError,
    },
    /// A section in the system context has a malformed marker.
    #[error(transparent)]
    Marker(#[from] MarkerError),
    /// A section failed, so no model may be called (WS-5).
    #[error("section {section} failed: {reason}")]
    Section {
        /// The section.
        section: String,
        /// Its code (WS-5).
        code: String,
        /// What is wrong, one line.
        reason: String,
        /// Code of the cause.
        cause: &'static str,
    },
    /// There is no such section.
    #[error("there is no section `{0}`; `sectile section list` shows those there are")]
    UnknownSection(String),
    /// There is no such tool of a plugin.
    #[error("no plugin offers a tool `{0}`; `sectile tool list` shows those there are")]
    UnknownTool(String),
    /// There is no such plugin.
    #[error("there is no plugin `{0}`; `sectile plugin list` shows those there are")]
    UnknownPlugin(String),
    /// PL-10, PL-11.
    #[error(
        "the plugin {plugin} has to be approved first: {why}; run `sectile plugin approve {plugin}`"
    )]
    ApprovalRequired {
        /// The plugin.
        plugin: String,
        /// Why.
        why: String,
    },
    /// It is switched off.
    #[error("the plugin {0} is disabled in sectile.toml")]
    Disabled(String),
    /// The engine refused the regions.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The conversation's own rules.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The tools cannot stand together.
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
    /// An id that is none.
    #[error(transparent)]
    Id(#[from] IdError),
    /// SR-20.
    #[error("a turn needs at least one text that is not blank")]
    EmptyInput,
    /// SR-20.
    #[error("a user's request is made of texts and data blocks")]
    UnsupportedInput,
    /// SR-20: the turn does not start.
    #[error("the skill `{skill}` cannot be used: {why}")]
    SkillUnavailable {
        /// The skill.
        skill: String,
        /// Why.
        why: String,
    },
    /// CE-17: the turn does not start.
    #[error(
        "the skill `{skill}` has about {tokens} tokens; below {limit} are allowed, and it is never cut"
    )]
    SkillTooLarge {
        /// The skill.
        skill: String,
        /// Its estimate.
        tokens: u64,
        /// The ceiling.
        limit: u64,
    },
    /// SR-20: turns are never queued.
    #[error("turn {0} is still running; wait for it or cancel it")]
    Busy(TurnId),
    /// No model was named.
    #[error(
        "no model is named for {provider}; use --model, or put `model = \"NAME\"` under [providers.{provider}] in config.toml"
    )]
    NoModel {
        /// The provider.
        provider: String,
    },
    /// CP-5: only an idle session is compacted by hand.
    #[error("a turn of this session is running; wait for it or cancel it")]
    Active,
    /// Somebody cancelled it.
    #[error("it was cancelled")]
    Cancelled,
    /// A compaction that cannot be installed.
    #[error(transparent)]
    Compaction(#[from] CompactionError),
    /// CP-13.
    #[error("no summary after {attempts} attempts; the last one: {last}")]
    SummaryRetriesExhausted {
        /// Times that it was asked for.
        attempts: u32,
        /// Why the last one is none.
        last: Box<SessionError>,
    },
    /// The thread of a turn is gone.
    #[error("the turn crashed; this is a fault of the program")]
    Crashed,
    /// Whoever read the output is gone.
    #[error("the output cannot be written any more")]
    OutputClosed,
    /// The network, before anything was sent.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// There is no such recorded call.
    #[error("session `{session}` has no recorded model call {number}")]
    UnknownCall {
        /// The session.
        session: SessionId,
        /// The number.
        number: u64,
    },
    /// The provider, asked outside of a turn.
    #[error("{} ({})", .0.message, .0.class.name())]
    Provider(#[from] ProviderError),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Randomness(String),
    /// A grant on the command line is not one.
    #[error(
        "`{0}` is not a grant; use list:DIR=/MOUNT, read:DIR=/MOUNT, read-write:DIR=/MOUNT, env:NAME, clock or random"
    )]
    InvalidGrant(String),
}

impl SessionError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Registry(error) => error.code(),
            Self::Profile(error) => error.code(),
            Self::Sandbox(error) => error.code(),
            Self::Definition(error) => error.code(),
            Self::WorldState(error) => error.code(),
            Self::Notice { why, .. } => why.code(),
            Self::Marker(error) => error.code(),
            Self::Section { code, .. } => code,
            Self::UnknownSection(_) => "unknown_section",
            Self::UnknownTool(_) => "unknown_tool",
            Self::UnknownPlugin(_) => "unknown_plugin",
            Self::ApprovalRequired { .. } => "approval_required",
            Self::Disabled(_) => "plugin_disabled",
            Self::Engine(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Chat(error) => error.code(),
            Self::Toolset(error) => error.code(),
            Self::Id(_) => "invalid_id",
            Self::EmptyInput => "empty_input",
            Self::UnsupportedInput => "unsupported_input",
            Self::SkillUnavailable { .. } => "skill_unavailable",
            Self::SkillTooLarge { .. } => "skill_too_large",
            Self::Busy(_) => "busy_turn",
            Self::NoModel { .. } => "no_model",
            Self::UnknownCall { .. } => "unknown_call",
            Self::Active => "session_active",
            Self::Cancelled => "cancelled",
            Self::Compaction(error) => error.code(),
            Self::SummaryRetriesExhausted { .. } => "summary_retries_exhausted",
            Self::Crashed => "crashed",
            Self::OutputClosed => "output_closed",
            Self::Transport(error) => error.code(),
            Self::Provider(error) => error.class.name(),
            Self::Randomness(_) => "no_randomness",
            Self::InvalidGrant(_) => "invalid_grant",
        }
    }

    /// Whether a ceiling or a refusal of the sandbox is behind it.
    #[must_use]
    pub fn is_sandbox_refusal(&self) -> bool {
        let refusal = |code: &str| {
            matches!(
                code,
                "limit_exceeded"
                    | "compile_refused"
                    | "compile_stopped"
                    | "unknown_import"
                    | "unsupported_capability"
                    | "denied"
                    | "busy"
            )
        };
        match self {
            Self::Section { cause, .. } => refusal(cause),
            other => refusal(other.code()),
        }
    }
}
