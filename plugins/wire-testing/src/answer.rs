//! Events put together again, and held to what all decoders promise.

use sectile_sdk::provider::{Block, BlockKind, CallInput, Event, FinishReason, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// An answer, as far as a test of meaning goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// All text.
    pub text: String,
    /// All thinking.
    pub thinking: String,
    /// All refusals.
    pub refusal: String,
    /// Name and arguments of each call; the arguments of a cut one are a text.
    pub calls: Vec<(String, Value)>,
    /// The whole parts in order.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub reason: FinishReason,
    /// The provider's word for it.
    pub raw: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// What was noticed.
    pub notices: Vec<Value>,
}

/// Puts `events` together.
///
/// # Panics
/// When they break a promise: exactly one end and nothing after it, every part
/// done once, and what its pieces say is what the whole part says.
#[must_use]
pub fn answer(events: &[Event]) -> Answer {
    let Some((Event::Finished(finished), before)) = events.split_last() else {
        panic!("the last event is no end: {events:?}");
    };
    let mut pieces: BTreeMap<u32, String> = BTreeMap::new();
    let mut calls: BTreeMap<u32, (String, String)> = BTreeMap::new();
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    let mut notices = Vec::new();
    for event in before {
        let growing = match event {
            Event::TextDelta((part, piece))
            | Event::ThinkingDelta((part, piece))
            | Event::RefusalDelta((part, piece)) => Some((part, piece)),
            Event::ToolCallStart((part, id, name)) => {
                let before = calls.insert(*part, (id.clone(), name.clone()));
                assert_eq!(before, None, "part {part} begins twice");
                None
            }
            Event::ToolCallDelta((part, piece)) => {
                assert!(
                    calls.contains_key(part),
                    "part {part} grows before it begins"
                );
                Some((part, piece))
            }
            Event::BlockDone((part, block)) => {
                let before = blocks.insert(*part, block.clone());
                assert_eq!(before, None, "part {part} is done twice");
                None
            }
            Event::Usage(_) => None,
            Event::Notice(notice) => {
                notices.push(serde_json::from_str(notice).expect("a notice is JSON"));
                None
            }
            Event::Finished(_) => panic!("the answer ends twice"),
        };
        if let Some((part, piece)) = growing {
            assert!(
                !blocks.contains_key(part),
                "part {part} grows when it is done"
            );
            pieces.entry(*part).or_default().push_str(piece);
        }
    }
    let mut answer = Answer {
        text: String::new(),
        thinking: String::new(),
        refusal: String::new(),
        calls: Vec::new(),
        blocks: blocks.values().cloned().collect(),
        reason: finished.reason,
        raw: finished.raw.clone(),
        usage: finished.usage.clone(),
        notices,
    };
    for (part, block) in &blocks {
        let grown = pieces.remove(part).unwrap_or_default();
        let whole = add(&mut answer, block, calls.get(part));
        if let Some(whole) = whole {
            assert_eq!(grown, whole, "the pieces of part {part}");
        }
    }
    assert!(pieces.is_empty(), "parts that were never done: {pieces:?}");
    answer
}

/// Adds a whole part; gives what its pieces have to say together.
fn add(answer: &mut Answer, block: &Block, begun: Option<&(String, String)>) -> Option<String> {
    match &block.kind {
        BlockKind::Text(text) => {
            answer.text.push_str(text);
            Some(text.clone())
        }
        BlockKind::Refusal(text) => {
            answer.refusal.push_str(text);
            Some(text.clone())
        }
        BlockKind::Thinking(thinking) => {
            let text = thinking.text.clone().unwrap_or_default();
            answer.thinking.push_str(&text);
            Some(text)
        }
        BlockKind::ToolCall(call) => {
            let begun = begun.expect("a call begins before it is done");
            assert_eq!((&begun.0, &begun.1), (&call.id, &call.name));
            let input = match &call.input {
                CallInput::Parsed(json) => serde_json::from_str(json).expect("arguments are JSON"),
                CallInput::Raw(text) => Value::from(text.as_str()),
            };
            answer.calls.push((call.name.clone(), input));
            None
        }
        _ => None,
    }
}
