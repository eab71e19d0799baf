//! What can be wrong with a workspace, its plugins and the operator's files.

use std::path::PathBuf;

/// What can be wrong with a workspace, its plugins and the operator's files.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A file could not be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A configuration file does not parse or breaks a rule.
    #[error("{} is not valid: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where there is one.
        why: String,
    },
    /// The user's directories are not known.
    #[error("the user's directories are not known: {0}; set HOME")]
    NoHome(String),
    /// A component has no manifest or a broken one.
    #[error("{what}: {why}")]
    Component {
        /// Which one.
        what: String,
        /// What is wrong.
        why: sectile_manifest::EmbedError,
    },
    /// The component is not the one that the workspace proposes.
    #[error("{what} is not what sectile.toml says: {why}")]
    Mismatch {
        /// Which one.
        what: String,
        /// What differs.
        why: String,
    },
    /// PL-12a: it asks for something that this host cannot enforce.
    #[error(
        "the plugin {plugin} asks for {what}, which this host cannot enforce; it is not loaded"
    )]
    UnsupportedCapability {
        /// The plugin.
        plugin: String,
        /// What it asks for.
        what: String,
    },
    /// A grant could not be set up.
    #[error("the grant of {plugin} cannot be set up: {why}")]
    Grant {
        /// The plugin.
        plugin: String,
        /// The reason.
        why: String,
    },
    /// No provider was chosen.
    #[error(
        "no provider is chosen; name one with --provider, or put `provider = \"NAME\"` into config.toml; there are {known}"
    )]
    NoProvider {
        /// The names there are.
        known: String,
    },
    /// No provider has this name.
    #[error("there is no provider `{name}`; there are {known}, and config.toml can add more")]
    UnknownProvider {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A provider of the operator's own lacks something.
    #[error(
        "the provider {name} has no `{field}`; config.toml has to give it under [providers.{name}]"
    )]
    IncompleteProvider {
        /// The provider.
        name: String,
        /// What it lacks.
        field: &'static str,
    },
}

impl RegistryError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "file_error",
            Self::Invalid { .. } => "invalid_configuration",
            Self::NoHome(_) => "no_home",
            Self::Component { why, .. } => why.code(),
            Self::Mismatch { .. } => "plugin_mismatch",
            Self::UnsupportedCapability { .. } => "unsupported_capability",
            Self::Grant { .. } => "grant_error",
            Self::NoProvider { .. } => "no_provider",
            Self::UnknownProvider { .. } => "unknown_provider",
            Self::IncompleteProvider { .. } => "incomplete_provider",
        }
    }
}
