//! Compactions of an open session: room is made, a summary asked for, checked,
//! stored, and only then shown (CP-5, CP-6).

use crate::error::SessionError;
use crate::live::LiveEvent;
use crate::provider::AskError;
use crate::session::Session;
use crate::spill;
use sectile_engine::compaction::{
    Backoff, Progress, Reminder, SUMMARY_FORMAT_VERSION, SummaryRequest, check_summary, head,
    last_user_request, newly_pruned, progress, summary_request,
};
use sectile_engine::{CompactRule, ContextInput, Displaced};
use sectile_model::{Conversation, ModelCapabilities, ProviderRequest, Role, Sequence, Usage};
use sectile_sandbox::CancelToken;
use sectile_store::{
    Checkpoint, CheckpointKind, NewCheckpoint, SessionId, SessionStore, SessionWriter, StoreError,
    TurnId,
};
use sectile_transport::wait;
use serde_json::{Value, json};
use std::time::Duration;

/// Times that a summary is asked for (CP-13).
const ATTEMPTS: u32 = 3;
/// Between two of them.
const APART: Duration = Duration::from_secs(3);

/// Names, in a checkpoint, the user's message that it shows again (CP-7).
const REPLAYED: &str = "replayed_message_id";

/// A compaction that was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Number of its checkpoint.
    pub checkpoint: u64,
    /// Estimated tokens of the conversation before.
    pub tokens_before: u64,
    /// And after.
    pub tokens_after: u64,
}

/// What started a compaction (CP-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    Manual,
    Threshold,
    Overflow,
}

impl Trigger {
    fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
        }
    }
}

impl Session {
    /// Replaces what was said by a summary of it.
    ///
    /// # Errors
    /// [`SessionError::Active`] while a turn runs; otherwise why there is no
    /// summary, and the session is as it was.
    pub fn compact(&self, cancel: &CancelToken) -> Result<Compacted, SessionError> {
        let _idle = self.idle()?;
        self.compact_now(Trigger::Manual, None, cancel)
    }

    /// Begins anew: nothing that was said is seen, and nothing is deleted.
    ///
    /// # Errors
    /// [`SessionError::Active`] while a turn runs, and those of the store.
    pub fn clear(&self) -> Result<u64, SessionError> {
        let _idle = self.idle()?;
        let loaded = self.writer.load()?;
        let made = self.writer.install(None, &cleared(loaded.last_sequence))?;
        self.show(&made)
    }

    pub(crate) fn compact_now(
        &self,
        trigger: Trigger,
        turn: Option<&TurnId>,
        cancel: &CancelToken,
    ) -> Result<Compacted, SessionError> {
        let view = self.chat.view()?;
        let (model, rule, displaced) = self.host.rules();
        let asked = summary_request(&input(&view, model, rule, displaced))?;
        let (summary, usage) = self.ask_for_summary(&asked, cancel)?;
        let last = view.items.iter().rev().find_map(|i| i.origin.sequence());
        let through = last.unwrap_or(self.boundary());
        let number = self.state().checkpoint.map_or(1, |(number, _)| number + 1);
        let id = format!("{}:{number}", self.id());
        let standing = self.writer.load()?;
        let head = head(
            &view.items,
            &id,
            &summary,
            &reminder(standing.plan.as_ref(), self.surface.found_names()),
        )?;
        let Progress { before, after } = progress(&input(&view, model, rule, displaced), &head)?;
        // A request that an earlier compaction showed again is still that message.
        let replayed = match last_user_request(&view.items)?.origin.message_id() {
            Some(id) => json!(id),
            None => replayed_message_id(standing.checkpoint.as_ref()),
        };
        let checkpoint = NewCheckpoint {
            kind: CheckpointKind::Summary,
            head,
            through_sequence: through,
            visible: Vec::new(),
            about: json!({
                "trigger": trigger.name(),
                (REPLAYED): replayed,
                "summary_format_version": SUMMARY_FORMAT_VERSION,
                "model": model.name,
                "usage": usage,
                "left_out_messages": asked.left_out,
                "tokens_before": before,
                "tokens_after": after,
            }),
        };
        let made = self.writer.install(turn, &checkpoint)?;
        self.show(&made)?;
        self.state().backoff = Backoff::default();
        self.live.publish(LiveEvent::Compacted {
            tokens_before: before,
            tokens_after: after,
        });
        Ok(Compacted {
            checkpoint: made.number,
            tokens_before: before,
            tokens_after: after,
        })
    }

    /// Up to three times (CP-13); what comes back is a summary or nothing.
    fn ask_for_summary(
        &self,
        asked: &SummaryRequest,
        cancel: &CancelToken,
    ) -> Result<(String, Usage), SessionError> {
        let mut last = SessionError::Cancelled;
        for attempt in 1..=ATTEMPTS {
            if attempt > 1 && !wait(APART, &|| cancel.is_cancelled()) {
                return Err(SessionError::Cancelled);
            }
            let exchange = self
                .provider
                .ask(self.summary_request(asked), cancel, &mut |_| {});
            let answer = match exchange {
                Ok(exchange) => exchange.answer,
                Err(AskError::Cancelled) => return Err(SessionError::Cancelled),
                Err(AskError::Sandbox(error)) => return Err(error.into()),
                Err(AskError::Provider { error, .. }) => {
                    last = error.into();
                    continue;
                }
            };
            let (language, tokens) = (asked.language, asked.input_tokens);
            match check_summary(&answer.blocks, answer.reason, language, tokens) {
                Ok(summary) => return Ok((summary, answer.usage)),
                Err(error) => last = error.into(),
            }
        }
        Err(SessionError::SummaryRetriesExhausted {
            attempts: ATTEMPTS,
            last: Box::new(last),
        })
    }

    fn summary_request(&self, asked: &SummaryRequest) -> ProviderRequest {
        let mut intents = self.provider.intents.clone();
        intents.thinking = Some(sectile_model::ThinkingIntent::Off);
        crate::adapter::settled(asked.request.clone(), intents)
    }

    /// Moves the watermark behind the last stored answer, after the full texts
    /// of what that shortens have been kept (CP-6). Gives whether anything moved.
    pub(crate) fn prune(&self) -> Result<bool, SessionError> {
        let view = self.chat.view()?;
        let answers = view.items.iter().rev();
        let mut answers = answers.filter(|item| item.message.role == Role::Assistant);
        let Some(to) = answers.find_map(|item| item.origin.sequence()) else {
            return Ok(false);
        };
        if Some(to) <= view.pruned_through_sequence {
            return Ok(false);
        }
        let whole = newly_pruned(&view, to);
        if let Err(error) = spill::keep(&self.host.workspace().root, self.id(), &whole) {
            self.warn(format!(
                "older tool results stay whole: their full text cannot be kept: {error}"
            ));
            return Ok(false);
        }
        self.writer.advance_watermark(to)?;
        self.chat.advance_watermark(to)?;
        self.live.publish(LiveEvent::Pruned { through: to });
        Ok(true)
    }

    /// Shows what the store has made of the session.
    fn show(&self, made: &Checkpoint) -> Result<u64, SessionError> {
        let loaded = self.writer.load()?;
        let mut conversation = loaded.conversation;
        conversation.spill_folder = Some(spill::folder(self.id()));
        self.chat.replace(conversation)?;
        self.state().checkpoint = Some((made.number, made.checkpoint.through_sequence));
        Ok(made.number)
    }
}

/// What a summary does not carry (CP-14).
fn reminder(plan: Option<&Value>, discovered_tools: Vec<String>) -> Reminder {
    let steps = plan.and_then(|plan| plan.get("plan")?.as_array());
    let text = |step: &Value, key: &str| {
        let text = step.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let step = |step: &Value| (text(step, "status"), text(step, "step"));
    Reminder {
        plan: steps.into_iter().flatten().map(step).collect(),
        discovered_tools,
        ..Reminder::default()
    }
}

/// The message that `checkpoint` shows again.
fn replayed_message_id(checkpoint: Option<&Checkpoint>) -> Value {
    let about = checkpoint.map(|checkpoint| &checkpoint.checkpoint.about);
    about.and_then(|about| about.get(REPLAYED)).cloned().into()
}

fn input<'a>(
    conversation: &'a Conversation,
    model: &'a ModelCapabilities,
    compact_rule: CompactRule,
    displaced: Displaced,
) -> ContextInput<'a> {
    ContextInput {
        model,
        compact_rule,
        displaced,
        system: &[],
        conversation,
        tools: &[],
    }
}

fn cleared(last: Sequence) -> NewCheckpoint {
    NewCheckpoint {
        kind: CheckpointKind::Clear,
        head: Vec::new(),
        through_sequence: last,
        visible: Vec::new(),
        about: json!({"trigger": "manual"}),
    }
}

/// Begins `session` anew, without opening it for turns.
///
/// # Errors
/// `session_busy` while somebody has it open, and those of the store.
pub fn clear(store: &dyn SessionStore, session: &SessionId) -> Result<u64, SessionError> {
    let writer = idle_writer(store, session)?;
    let last = writer.load()?.last_sequence;
    Ok(writer.install(None, &cleared(last))?.number)
}

/// Shows again what checkpoint `number` of `session` showed when it was made; 0
/// shows all messages again (CP-8). What came later is hidden, not deleted.
///
/// # Errors
/// [`StoreError::UnknownCheckpoint`], `session_busy`, and those of the store.
pub fn rewind(
    store: &dyn SessionStore,
    session: &SessionId,
    number: u64,
) -> Result<u64, SessionError> {
    let writer = idle_writer(store, session)?;
    let checkpoints = store.checkpoints(session)?;
    let rewound = match checkpoints.iter().find(|c| c.number == number) {
        Some(target) => NewCheckpoint {
            kind: CheckpointKind::Rewind,
            about: json!({
                "trigger": "rewind",
                "to": number,
                (REPLAYED): replayed_message_id(Some(target)),
            }),
            ..target.checkpoint.clone()
        },
        None if number == 0 => {
            // As the first checkpoint found it, or as it is when there is none.
            let first = checkpoints.first().map(|c| c.made_after);
            let last = match first {
                Some(made_after) => made_after,
                None => writer.load()?.last_sequence,
            };
            NewCheckpoint {
                kind: CheckpointKind::Rewind,
                head: Vec::new(),
                through_sequence: 0,
                visible: vec![(1, last)],
                about: json!({"trigger": "rewind", "to": 0}),
            }
        }
        None => {
            return Err(StoreError::UnknownCheckpoint {
                session: session.clone(),
                number,
            }
            .into());
        }
    };
    Ok(writer.install(None, &rewound)?.number)
}

/// Nobody else has the session open, so that no turn of it runs.
fn idle_writer(
    store: &dyn SessionStore,
    session: &SessionId,
) -> Result<Box<dyn SessionWriter>, SessionError> {
    let writer = store.lease(session)?;
    writer.interrupt_running()?;
    Ok(writer)
}
