//! A session as lines of JSON: what they are.

mod export;
mod import;

pub(super) use export::export;
pub(super) use import::import;

use crate::id::TurnId;
use crate::record::{CallRecord, Checkpoint, TurnRecord};
use sectile_model::{Message, MessageKind, SectionSource, Sequence};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const FORMAT: &str = "sectile.session/1";

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Session(SessionLine),
    Turn(TurnLine),
    Message(MessageLine),
    Checkpoint { checkpoint: Box<Checkpoint> },
    Call(CallLine),
    End(EndLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionLine {
    format: String,
    created_ms: u64,
    about: Value,
    pruned_through_sequence: Option<Sequence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    found_tools: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct TurnLine {
    #[serde(flatten)]
    turn: TurnRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageLine {
    turn: TurnId,
    sequence: Sequence,
    id: String,
    kind: MessageKind,
    message: Arc<Message>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Arc<SectionSource>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    turn: TurnId,
    call: Box<CallRecord>,
    /// With the first call that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame: Option<Arc<str>>,
}

/// Without it the file was cut.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    /// How many there were before it.
    lines: u64,
}
