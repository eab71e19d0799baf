//! What a running session tells whoever watches (SR-30): in order, bounded, and
//! never a condition for the turn.

use sectile_model::{ResultStatus, Sequence};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Updates that can be seen again.
const RING: usize = 512;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveUpdate {
    /// Counts from 1 in each session's process.
    pub sequence: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: LiveEvent,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveEvent {
    /// A turn was accepted.
    TurnStarted {
        /// The turn.
        turn: String,
    },
    /// The model is asked.
    ModelCallStarted {
        /// Counts from 1 in the turn.
        model_call: u32,
    },
    /// More text.
    TextDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// More thinking.
    ThinkingDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// More of a refusal.
    RefusalDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// The model writes a tool call.
    ToolCallStart {
        /// Index of the part.
        part: u32,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of its arguments.
    ToolCallDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        json: String,
    },
    /// What came in of an answer does not count: it broke off.
    DraftDropped,
    /// The request is sent again.
    Retrying {
        /// Times it was sent so far.
        attempt: u32,
        /// Milliseconds until then.
        after_ms: u64,
        /// Why.
        why: String,
    },
    /// A message is stored and part of the conversation.
    MessageStored {
        /// Its place in the session.
        message_sequence: Sequence,
        /// Its id.
        message_id: String,
    },
    /// A tool says how far its call is.
    ToolProgress {
        /// The call.
        id: String,
        /// Its words, one line.
        message: String,
        /// How much is done, in a unit of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        done: Option<u64>,
        /// How much there is.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// A tool call has its result.
    ToolFinished {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// How it ended.
        status: ResultStatus,
    },
    /// Old tool results are shortened from now on.
    Pruned {
        /// Up to this message.
        through: Sequence,
    },
    /// The conversation was compacted.
    Compacted {
        /// Estimated tokens before.
        tokens_before: u64,
        /// Estimated tokens after.
        tokens_after: u64,
    },
    /// Something the operator should know.
    Warning {
        /// One line.
        text: String,
    },
    /// The turn is over.
    TurnFinished {
        /// The turn.
        turn: String,
        /// How it ended.
        #[serde(flatten)]
        outcome: crate::turn::TurnOutcome,
    },
}

/// The updates of one session. Cloning shares them.
#[derive(Clone, Default)]
pub struct LiveUpdates(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    published: Condvar,
}

#[derive(Default)]
struct State {
    last: u64,
    ring: VecDeque<Arc<LiveUpdate>>,
}

/// Follows the updates of a session.
pub struct Subscription {
    updates: LiveUpdates,
    seen: u64,
}

/// Updates that a subscriber was too slow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{missed} updates were missed; read the session's messages instead")]
pub struct Lagged {
    /// How many.
    pub missed: u64,
}

impl LiveUpdates {
    /// Says that `event` happened. Never waits for a subscriber.
    pub(crate) fn publish(&self, event: LiveEvent) {
        let mut state = self.lock();
        state.last += 1;
        let sequence = state.last;
        if state.ring.len() == RING {
            state.ring.pop_front();
        }
        state
            .ring
            .push_back(Arc::new(LiveUpdate { sequence, event }));
        drop(state);
        self.0.published.notify_all();
    }

    /// Follows what comes after update `after`; 0 sees all that is still held.
    #[must_use]
    pub fn subscribe(&self, after: u64) -> Subscription {
        Subscription {
            updates: self.clone(),
            seen: after,
        }
    }

    /// Number of the last update.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.lock().last
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// The next update, or `None` when none comes within `wait`.
    ///
    /// # Errors
    /// [`Lagged`], once; the next call goes on with the oldest one still held.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Arc<LiveUpdate>>, Lagged> {
        let state = self.updates.lock();
        let (state, _) = self
            .updates
            .0
            .published
            .wait_timeout_while(state, wait, |state| state.last <= self.seen)
            .unwrap_or_else(PoisonError::into_inner);
        let oldest = state.ring.front().map_or(state.last + 1, |u| u.sequence);
        let missed = oldest.saturating_sub(self.seen + 1);
        if missed > 0 {
            self.seen += missed;
            return Err(Lagged { missed });
        }
        // Sequences in the ring are without gaps.
        let place = usize::try_from(self.seen + 1 - oldest).unwrap_or(usize::MAX);
        let update = state.ring.get(place).cloned();
        self.seen += u64::from(update.is_some());
        Ok(update)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(n: u64) -> LiveEvent {
        LiveEvent::Warning {
            text: n.to_string(),
        }
    }

    #[test]
    fn sr_30_updates_come_in_order_and_can_be_seen_again() {
        let live = LiveUpdates::default();
        (1..=3).for_each(|n| live.publish(warning(n)));
        for after in [0, 0, 2] {
            let mut subscription = live.subscribe(after);
            for n in after + 1..=3 {
                let update = subscription.next(Duration::ZERO).unwrap().unwrap();
                assert_eq!((update.sequence, &update.event), (n, &warning(n)));
            }
            assert_eq!(subscription.next(Duration::ZERO), Ok(None));
        }
    }

    #[test]
    fn sr_30_a_slow_subscriber_is_told_and_nobody_waits_for_it() {
        let live = LiveUpdates::default();
        let mut slow = live.subscribe(0);
        (1..=RING as u64 + 10).for_each(|n| live.publish(warning(n)));
        assert_eq!(slow.next(Duration::ZERO), Err(Lagged { missed: 10 }));
        assert_eq!(slow.next(Duration::ZERO).unwrap().unwrap().sequence, 11);
    }

    #[test]
    fn sr_30_a_subscriber_is_woken() {
        let live = LiveUpdates::default();
        let mut subscription = live.subscribe(0);
        let waiting = std::thread::spawn(move || subscription.next(Duration::from_secs(10)));
        live.publish(warning(1));
        assert_eq!(waiting.join().unwrap().unwrap().unwrap().sequence, 1);
    }
}
