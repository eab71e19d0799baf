//! Where lists are kept: a value for each session, those written last.

use crate::list::Item;
use sectile_sdk::Failure;
use sectile_sdk::tool::values;
use serde::{Deserialize, Serialize};

/// Lists that are kept; beyond, the one that was not written for longest goes.
const MAX_LISTS: usize = 64;
const PREFIX: &str = "list:";

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Greater than in every list that was written before.
    written: u64,
    items: Vec<Item>,
}

/// The list of `session`; empty when there is none.
pub(crate) fn load(session: &str) -> Result<Vec<Item>, Failure> {
    Ok(get(&key(session))?.map_or_else(Vec::new, |kept| kept.items))
}

pub(crate) fn save(session: &str, items: &[Item]) -> Result<(), Failure> {
    let mut others = Vec::new();
    for other in values::keys(PREFIX)? {
        // What cannot be read any more is the oldest of all.
        let written = get(&other)?.map_or(0, |kept| kept.written);
        others.push((written, other));
    }
    others.sort_unstable();
    let written = others.last().map_or(1, |(written, _)| written + 1);
    others.retain(|(_, other)| *other != key(session));
    for (_, oldest) in others.iter().rev().skip(MAX_LISTS - 1) {
        values::delete(oldest)?;
    }
    let kept = Kept {
        written,
        items: items.to_vec(),
    };
    let bytes = serde_json::to_vec(&kept).map_err(|e| Failure::Internal(e.to_string()))?;
    values::set(&key(session), &bytes)
}

pub(crate) fn remove(session: &str) -> Result<(), Failure> {
    values::delete(&key(session))
}

fn key(session: &str) -> String {
    format!("{PREFIX}{session}")
}

fn get(key: &str) -> Result<Option<Kept>, Failure> {
    let bytes = values::get(key)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
