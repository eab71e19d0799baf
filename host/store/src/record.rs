//! What is kept.

use crate::id::{SessionId, TurnId};
use sectile_model::{
    Conversation, Digest, Item, Message, MessageKind, SectionSource, Sequence, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A session to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// When, in milliseconds of the Unix epoch; for people, never for order.
    pub created_ms: u64,
    /// The session it works for (SR-60).
    pub parent: Option<SessionId>,
    /// What the caller wants to find again: profile, provider, model.
    pub about: Value,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// When, in milliseconds of the Unix epoch.
    pub created_ms: u64,
    /// The session it works for.
    pub parent: Option<SessionId>,
    /// What its creator wanted to find again.
    pub about: Value,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    /// The session.
    #[serde(flatten)]
    pub session: SessionRecord,
    /// Its turns.
    pub turns: u64,
    /// Its messages, hidden ones too.
    pub messages: u64,
    /// The first request of its user, shortened.
    pub first_request: Option<String>,
}

/// A message to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// Its id, unique in the session: storing it again changes nothing (WS-2).
    pub id: String,
    /// What it is for.
    pub kind: MessageKind,
    /// The message.
    pub message: Arc<Message>,
    /// The section it renders.
    pub source: Option<Arc<SectionSource>>,
}

/// A stored message with its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The message as the conversation has it.
    pub item: Item,
}

/// A turn to be started (SR-20).
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// Its id.
    pub id: TurnId,
    /// The client's name for the request.
    pub client_request_id: String,
    /// What the user gave, in its order.
    pub input: Vec<NewMessage>,
}

/// What came of starting a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum StartedTurn {
    /// It runs; its input is stored.
    Started(Vec<Item>),
    /// The same request was made before; this is its turn.
    Existing(TurnRecord),
    /// Another turn runs.
    Busy(TurnId),
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// It has not ended.
    Running,
    /// The model answered.
    Completed,
    /// It could not be brought to its end.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// Its process ended before it did (SR-28).
    Interrupted,
}

impl TurnStatus {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [
            Self::Running,
            Self::Completed,
            Self::Failed,
            Self::Cancelled,
            Self::Interrupted,
        ]
        .into_iter()
        .find(|status| status.name() == name)
    }
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its id.
    pub id: TurnId,
    /// Counts from 1 in the session.
    pub number: u64,
    /// The client's name for the request.
    pub client_request_id: String,
    /// Where it stands.
    pub status: TurnStatus,
    /// How it ended, in the runtime's words.
    pub outcome: Option<Value>,
}

/// What is stored in one step of a turn, all or none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Append {
    /// Messages, in their order.
    pub messages: Vec<NewMessage>,
    /// The plan in place of the turn's earlier one (SR-50).
    pub plan: Option<Value>,
    /// The tools that the session has found, in place of the earlier list (PS-33).
    pub found_tools: Option<Vec<String>>,
    /// The model call that these messages answer.
    pub call: Option<CallRecord>,
}

/// What is needed to compose a model call again, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// The model call within its turn, from 1.
    pub model_call: u32,
    /// The last stored message that the request had.
    pub through_sequence: Sequence,
    /// The checkpoint it stood on.
    pub checkpoint: Option<u64>,
    /// The watermark (CE-7).
    pub pruned_through_sequence: Option<Sequence>,
    /// System parts, tools, model and rules, as one text; kept once however
    /// many calls share it.
    #[serde(skip)]
    pub frame: Arc<str>,
    /// SHA-256 of that text.
    pub frame_digest: Digest,
    /// SHA-256 of the request's compact JSON.
    pub request_digest: Digest,
    /// Bytes of that JSON.
    pub request_bytes: u64,
    /// The provider and the adapter's plugin, for people.
    pub provider: String,
    /// SHA-256 of the adapter.
    pub adapter_digest: Digest,
    /// SHA-256 of the HTTP body that was sent.
    pub body_digest: Digest,
    /// What it cost.
    pub usage: Usage,
    /// Why the answer ended, in the provider's word or ours.
    pub finish: String,
}

/// What a checkpoint is for (CP-5, CP-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// A summary stands for what came before.
    Summary,
    /// An earlier checkpoint is seen again.
    Rewind,
    /// Nothing of what came before is seen.
    Clear,
}

/// A checkpoint to be installed (CP-7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCheckpoint {
    /// What it is for.
    pub kind: CheckpointKind,
    /// The synthetic items that stand first: replay, summary, reminder.
    pub head: Vec<Item>,
    /// What the head stands for: messages up to here.
    pub through_sequence: Sequence,
    /// The stored messages that are still seen behind the head, as inclusive
    /// ranges in order; what is stored later is always seen.
    pub visible: Vec<(Sequence, Sequence)>,
    /// Everything else that CP-7 lists: trigger, model, usage, summary, runtime state.
    pub about: Value,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Counts from 1 in the session.
    pub number: u64,
    /// The last message that was stored when it was made.
    pub made_after: Sequence,
    /// The turn in which it was made.
    pub turn: Option<TurnId>,
    /// What it is.
    #[serde(flatten)]
    pub checkpoint: NewCheckpoint,
}

/// A session as it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSession {
    /// What the model sees (SR-5), with the watermark.
    pub conversation: Conversation,
    /// The checkpoint it stands on.
    pub checkpoint: Option<Checkpoint>,
    /// The last stored message, seen or not; 0 when there is none.
    pub last_sequence: Sequence,
    /// The turn that has not ended.
    pub running: Option<TurnId>,
    /// The plan of the last turn, when it has one.
    pub plan: Option<Value>,
    /// The tools that were found, in the order of their discovery (PS-33).
    pub found_tools: Vec<String>,
}
