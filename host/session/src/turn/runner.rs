//! The loop of a turn (SR-21).

use crate::compaction::Trigger;
use crate::live::LiveEvent;
use crate::provider::{Answer, AskError, Progress};
use crate::render::Told;
use crate::session::Session;
use crate::turn::repeats::Repeats;
use crate::turn::{Stop, TurnOutcome};
use sectile_chat::{ChatError, DraftDelta, PartKind};
use sectile_engine::PreparedModelCall;
use sectile_model::{
    BlockKind, Conversation, FinishReason, Item, Message, MessageKind, Origin, ProviderEvent, Role,
    SystemPart, ToolCall,
};
use sectile_prompt::SampleId;
use sectile_sandbox::CancelToken;
use sectile_store::{Append, NewMessage, TurnId};
use std::sync::Arc;

/// A turn that runs.
pub(crate) struct Runner<'a> {
    pub(crate) session: &'a Session,
    pub(crate) turn: TurnId,
    pub(crate) query: String,
    pub(crate) cancel: CancelToken,
    pub(super) repeats: Repeats,
    system: Arc<[SystemPart]>,
}

/// What is submitted, and the conversation that it was made of.
pub(crate) struct Submission {
    pub(crate) call: PreparedModelCall,
    pub(crate) conversation: Arc<Conversation>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        session: &'a Session,
        turn: TurnId,
        query: String,
        cancel: CancelToken,
    ) -> Self {
        Self {
            session,
            turn,
            query,
            cancel,
            repeats: Repeats::default(),
            system: Arc::default(),
        }
    }

    /// Runs the turn to its outcome.
    pub(crate) fn run(&mut self) -> TurnOutcome {
        let outcome = self.steps().unwrap_or_else(TurnOutcome::from);
        self.session.chat.drop_draft();
        outcome
    }

    fn steps(&mut self) -> Result<TurnOutcome, Stop> {
        self.check_cancelled()?;
        // Once for the whole turn, and the same for the life of the session (CE-6).
        self.system = self.session.system(&self.told())?;
        let most = self.session.max_model_calls;
        for model_call in 1..=most {
            self.check_cancelled()?;
            self.sample(model_call, 1)?;
            let (answer, calls) = self.model_call(model_call)?;
            match (calls.is_empty(), answer.reason) {
                (false, _) => self.run_calls(model_call, &answer, &calls)?,
                (true, FinishReason::Paused) => {}
                (true, _) => return finished(&answer),
            }
        }
        Err(Stop::failed(
            "max_model_calls",
            format!(
                "the turn took {most} model calls and was not done; raise max_model_calls, or ask for less at once"
            ),
        ))
    }

    pub(super) fn check_cancelled(&self) -> Result<(), Stop> {
        match self.cancel.is_cancelled() {
            true => Err(Stop::Cancelled),
            false => Ok(()),
        }
    }

    fn told(&self) -> Told<'_> {
        Told {
            query: Some(&self.query),
            cancel: self.cancel.clone(),
        }
    }

    /// Renders the World State, stores what changed, appends it, and moves the
    /// baseline, in this order (WS-3).
    pub(crate) fn sample(&self, model_call: u32, sample: u32) -> Result<(), Stop> {
        let host = &self.session.host;
        let world = host.render_world(&self.told());
        self.check_cancelled()?;
        let view = self.view()?;
        let id = SampleId {
            turn: self.turn.to_string(),
            model_call,
            sample,
        };
        let mut baseline = self.session.baseline();
        let sample = host
            .world
            .diff(&world.outcomes, &baseline, &view.items, &id)
            .map_err(|error| {
                let error = world.explain(error);
                Stop::failed(error.code(), &error)
            })?;
        for warning in world.warnings {
            self.session.warn(warning);
        }
        for omitted in &sample.omitted {
            self.session
                .warn(format!("{omitted}; it counts as unchanged"));
        }
        let messages = sample.emissions.iter().map(|emission| {
            let item = emission.item();
            NewMessage {
                id: emission.message_id.clone(),
                kind: item.kind,
                message: item.message,
                source: item.source,
            }
        });
        let append = Append {
            messages: messages.collect(),
            ..Append::default()
        };
        if !append.messages.is_empty() {
            self.store(&append)?;
        }
        *baseline = sample.commit();
        Ok(())
    }

    pub(crate) fn view(&self) -> Result<Arc<Conversation>, Stop> {
        self.session
            .chat
            .view()
            .map_err(|e| Stop::failed("chat_state_error", e))
    }

    /// Stores a step, then appends it: what Chat State shows is on the disk.
    pub(crate) fn store(&self, append: &Append) -> Result<Vec<Item>, Stop> {
        let coming = append.messages.iter().map(|message| Item {
            kind: message.kind,
            origin: Origin::appended(),
            message: Arc::clone(&message.message),
            source: None,
        });
        self.session
            .chat
            .check(coming.collect())
            .map_err(|e| match e {
                ChatError::DuplicateToolCall { .. } => Stop::failed("model_protocol_error", e),
                other => Stop::failed("chat_state_error", other),
            })?;
        let items = self
            .session
            .writer
            .append(&self.turn, append)
            .map_err(|e| Stop::failed("persistence_error", e))?;
        // A sample that was stored before and is there already is not appended twice.
        let view = self.view()?;
        let last = view.items.iter().rev().find_map(|i| i.origin.sequence());
        let new: Vec<_> = items
            .iter()
            .filter(|item| item.origin.sequence() > last)
            .cloned()
            .collect();
        self.session
            .chat
            .append(new.clone())
            .map_err(|e| Stop::failed("chat_state_error", e))?;
        for item in &new {
            if let (Some(sequence), Some(id)) = (item.origin.sequence(), item.origin.message_id()) {
                self.session.live.publish(LiveEvent::MessageStored {
                    message_sequence: sequence,
                    message_id: id.to_owned(),
                });
            }
        }
        Ok(new)
    }

    pub(crate) fn prepare(&self) -> Result<Submission, Stop> {
        let conversation = self.view()?;
        let call = self
            .session
            .host
            .prepare(
                &self.system,
                &conversation,
                &self.session.surface.definitions(),
            )
            .map_err(|e| Stop::failed(e.code(), e))?;
        Ok(Submission { call, conversation })
    }

    /// Asks the model once, with room made where there is too little, and stores
    /// its answer. Gives the answer and its tool calls.
    fn model_call(&mut self, model_call: u32) -> Result<(Answer, Vec<ToolCall>), Stop> {
        let mut submission = self.prepare()?;
        let mut compacted = false;
        if submission.call.limits.must_compact {
            (submission, compacted) = self.make_room(model_call, submission, Trigger::Threshold)?;
        }
        self.session
            .live
            .publish(LiveEvent::ModelCallStarted { model_call });
        let asked = self.ask(&submission);
        let exchange = match asked {
            // At most one compaction for one model call (SR-24).
            Err(failed) if failed.is_overflow() && !compacted => {
                (submission, _) = self.make_room(model_call, submission, Trigger::Overflow)?;
                self.ask(&submission)
            }
            other => other,
        };
        let exchange = exchange.map_err(|failed| self.broken(failed))?;
        for diagnostic in &exchange.diagnostics {
            self.session.diagnose(diagnostic);
        }
        let answer = exchange.answer.clone();
        if answer.reason == FinishReason::ContextFull && answer.blocks.is_empty() {
            return Err(Stop::failed(
                "model_error",
                "the window was full before the model could answer",
            ));
        }
        let record = self.session.call_record(model_call, &submission, &exchange);
        let message = NewMessage {
            id: format!("{}:{model_call}:answer", self.turn),
            kind: MessageKind::Normal,
            message: Arc::new(Message {
                role: Role::Assistant,
                content: answer.blocks.clone(),
            }),
            source: None,
        };
        self.store(&Append {
            messages: vec![message],
            call: Some(record),
            ..Append::default()
        })?;
        let calls = answer.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::ToolCall(call) => Some(call.clone()),
            _ => None,
        });
        let calls = calls.collect();
        Ok((answer, calls))
    }

    fn ask(&self, submission: &Submission) -> Result<crate::provider::Exchange, AskError> {
        let request = self.session.provider_request(&submission.call);
        self.session
            .provider
            .ask(request, &self.cancel, &mut |progress| match progress {
                Progress::Event(event) => self.show(event),
                Progress::Retrying {
                    attempt,
                    after,
                    why,
                } => self.session.live.publish(LiveEvent::Retrying {
                    attempt,
                    after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
                    why: why.to_owned(),
                }),
            })
    }

    /// The draft goes, and the turn fails (SR-23).
    fn broken(&self, failed: AskError) -> Stop {
        self.session.chat.drop_draft();
        self.session.live.publish(LiveEvent::DraftDropped);
        match failed {
            AskError::Cancelled => Stop::Cancelled,
            AskError::Sandbox(error) => Stop::failed("model_protocol_error", error),
            AskError::Provider { error, .. } => {
                let code = match error.class {
                    sectile_model::ErrorClass::Protocol => "model_protocol_error",
                    _ => "model_error",
                };
                let class = error.class.name();
                Stop::failed(
                    code,
                    format!(
                        "{} answered: {} ({class})",
                        self.session.provider.name, error.message
                    ),
                )
            }
        }
    }

    /// What comes in goes to the draft and to whoever watches, and no further.
    fn show(&self, event: &ProviderEvent) {
        let (part, kind, text) = match event {
            ProviderEvent::TextDelta { part, text } => (part, PartKind::Text, text),
            ProviderEvent::ThinkingDelta { part, text } => (part, PartKind::Thinking, text),
            ProviderEvent::RefusalDelta { part, text } => (part, PartKind::Refusal, text),
            ProviderEvent::ToolCallStart { part, id, name } => {
                let kind = PartKind::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                };
                (part, kind, &String::new())
            }
            ProviderEvent::ToolCallDelta { part, json } => {
                let kind = PartKind::ToolCall {
                    id: String::new(),
                    name: String::new(),
                };
                (part, kind, json)
            }
            ProviderEvent::BlockDone { .. }
            | ProviderEvent::Usage(_)
            | ProviderEvent::Notice { .. }
            | ProviderEvent::Finished(_) => return,
        };
        let (part, text) = (*part, text.clone());
        self.session.chat.delta(DraftDelta {
            part,
            kind: kind.clone(),
            text: text.clone(),
        });
        self.session.live.publish(match kind {
            PartKind::Text => LiveEvent::TextDelta { part, text },
            PartKind::Thinking => LiveEvent::ThinkingDelta { part, text },
            PartKind::Refusal => LiveEvent::RefusalDelta { part, text },
            PartKind::ToolCall { id, name } if !name.is_empty() => {
                LiveEvent::ToolCallStart { part, id, name }
            }
            PartKind::ToolCall { .. } => LiveEvent::ToolCallDelta { part, json: text },
        });
    }
}

/// The outcome of a turn whose last answer asks for nothing more.
fn finished(answer: &Answer) -> Result<TurnOutcome, Stop> {
    let texts = answer.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Text { text } | BlockKind::Refusal { text } => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let word = answer.raw_reason.as_deref().unwrap_or("no reason");
    match answer.reason {
        FinishReason::ContentFilter => Err(Stop::failed(
            "model_error",
            format!("the provider held the answer back ({word})"),
        )),
        FinishReason::MalformedToolCall => Err(Stop::failed(
            "model_protocol_error",
            format!("the model wrote a tool call that is none ({word})"),
        )),
        FinishReason::ContextFull => Err(Stop::failed(
            "model_error",
            format!("the window was full before the answer ended ({word})"),
        )),
        _ => Ok(TurnOutcome::Completed { text }),
    }
}
