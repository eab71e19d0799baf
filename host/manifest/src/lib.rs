//! The plugin manifest: `plugin.toml`, and the custom section that carries it
//! inside a component (PL-1).
//!
//! It says what a plugin is and what it asks for. What it gets is decided
//! elsewhere, and before any of its code runs.

mod capability;
mod checks;
mod embed;
mod manifest;
mod quantity;
mod text;

pub use capability::{
    CapabilityRequests, DirectoryAccess, DirectoryRequest, DirectorySource, NetworkRequest,
    SecretRequest,
};
pub use embed::{EmbedError, SECTION_NAME, embed, extract};
pub use manifest::{
    CachePolicy, LimitRequests, Manifest, ManifestError, Notices, Placement, PluginInfo,
    SectionRequest, ToolRequest,
};
pub use quantity::{ByteSize, Span};

#[cfg(test)]
mod tests;
