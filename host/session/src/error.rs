//! Why a context window could not be composed.

use sectile_engine::EngineError;
use sectile_prompt::{MarkerError, NoticeError, ProfileError, WorldStateError};
use sectile_registry::RegistryError;
use sectile_sandbox::SandboxError;

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
            Self::WorldState(error) => error.code(),
            Self::Notice { why, .. } => why.code(),
            Self::Marker(error) => error.code(),
            Self::Section { code, .. } => code,
            Self::UnknownSection(_) => "unknown_section",
            Self::UnknownPlugin(_) => "unknown_plugin",
            Self::ApprovalRequired { .. } => "approval_required",
            Self::Disabled(_) => "plugin_disabled",
            Self::Engine(error) => error.code(),
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
