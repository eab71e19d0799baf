//! What a protocol did not take as it was (PV-4), each said once.

use sectile_sdk::provider::{Diagnostic, DiagnosticAction};

/// Diagnostics in the order in which they arose.
#[derive(Debug, Default)]
pub struct Notes(Vec<Diagnostic>);

impl Notes {
    /// `field` was left out.
    pub fn dropped(&mut self, field: &str, why: &str) {
        self.add(field, DiagnosticAction::Dropped, why);
    }

    /// `field` was brought into range.
    pub fn clamped(&mut self, field: &str, why: &str) {
        self.add(field, DiagnosticAction::Clamped, why);
    }

    /// `field` was put elsewhere.
    pub fn moved(&mut self, field: &str, why: &str) {
        self.add(field, DiagnosticAction::Moved, why);
    }

    /// `field` was replaced by the nearest thing.
    pub fn approximated(&mut self, field: &str, why: &str) {
        self.add(field, DiagnosticAction::Approximated, why);
    }

    /// `field` was given another name, reversibly.
    pub fn renamed(&mut self, field: &str, why: &str) {
        self.add(field, DiagnosticAction::Renamed, why);
    }

    /// All of them.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0
    }

    fn add(&mut self, field: &str, action: DiagnosticAction, why: &str) {
        let note = Diagnostic {
            field: field.to_owned(),
            action,
            why: why.to_owned(),
        };
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
}
