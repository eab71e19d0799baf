//! Making room before a request is sent, or after it was found too large
//! (SR-21, SR-24, CP-6).

use crate::compaction::Trigger;
use crate::error::SessionError;
use crate::turn::Stop;
use crate::turn::runner::{Runner, Submission};

impl Runner<'_> {
    /// Prunes, and compacts when that is not enough. Gives the submission that
    /// follows, and whether it was compacted.
    pub(super) fn make_room(
        &mut self,
        model_call: u32,
        before: Submission,
        trigger: Trigger,
    ) -> Result<(Submission, bool), Stop> {
        let size = |submission: &Submission| submission.call.budget.estimated_input_tokens;
        let moved = self
            .session
            .prune()
            .map_err(|e| Stop::failed("persistence_error", e))?;
        let submitted = size(&before);
        let pruned = if moved { self.prepare()? } else { before };
        let helped = size(&pruned) < submitted;
        let enough = match trigger {
            // The provider knows better than the estimate: something must have changed.
            Trigger::Overflow => helped && !pruned.call.limits.must_compact,
            Trigger::Threshold | Trigger::Manual => !pruned.call.limits.must_compact,
        };
        if enough {
            return Ok((pruned, false));
        }
        let tokens = size(&pruned);
        let backoff = self.session.state().backoff;
        if trigger == Trigger::Threshold && !backoff.may_try(tokens) {
            self.session.warn(
                "the conversation is at its compaction line, and compacting failed twice; it is not \
                 tried again by itself: use `sectile session compact`, or clear the session"
                    .to_owned(),
            );
            return Ok((pruned, false));
        }
        match self
            .session
            .compact_now(trigger, Some(&self.turn), &self.cancel)
        {
            Ok(_) => {
                // World State is not part of a summary: it is sampled again (WS-4).
                self.sample(model_call, 2)?;
                Ok((self.prepare()?, true))
            }
            Err(SessionError::Cancelled) => Err(Stop::Cancelled),
            Err(error) => {
                self.session.state().backoff = backoff.failed(tokens);
                Err(Stop::failed("compaction_error", error))
            }
        }
    }
}
