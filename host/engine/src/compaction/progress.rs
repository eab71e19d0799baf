//! CP-7a: a compaction makes the conversation smaller, or it is not installed.

use crate::compaction::CompactionError;
use crate::compaction::view::view;
use crate::prepare::ContextInput;
use sectile_model::Item;

/// What a compaction changes, in estimated tokens of the conversation as it is
/// submitted: results pruned and bounded, no artifacts (CE-13), no World State.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Before it.
    pub before: u64,
    /// After it.
    pub after: u64,
}

/// What putting `after` in the place of the conversation of `input` gains.
///
/// # Errors
/// [`CompactionError::NoProgress`] when it gains nothing, and those of the engine.
pub fn progress(input: &ContextInput<'_>, after: &[Item]) -> Result<Progress, CompactionError> {
    let watermark = input.conversation.pruned_through_sequence;
    let tokens = |items| -> Result<u64, CompactionError> {
        Ok(view(input, items, watermark)?.budget.conversation_tokens)
    };
    let (before, after) = (tokens(&input.conversation.items)?, tokens(after)?);
    match after < before {
        true => Ok(Progress { before, after }),
        false => Err(CompactionError::NoProgress { before, after }),
    }
}
