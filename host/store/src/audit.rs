//! What plugins did and were refused (PL-33).

use crate::error::StoreError;
use crate::id::SessionId;
use sectile_model::{Digest, PluginId};
use serde::Serialize;

/// One thing that a plugin did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// When, in milliseconds of the Unix epoch; for people, never for order.
    pub time_ms: u64,
    /// The plugin.
    pub plugin: PluginId,
    /// SHA-256 of its component, when it was known.
    pub digest: Option<Digest>,
    /// The session in which it was, if in one.
    pub session: Option<SessionId>,
    /// What it did, with path, host or the name of a secret, never its value (PL-17).
    pub what: String,
    /// What came of it.
    pub outcome: String,
}

/// Which rows are asked for; what is `None` may be anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Those of this plugin.
    pub plugin: Option<PluginId>,
    /// Those of this session.
    pub session: Option<SessionId>,
}

/// The log of what plugins did. It only grows.
pub trait AuditLog: Send + Sync {
    /// Adds `rows` in their order, all or none.
    ///
    /// # Errors
    /// Those of the medium.
    fn record(&self, rows: &[AuditRow]) -> Result<(), StoreError>;

    /// At most `limit` rows with a number above `after`, oldest first, each with
    /// its number.
    ///
    /// # Errors
    /// Those of the medium.
    fn audit(
        &self,
        filter: &AuditFilter,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(u64, AuditRow)>, StoreError>;
}
