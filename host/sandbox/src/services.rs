//! What the host does for a guest while it runs: values that it keeps, progress
//! that it shows, and the memory of which files the session has seen.

use crate::contract::sectile::plugin::types::Failure;
use crate::contract::services::{kv, progress, seen_files};
use crate::error::{FailureKind, PluginFailure, one_line};
use crate::limits::{PROGRESS_REPORTS, SEEN_FILES};
use crate::state::CallState;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Services of one call. The default has none.
#[derive(Debug, Clone, Default)]
pub struct Services {
    /// Where it keeps its values; only for plugins with the `kv` capability.
    pub values: Option<Arc<dyn KeyValues>>,
    /// Who is shown its progress.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Which files the session has seen.
    pub seen_files: Option<Arc<SeenFiles>>,
}

/// The values of one plugin in one workspace.
pub trait KeyValues: fmt::Debug + Send + Sync {
    /// The value of `key`.
    ///
    /// # Errors
    /// What the guest is told.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PluginFailure>;

    /// Keeps `value` under `key`.
    ///
    /// # Errors
    /// What the guest is told, a full quota among it.
    fn set(&self, key: &str, value: &[u8]) -> Result<(), PluginFailure>;

    /// Removes `key`, if it is there.
    ///
    /// # Errors
    /// What the guest is told.
    fn delete(&self, key: &str) -> Result<(), PluginFailure>;

    /// The keys that start with `prefix`, in byte order.
    ///
    /// # Errors
    /// What the guest is told.
    fn keys(&self, prefix: &str) -> Result<Vec<String>, PluginFailure>;
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The plugin's words, one line.
    pub message: String,
    /// How much is done, in a unit of the plugin's choice.
    pub done: Option<u64>,
    /// How much there is.
    pub total: Option<u64>,
}

/// Who is shown progress. Called on the thread of the guest.
pub trait ProgressSink: fmt::Debug + Send + Sync {
    /// Shows it.
    fn show(&self, progress: Progress);
}

/// Which version of each file a session has seen last.
#[derive(Debug, Default)]
pub struct SeenFiles(Mutex<HashMap<String, [u8; 32]>>);

impl SeenFiles {
    fn note(&self, path: String, digest: [u8; 32]) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever sees that many files starts again: to forget one is always
        // safe, it is read once more.
        if seen.len() >= SEEN_FILES && !seen.contains_key(&path) {
            seen.clear();
        }
        seen.insert(path, digest);
    }

    fn last(&self, path: &str) -> Option<[u8; 32]> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(path).copied()
    }
}

impl seen_files::Host for CallState {
    fn note(&mut self, path: String, sha256: Vec<u8>) {
        if let (Some(seen), Ok(digest)) = (&self.call.services.seen_files, sha256.try_into()) {
            seen.note(path, digest);
        }
    }

    fn last(&mut self, path: String) -> Option<Vec<u8>> {
        let seen = self.call.services.seen_files.as_ref()?;
        Some(seen.last(&path)?.to_vec())
    }
}

impl progress::Host for CallState {
    fn report(&mut self, message: String, done: Option<u64>, total: Option<u64>) {
        self.progress_reports = self.progress_reports.saturating_add(1);
        if let Some(sink) = &self.call.services.progress
            && self.progress_reports <= PROGRESS_REPORTS
        {
            sink.show(Progress {
                message: one_line(&message),
                done,
                total,
            });
        }
    }
}

impl CallState {
    fn values(&self) -> Result<&Arc<dyn KeyValues>, Failure> {
        let none = || Failure::Unavailable("this run keeps no values".to_owned());
        self.call.services.values.as_ref().ok_or_else(none)
    }
}

impl kv::Host for CallState {
    fn get(&mut self, key: String) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.values()?.get(&key)?)
    }

    fn set(&mut self, key: String, value: Vec<u8>) -> Result<(), Failure> {
        Ok(self.values()?.set(&key, &value)?)
    }

    fn delete(&mut self, key: String) -> Result<(), Failure> {
        Ok(self.values()?.delete(&key)?)
    }

    fn keys(&mut self, prefix: String) -> Result<Vec<String>, Failure> {
        Ok(self.values()?.keys(&prefix)?)
    }
}

impl From<PluginFailure> for Failure {
    fn from(failure: PluginFailure) -> Self {
        let text = failure.message;
        match failure.kind {
            FailureKind::InvalidInput => Self::InvalidInput(text),
            FailureKind::Denied => Self::Denied(text),
            FailureKind::Unavailable => Self::Unavailable(text),
            FailureKind::Rejected => Self::Rejected(text),
            FailureKind::Internal => Self::Internal(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tl_3_the_last_version_counts_and_a_flood_forgets_all() {
        let seen = SeenFiles::default();
        seen.note("a".to_owned(), [1; 32]);
        seen.note("a".to_owned(), [2; 32]);
        assert_eq!(seen.last("a"), Some([2; 32]));
        assert_eq!(seen.last("b"), None);
        for n in 0..SEEN_FILES {
            seen.note(format!("file {n}"), [3; 32]);
        }
        assert_eq!(seen.last("a"), None);
        assert_eq!(
            seen.last(&format!("file {}", SEEN_FILES - 1)),
            Some([3; 32])
        );
    }
}
