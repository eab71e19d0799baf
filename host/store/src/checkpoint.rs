//! What a checkpoint must be to stand on what is stored (CP-7).

use crate::record::{Checkpoint, CheckpointKind, NewCheckpoint};
use sectile_model::{Role, Sequence};

impl NewCheckpoint {
    /// What is wrong with it behind `before`, when the last stored message is
    /// `last`.
    pub(crate) fn check(
        &self,
        before: Option<&Checkpoint>,
        last: Sequence,
    ) -> Result<(), &'static str> {
        let covered = before.map_or(0, |before| before.checkpoint.through_sequence);
        if self.through_sequence > last {
            return Err("it stands for messages that are not stored");
        }
        // Only a rewind goes back (CP-8).
        if self.kind != CheckpointKind::Rewind && self.through_sequence < covered {
            return Err("it stands for less than the checkpoint before it");
        }
        if self.kind == CheckpointKind::Clear && !self.visible.is_empty() {
            return Err("it clears the conversation and shows messages of it");
        }
        if self.head.iter().any(|i| i.message.role == Role::System) {
            return Err("it has a system message");
        }
        let mut shown = 0;
        for &(from, to) in &self.visible {
            // An empty range is one of an empty session.
            if from <= shown || to.saturating_add(1) < from || to > last {
                return Err("the ranges it shows are not in order, or reach too far");
            }
            shown = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CheckpointKind::{Clear, Rewind, Summary};
    use serde_json::Value;

    fn new(kind: CheckpointKind, through: u64, visible: &[(u64, u64)]) -> NewCheckpoint {
        NewCheckpoint {
            kind,
            head: Vec::new(),
            through_sequence: through,
            visible: visible.to_vec(),
            about: Value::Null,
        }
    }

    #[test]
    fn cp_7_a_checkpoint_stands_on_what_is_stored_and_only_grows() {
        let before = Checkpoint {
            number: 1,
            made_after: 6,
            turn: None,
            checkpoint: new(Summary, 4, &[(5, 6)]),
        };
        let holds = |new: NewCheckpoint| new.check(Some(&before), 9).is_ok();
        for (kind, through, visible) in [
            (Summary, 4, &[(5, 9)][..]),
            (Summary, 9, &[]),
            (Summary, 8, &[(1, 3), (4, 4), (9, 9)]),
            (Clear, 9, &[]),
            (Rewind, 2, &[(3, 4)]),
            (Rewind, 0, &[(1, 0)]),
        ] {
            assert!(holds(new(kind, through, visible)), "{kind:?} {visible:?}");
        }
        for (kind, through, visible) in [
            (Summary, 3, &[(4, 9)][..]),
            (Summary, 10, &[]),
            (Summary, 4, &[(5, 10)]),
            (Summary, 4, &[(0, 1)]),
            (Summary, 4, &[(5, 3)]),
            (Summary, 4, &[(5, 6), (6, 7)]),
            (Summary, 4, &[(7, 8), (5, 6)]),
            (Clear, 9, &[(9, 9)]),
            (Clear, 3, &[]),
            (Rewind, 10, &[]),
        ] {
            assert!(!holds(new(kind, through, visible)), "{kind:?} {visible:?}");
        }
    }
}
