//! What a call used of its grants, and what it was refused.

use crate::files::{Access, Mount};
use crate::limits::REPORT_ENTRIES;
use std::collections::BTreeSet;

/// One use of a granted directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileUse {
    /// Path as the guest sees it, in its true spelling.
    pub path: String,
    /// What was done with it.
    pub access: Access,
}

/// Something a guest asked for and did not get.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// What it asked for.
    pub what: String,
    /// Why it was refused.
    pub why: String,
}

/// Distinct uses and refusals of one call, each list bounded: a guest that
/// probes ten thousand names costs the operator no more than one that tries a few.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    uses: BTreeSet<FileUse>,
    refusals: BTreeSet<Refusal>,
}

impl Usage {
    pub(crate) fn used(&mut self, mount: &Mount, path: &[String], access: Access) {
        let mut full = mount.guest_path().to_owned();
        for name in path {
            full.push('/');
            full.push_str(name);
        }
        insert(&mut self.uses, FileUse { path: full, access });
    }

    pub(crate) fn refuse(&mut self, what: &str, why: &str) {
        let refusal = Refusal {
            what: what.to_owned(),
            why: why.to_owned(),
        };
        insert(&mut self.refusals, refusal);
    }

    pub(crate) fn into_lists(self) -> (Vec<FileUse>, Vec<Refusal>) {
        (
            self.uses.into_iter().collect(),
            self.refusals.into_iter().collect(),
        )
    }
}

fn insert<T: Ord>(set: &mut BTreeSet<T>, entry: T) {
    if set.len() < REPORT_ENTRIES {
        set.insert(entry);
    }
}
