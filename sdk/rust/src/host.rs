//! What the host tells every plugin; none of it grants anything.

pub use crate::bindings::sectile::plugin::host::{Access, Mount};
pub use crate::bindings::sectile::plugin::types::LogLevel;

use crate::bindings::sectile::plugin::host;

/// Writes a line to the host's log, which bounds lines and their number.
pub fn log(level: LogLevel, message: &str) {
    host::log(level, message);
}

/// The operator's configuration of this plugin: one JSON object.
#[must_use]
pub fn config() -> String {
    host::config()
}

/// The directories that were granted, in the operator's order.
#[must_use]
pub fn mounts() -> Vec<Mount> {
    host::mounts()
}

/// The first granted directory with this `source` in the manifest.
#[must_use]
pub fn mount(source: &str) -> Option<Mount> {
    mounts().into_iter().find(|mount| mount.source == source)
}
