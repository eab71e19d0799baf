//! What is pruned is kept in full elsewhere first (CP-6, CP-7b).

use crate::prune;
use sectile_model::{BlockKind, Conversation, Role, Sequence, ToolResult};
use sha2::{Digest, Sha256};

/// A result that would be shortened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpilledResult<'a> {
    /// Its message.
    pub sequence: Sequence,
    /// The result.
    pub result: &'a ToolResult,
}

impl SpilledResult<'_> {
    /// The text in full.
    #[must_use]
    pub fn text(&self) -> String {
        prune::joined(self.result)
    }
}

/// Where the full text of a result is: below `folder`, which is the session's
/// own, under a name that no two results share and no id can form.
#[must_use]
pub fn spill_reference(folder: &str, sequence: Sequence, call_id: &str) -> String {
    let hash = Sha256::digest(call_id);
    let short: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{folder}/{sequence}-{short}.txt")
}

/// The results that are whole now and would be shortened when the watermark
/// moves to `to`.
#[must_use]
pub fn newly_pruned(conversation: &Conversation, to: Sequence) -> Vec<SpilledResult<'_>> {
    let before = conversation.pruned_through_sequence;
    long_results(conversation, |sequence| {
        Some(sequence) > before && sequence <= to
    })
}

/// The results that are shortened as the watermark stands.
#[must_use]
pub fn already_pruned(conversation: &Conversation) -> Vec<SpilledResult<'_>> {
    let watermark = conversation.pruned_through_sequence;
    long_results(conversation, |sequence| Some(sequence) <= watermark)
}

fn long_results(
    conversation: &Conversation,
    wanted: impl Fn(Sequence) -> bool,
) -> Vec<SpilledResult<'_>> {
    let mut found = Vec::new();
    for item in &conversation.items {
        let Some(sequence) = item.origin.sequence() else {
            continue;
        };
        if item.message.role != Role::Tool || !wanted(sequence) {
            continue;
        }
        for block in &item.message.content {
            if let BlockKind::ToolResult(result) = &block.kind
                && prune::prune(result, None).is_some()
            {
                found.push(SpilledResult { sequence, result });
            }
        }
    }
    found
}
