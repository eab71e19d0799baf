//! A session that is open for writing: turns, one after the other, and what
//! they leave behind.

use crate::adapter::settled;
use crate::compose::Composition;
use crate::conversation::InMemoryConversation;
use crate::error::SessionError;
use crate::host::Host;
use crate::live::{LiveEvent, LiveUpdates};
use crate::provider::{Exchange, ModelProvider};
use crate::record::Frame;
use crate::render::Told;
use crate::spill;
use crate::tools::{Surface, ToolMemory};
use crate::turn::{AcceptedInput, Runner, Stop, Submission, TurnInput, TurnOutcome, accept};
use sectile_chat::{ChatHandle, ChatState};
use sectile_engine::PreparedModelCall;
use sectile_engine::compaction::{Backoff, already_pruned};
use sectile_model::{Diagnostic, Item, ProviderRequest, Sequence, SystemPart};
use sectile_prompt::{Baseline, SampleId};
use sectile_sandbox::CancelToken;
use sectile_store::{
    CallRecord, NewMessage, NewSession, NewTurn, SessionId, SessionStore, SessionWriter,
    StartedTurn, TurnId, TurnRecord, TurnStatus, WorkspaceStore,
};
use sectile_transport::Wire;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// How a session is opened.
pub struct SessionOptions {
    /// The workspace with its plugins.
    pub host: Host,
    /// Where sessions are kept.
    pub store: Arc<dyn WorkspaceStore>,
    /// How providers are reached.
    pub wire: Arc<dyn Wire>,
    /// The session to go on with; a new one without.
    pub session: Option<SessionId>,
    /// The provider, in place of the session's and the operator's.
    pub provider: Option<String>,
    /// The model, in place of the session's and the provider's.
    pub model: Option<String>,
    /// Model calls of one turn, in place of the operator's.
    pub max_model_calls: Option<u32>,
}

/// A session that is open for writing. One turn runs at a time.
pub struct Session {
    pub(crate) host: Arc<Host>,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) writer: Box<dyn SessionWriter>,
    pub(crate) chat: ChatHandle,
    pub(crate) live: LiveUpdates,
    pub(crate) provider: ModelProvider,
    pub(crate) max_model_calls: u32,
    pub(crate) state: Mutex<State>,
    id: SessionId,
    pub(crate) surface: Surface,
    pub(crate) memory: ToolMemory,
    baseline: Mutex<Baseline>,
    /// Held by the turn that runs.
    turn: Mutex<()>,
}

/// What a session remembers while it is open, and needs no store for.
#[derive(Default)]
pub(crate) struct State {
    /// The checkpoint that the conversation stands on, and its boundary.
    pub(crate) checkpoint: Option<(u64, Sequence)>,
    pub(crate) backoff: Backoff,
    /// The system context, resolved once (CE-6).
    system: Option<Arc<[SystemPart]>>,
    /// What was said of requests before, so that it is said once.
    diagnosed: BTreeSet<String>,
}

/// A turn that has ended, or that another request had started.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// How it ended.
    pub outcome: TurnOutcome,
}

impl Session {
    /// Opens a session: a new one, or one that goes on where it was left.
    ///
    /// # Errors
    /// [`SessionError`]; `session_busy` when another process has it.
    pub fn open(options: SessionOptions) -> Result<Self, SessionError> {
        let SessionOptions {
            mut host,
            store,
            wire,
            session,
            provider,
            model,
            max_model_calls,
        } = options;
        let known = session.as_ref().map(|id| store.session(id)).transpose()?;
        let about = |key: &str| {
            let value = known.as_ref()?.about.get(key)?.as_str()?;
            Some(value.to_owned())
        };
        let provider_name = provider.clone().or_else(|| about("provider"));
        // A model belongs to its provider: another one brings its own.
        let model = model.or_else(|| match &provider {
            Some(other) if Some(other) != about("provider").as_ref() => None,
            _ => about("model"),
        });
        let provider = host.operator().provider(provider_name.as_deref())?;
        let (provider, model) = ModelProvider::new(&host, &provider, model.as_deref(), wire)?;
        host.set_model(&provider.name, model);
        host.keep_in(Arc::clone(&store));
        let id = match session {
            Some(id) => id,
            None => create(&*store, &host, &provider.name)?,
        };
        let writer = store.lease(&id)?;
        writer.interrupt_running()?;
        let loaded = writer.load()?;
        let state = State {
            checkpoint: loaded
                .checkpoint
                .as_ref()
                .map(|c| (c.number, c.checkpoint.through_sequence)),
            ..State::default()
        };
        let mut conversation = loaded.conversation;
        conversation.spill_folder = Some(spill::folder(&id));
        let live = LiveUpdates::default();
        // What came by import, or was hidden when the watermark moved, has no file yet.
        let shortened = already_pruned(&conversation);
        if let Err(error) = spill::keep(&host.workspace().root, &id, &shortened) {
            live.publish(LiveEvent::Warning {
                text: format!("full texts of older tool results cannot be kept: {error}"),
            });
        }
        let surface = Surface::new(host.tools().clone(), loaded.found_tools);
        Ok(Self {
            chat: ChatState::start(conversation)?,
            max_model_calls: max_model_calls.unwrap_or(host.operator().max_model_calls),
            host: Arc::new(host),
            store,
            writer,
            live,
            provider,
            state: Mutex::new(state),
            id,
            surface,
            memory: ToolMemory::default(),
            baseline: Mutex::default(),
            turn: Mutex::new(()),
        })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The workspace with its plugins.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What happens in it, as it happens (SR-30).
    #[must_use]
    pub fn updates(&self) -> LiveUpdates {
        self.live.clone()
    }

    /// Runs a turn to its end, on this thread (SR-20, SR-21). A request that was
    /// made before gives its turn and runs nothing.
    ///
    /// # Errors
    /// What keeps the turn from starting; what ends it early is its outcome.
    pub fn run(&self, input: &TurnInput, cancel: &CancelToken) -> Result<Turn, SessionError> {
        let accepted = accept(&self.host, input)?;
        let id: TurnId = format!("t-{}", random_id()?).parse()?;
        let client_request_id = input.client_request_id.clone();
        let (messages, query) = new_messages(&id, accepted);
        let turn = NewTurn {
            client_request_id: client_request_id.unwrap_or_else(|| id.to_string()),
            id,
            input: messages,
        };
        // Whoever finds it locked is told which turn runs, and does not wait.
        let held = self.turn.try_lock();
        let started = match self.writer.start_turn(&turn)? {
            StartedTurn::Busy(_) if held.is_ok() => {
                // Nothing runs here: that turn could not be ended when it failed.
                self.writer.interrupt_running()?;
                self.writer.start_turn(&turn)?
            }
            other => other,
        };
        match started {
            StartedTurn::Existing(known) => Ok(existing(known)),
            StartedTurn::Busy(turn) => Err(SessionError::Busy(turn)),
            StartedTurn::Started(items) => self.started(turn.id, query, items, cancel),
        }
    }

    fn started(
        &self,
        turn: TurnId,
        query: String,
        items: Vec<Item>,
        cancel: &CancelToken,
    ) -> Result<Turn, SessionError> {
        self.live.publish(LiveEvent::TurnStarted {
            turn: turn.to_string(),
        });
        let outcome = match self.chat.append(items) {
            Ok(()) => Runner::new(self, turn.clone(), query, cancel.clone()).run(),
            Err(error) => Stop::failed("chat_state_error", error).into(),
        };
        let status = match outcome {
            TurnOutcome::Completed { .. } => TurnStatus::Completed,
            TurnOutcome::Failed { .. } => TurnStatus::Failed,
            TurnOutcome::Cancelled => TurnStatus::Cancelled,
            TurnOutcome::Interrupted => TurnStatus::Interrupted,
        };
        let ended = self.writer.finish_turn(&turn, status, &json!(outcome));
        let outcome = match (ended, outcome) {
            (Ok(()), outcome) => outcome,
            // An answer that is stored stays stored; the turn's end is not.
            (Err(error), TurnOutcome::Completed { .. }) => {
                Stop::failed("persistence_error", error).into()
            }
            (Err(_), outcome) => outcome,
        };
        self.live.publish(LiveEvent::TurnFinished {
            turn: turn.to_string(),
            outcome: outcome.clone(),
        });
        Ok(Turn { id: turn, outcome })
    }

    /// The context window as the next request would have it (CE-22), with a
    /// `message` of the user. Nothing is stored or sent.
    ///
    /// # Errors
    /// [`SessionError::Section`] and those of the engine.
    pub fn inspect(&self, message: Option<&str>) -> Result<Composition, SessionError> {
        let conversation = self.chat.view()?;
        let baseline = self.baseline().clone();
        let mut preview = InMemoryConversation::resume((*conversation).clone(), baseline);
        let tools = self.surface.definitions();
        self.host
            .compose_with(&mut preview, message, &SampleId::preview(), &tools)
    }

    pub(crate) fn baseline(&self) -> MutexGuard<'_, Baseline> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps turns away for as long as the guard lives.
    pub(crate) fn idle(&self) -> Result<MutexGuard<'_, ()>, SessionError> {
        self.turn.try_lock().map_err(|_| SessionError::Active)
    }

    /// The last message that the checkpoint in use stands for.
    pub(crate) fn boundary(&self) -> Sequence {
        self.state().checkpoint.map_or(0, |(_, boundary)| boundary)
    }

    /// Tells whoever watches; what is told of does not change the turn.
    pub(crate) fn warn(&self, text: String) {
        self.live.publish(LiveEvent::Warning { text });
    }

    /// Says once what a protocol did not take as it was (PV-4).
    pub(crate) fn diagnose(&self, diagnostic: &Diagnostic) {
        let action = json!(diagnostic.action);
        let text = format!(
            "{}: {} was {}: {}",
            self.provider.name,
            diagnostic.field,
            action.as_str().unwrap_or_default(),
            diagnostic.why
        );
        if self.state().diagnosed.insert(text.clone()) {
            self.warn(text);
        }
    }

    /// The system context, resolved when it is first needed and the same from
    /// then on (CE-6, WS-10b).
    pub(crate) fn system(&self, told: &Told<'_>) -> Result<Arc<[SystemPart]>, Stop> {
        if let Some(system) = &self.state().system {
            return Ok(Arc::clone(system));
        }
        let (system, warnings) = self
            .host
            .system(told)
            .map_err(|e| Stop::failed(e.code(), &e))?;
        warnings.into_iter().for_each(|warning| self.warn(warning));
        let system: Arc<[SystemPart]> = system.into();
        self.warn_of_changes(&system);
        self.state().system = Some(Arc::clone(&system));
        Ok(system)
    }

    /// A session that goes on in another process may find its system context
    /// changed: its prompt cache is lost then, and somebody should know why.
    fn warn_of_changes(&self, system: &[SystemPart]) {
        let last = self.store.last_call(&self.id).ok().flatten();
        let Some(frame) = last.and_then(|(_, call)| Frame::load(&*self.store, &call).ok()) else {
            return;
        };
        for part in system {
            let before = frame.system.iter().find(|before| before.key == part.key);
            if before.is_some_and(|before| before.content != part.content) {
                self.warn(format!(
                    "the system part {} is not what it was earlier in this session",
                    part.key
                ));
            }
        }
    }

    /// The request as the adapter takes it.
    pub(crate) fn provider_request(&self, call: &PreparedModelCall) -> ProviderRequest {
        let mut intents = self.provider.intents.clone();
        intents.cache_key = Some(self.id.to_string());
        settled(call.request.clone(), intents)
    }

    /// What is needed to compose the call again.
    pub(crate) fn call_record(
        &self,
        model_call: u32,
        submission: &Submission,
        exchange: &Exchange,
    ) -> CallRecord {
        let items = &submission.conversation.items;
        let through = items.iter().rev().find_map(|i| i.origin.sequence());
        let frame = Frame::of(&submission.call, &self.host).to_text();
        let request = crate::record::request_text(&submission.call.request);
        CallRecord {
            model_call,
            through_sequence: through.unwrap_or(0),
            checkpoint: self.state().checkpoint.map(|(number, _)| number),
            pruned_through_sequence: submission.conversation.pruned_through_sequence,
            frame_digest: crate::record::digest(&frame),
            frame: frame.into(),
            request_digest: crate::record::digest(&request),
            request_bytes: request.len() as u64,
            provider: self.provider.name.clone(),
            adapter_digest: self.provider.adapter.digest(),
            body_digest: exchange.body_digest,
            usage: exchange.answer.usage.clone(),
            finish: exchange.answer.raw_reason.clone().unwrap_or_else(|| {
                json!(exchange.answer.reason)
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            }),
        }
    }

    /// A page of the messages that a compaction replaced, and where they end.
    pub(crate) fn replaced_messages(
        &self,
        after: Sequence,
        limit: u32,
    ) -> Result<(Vec<Item>, Sequence), SessionError> {
        let Some((_, boundary)) = self.state().checkpoint else {
            return Ok((Vec::new(), 0));
        };
        let page = self
            .store
            .messages(&self.id, after, boundary, u64::from(limit))?;
        Ok((page.into_iter().map(|m| m.item).collect(), boundary))
    }
}

fn existing(known: TurnRecord) -> Turn {
    let outcome = known
        .outcome
        .and_then(|outcome| serde_json::from_value(outcome).ok());
    Turn {
        id: known.id,
        outcome: outcome.unwrap_or(TurnOutcome::Interrupted),
    }
}

fn new_messages(turn: &TurnId, accepted: AcceptedInput) -> (Vec<NewMessage>, String) {
    let message = |(n, (kind, message)): (usize, _)| NewMessage {
        id: format!("{turn}:input:{}", n + 1),
        kind,
        message: Arc::new(message),
        source: None,
    };
    let messages = accepted.messages.into_iter().enumerate().map(message);
    (messages.collect(), accepted.query)
}

/// An id that no session has yet.
///
/// # Errors
/// [`SessionError::Randomness`].
pub fn new_session_id() -> Result<SessionId, SessionError> {
    Ok(format!("s-{}", random_id()?).parse()?)
}

fn create(
    store: &dyn SessionStore,
    host: &Host,
    provider: &str,
) -> Result<SessionId, SessionError> {
    let id = new_session_id()?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    store.create(&NewSession {
        id: id.clone(),
        created_ms: since.map_or(0, |s| u64::try_from(s.as_millis()).unwrap_or(0)),
        parent: None,
        about: json!({
            "profile": host.profile().name,
            "provider": provider,
            "model": host.model().name,
        }),
    })?;
    Ok(id)
}

/// Eight random bytes: enough that no two sessions of a workspace meet.
fn random_id() -> Result<String, SessionError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|e| SessionError::Randomness(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
