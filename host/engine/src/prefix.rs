//! CE-20: where two requests differ first, and why.

use crate::prepare::PreparedModelCall;
use crate::provenance::{MessageOrigin, MessageProvenance, Rule, Span, SpanSource, spans};
use sectile_model::{BlockKind, Message};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Where two requests differ first, and why: what a provider's prompt cache
/// lost, and to what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrefixReport {
    /// Bytes of the compact JSON that both begin with.
    pub shared_bytes: u64,
    /// Bytes of the first request's compact JSON.
    pub first_bytes: u64,
    /// Bytes of the second one's.
    pub second_bytes: u64,
    /// What stands at the difference in the second request, or stood there in
    /// the first when it is gone.
    pub part: String,
    /// Why they differ.
    pub cause: PrefixCause,
}

/// Why two requests differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PrefixCause {
    /// They do not.
    Same,
    /// Messages were appended, and nothing else changed.
    Appended,
    /// A section of the system context rendered otherwise (WS-10b).
    SectionRerendered {
        /// The section.
        section: String,
    },
    /// Another part of the system context changed.
    SystemChanged {
        /// Its key.
        key: String,
    },
    /// An older tool result is shortened now.
    WatermarkMoved,
    /// A result came for a call that had none (CE-9).
    ResultArrived,
    /// The conversation was compacted, rewound or cleared.
    Compaction,
    /// A message is not what it was.
    MessageChanged,
    /// The tools are others.
    ToolSurfaceChanged,
    /// The model or its limits are others.
    ModelChanged,
}

impl fmt::Display for PrefixReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cause == PrefixCause::Same {
            return write!(f, "the same {} bytes", self.shared_bytes);
        }
        let why = match &self.cause {
            PrefixCause::Same | PrefixCause::Appended => "messages were appended".to_owned(),
            PrefixCause::SectionRerendered { section } => {
                format!("the section {section} rendered otherwise")
            }
            PrefixCause::SystemChanged { key } => format!("the system part {key} changed"),
            PrefixCause::WatermarkMoved => "an older tool result is shortened now".to_owned(),
            PrefixCause::ResultArrived => "a result came for a call that had none".to_owned(),
            PrefixCause::Compaction => {
                "the conversation was compacted, rewound or cleared".to_owned()
            }
            PrefixCause::MessageChanged => "a message is not what it was".to_owned(),
            PrefixCause::ToolSurfaceChanged => "the tools are others".to_owned(),
            PrefixCause::ModelChanged => "the model or its limits are others".to_owned(),
        };
        write!(
            f,
            "the first {} bytes are the same (of {} and {}); then, at {}: {why}",
            self.shared_bytes, self.first_bytes, self.second_bytes, self.part
        )
    }
}

/// Compares two requests, byte by byte, in the order in which a provider reads
/// them. Linear in their length.
#[must_use]
pub fn prefix_report(first: &PreparedModelCall, second: &PreparedModelCall) -> PrefixReport {
    let text = |call: &PreparedModelCall| serde_json::to_string(&call.request).unwrap_or_default();
    let (a, b) = (text(first), text(second));
    let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (before, after) = (spans(first), spans(second));
    let (old, new) = (entry(&before, shared as u64), entry(&after, shared as u64));
    PrefixReport {
        shared_bytes: shared as u64,
        first_bytes: a.len() as u64,
        second_bytes: b.len() as u64,
        part: part(old, new),
        cause: match a == b {
            true => PrefixCause::Same,
            false => cause(old, new, first, second),
        },
    }
}

/// What stands at `byte`, or comes next when that is a comma or a bracket. Up
/// to there both requests are read alike, so that the two entries of two
/// requests say which list goes on otherwise or ends.
fn entry<'s, 'a>(spans: &'s [Span<'a>], byte: u64) -> Option<&'s SpanSource<'a>> {
    let place = spans.partition_point(|span| span.end <= byte);
    let mut sources = spans.iter().skip(place).map(|span| &span.source);
    sources.find(|source| !matches!(source, SpanSource::Frame))
}

/// Place of the list in a request.
fn list(entry: Option<&SpanSource<'_>>) -> u8 {
    match entry {
        Some(SpanSource::System { .. }) => 0,
        Some(SpanSource::Message { .. }) => 1,
        Some(SpanSource::Tool { .. }) => 2,
        Some(SpanSource::Frame) | None => 3,
    }
}

fn part(old: Option<&SpanSource<'_>>, new: Option<&SpanSource<'_>>) -> String {
    match list(old) < list(new) {
        true => format!("{}, which is gone", name(old)),
        false => name(new),
    }
}

fn name(entry: Option<&SpanSource<'_>>) -> String {
    match entry {
        Some(SpanSource::System { key, .. }) => format!("system part {key}"),
        Some(SpanSource::Message { index, provenance }) => {
            let id = match &provenance.origin {
                MessageOrigin::Persisted {
                    message_id: Some(id),
                } => format!(" ({id})"),
                _ => String::new(),
            };
            format!("message {}{id}", index + 1)
        }
        Some(SpanSource::Tool { name }) => format!("tool {name}"),
        Some(SpanSource::Frame) | None => "the end".to_owned(),
    }
}

fn cause(
    old: Option<&SpanSource<'_>>,
    new: Option<&SpanSource<'_>>,
    first: &PreparedModelCall,
    second: &PreparedModelCall,
) -> PrefixCause {
    use SpanSource::{Message, System};
    if first.request.model != second.request.model {
        return PrefixCause::ModelChanged;
    }
    match (old, new) {
        (
            Some(System { key: before, .. }),
            Some(System {
                key,
                section: Some(source),
            }),
        ) if before == key => PrefixCause::SectionRerendered {
            section: source.section.to_string(),
        },
        (_, Some(System { key, .. })) | (Some(System { key, .. }), _) => {
            PrefixCause::SystemChanged {
                key: (*key).to_owned(),
            }
        }
        (
            Some(Message { index, provenance }),
            Some(Message {
                provenance: new, ..
            }),
        ) => {
            let answers = |call: &PreparedModelCall| {
                call.request.messages.get(*index).and_then(answered_call)
            };
            message_cause(provenance, new, answers(first) == answers(second))
        }
        (_, Some(Message { .. })) => PrefixCause::Appended,
        (Some(Message { .. }), _) => PrefixCause::Compaction,
        (None, None) => PrefixCause::ModelChanged,
        _ => PrefixCause::ToolSurfaceChanged,
    }
}

fn answered_call(message: &Arc<Message>) -> Option<String> {
    message.content.iter().find_map(|block| match &block.kind {
        BlockKind::ToolResult(result) => Some(result.call_id.clone()),
        _ => None,
    })
}

fn message_cause(
    old: &MessageProvenance,
    new: &MessageProvenance,
    answer_the_same: bool,
) -> PrefixCause {
    let is = |p: &MessageProvenance, rule| p.rules.contains(&rule);
    let was_missing = is(old, Rule::ResultUnavailable) && !is(new, Rule::ResultUnavailable);
    if was_missing && answer_the_same {
        return PrefixCause::ResultArrived;
    }
    if !is_one_message(&old.origin, &new.origin) {
        return PrefixCause::Compaction;
    }
    match is(old, Rule::Pruned) == is(new, Rule::Pruned) {
        true => PrefixCause::MessageChanged,
        false => PrefixCause::WatermarkMoved,
    }
}

/// Whether both are the same stored message; one that was just appended may
/// have got its id meanwhile.
fn is_one_message(old: &MessageOrigin, new: &MessageOrigin) -> bool {
    use MessageOrigin::Persisted;
    match (old, new) {
        (
            Persisted {
                message_id: Some(a),
            },
            Persisted {
                message_id: Some(b),
            },
        ) => a == b,
        (Persisted { .. }, Persisted { .. }) => true,
        _ => false,
    }
}
