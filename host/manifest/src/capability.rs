//! What a plugin asks for beyond computing.

use crate::quantity::ByteSize;
use crate::text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU16;

/// Everything a plugin asks for; nothing by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityRequests {
    /// Directories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filesystem: Vec<DirectoryRequest>,
    /// Hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkRequest>,
    /// Secrets, injected by the host and never seen by the guest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret: Vec<SecretRequest>,
    /// Environment variables, by name.
    #[serde(
        default,
        deserialize_with = "text::variables",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub environment: Vec<String>,
    /// The wall clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock: bool,
    /// True randomness.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random: bool,
    /// A store of its own, up to this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv: Option<ByteSize>,
}

/// A directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectoryRequest {
    /// Where the guest sees it: absolute, without `.` and `..`.
    #[serde(deserialize_with = "text::guest_path")]
    pub mount: String,
    /// Which directory of the host.
    pub source: DirectorySource,
    /// What for.
    pub access: DirectoryAccess,
    /// Globs under the mount; none means every file.
    #[serde(
        default,
        deserialize_with = "text::globs",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub paths: Vec<String>,
    /// Why, in the author's words, for whoever grants it.
    #[serde(deserialize_with = "text::one_line")]
    pub reason: String,
}

/// What a directory is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryAccess {
    /// Listing it.
    List,
    /// Reading files in it.
    Read,
    /// Changing files in it.
    ReadWrite,
}

/// A directory of the host, by its part in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum DirectorySource {
    /// The working directory.
    Workspace,
    /// The repository around it.
    Repository,
    /// The skill roots; one mount each.
    Skills,
    /// Shared documents.
    Library,
    /// The plugin's own data.
    Data,
    /// A directory that the operator names in the configuration.
    Config(String),
}

impl fmt::Display for DirectorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workspace => "workspace",
            Self::Repository => "repository",
            Self::Skills => "skills",
            Self::Library => "library",
            Self::Data => "data",
            Self::Config(name) => return write!(f, "config:{name}"),
        })
    }
}

impl From<DirectorySource> for String {
    fn from(source: DirectorySource) -> Self {
        source.to_string()
    }
}

impl TryFrom<String> for DirectorySource {
    type Error = String;

    fn try_from(source: String) -> Result<Self, String> {
        Ok(match source.as_str() {
            "workspace" => Self::Workspace,
            "repository" => Self::Repository,
            "skills" => Self::Skills,
            "library" => Self::Library,
            "data" => Self::Data,
            other => match other.strip_prefix("config:") {
                Some(name) if text::is_slug(name) => Self::Config(name.to_owned()),
                _ => {
                    return Err(format!(
                        "`{}` is no source; use workspace, repository, skills, library, data or config:NAME",
                        other.escape_debug()
                    ));
                }
            },
        })
    }
}

/// A host on the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRequest {
    /// Exact, or `*.example.com`.
    #[serde(deserialize_with = "text::host_pattern")]
    pub host: String,
    /// 443 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<NonZeroU16>,
    /// Every method when absent.
    #[serde(
        default,
        deserialize_with = "text::methods",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub methods: Vec<String>,
    /// Why.
    #[serde(deserialize_with = "text::one_line")]
    pub reason: String,
}

/// A secret that the host puts into a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRequest {
    /// Its name with the operator.
    #[serde(deserialize_with = "text::secret_name")]
    pub name: String,
    /// The header.
    #[serde(deserialize_with = "text::header")]
    pub header: String,
    /// The header's value, with `{}` for the secret.
    #[serde(deserialize_with = "text::secret_format")]
    pub format: String,
    /// The only host it is sent to.
    #[serde(deserialize_with = "text::host")]
    pub host: String,
    /// Why.
    #[serde(deserialize_with = "text::one_line")]
    pub reason: String,
}
