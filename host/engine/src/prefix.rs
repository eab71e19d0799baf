//! CE-20: where two requests differ first, and why.

use crate::prepare::PreparedModelCall;
use crate::provenance::{MessageOrigin, MessageProvenance, Rule, Span, SpanSource, spans};
use serde::Serialize;
use std::fmt;

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
    /// What stands at the difference in the second request.
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
    let (old, new) = (at(&before, shared as u64), at(&after, shared as u64));
    let cause = match a == b {
        true => PrefixCause::Same,
        false => cause(old, new, first, second),
    };
    PrefixReport {
        shared_bytes: shared as u64,
        first_bytes: a.len() as u64,
        second_bytes: b.len() as u64,
        part: new.map_or_else(|| "the end".to_owned(), |span| name(&span.source)),
        cause,
    }
}

fn at<'s, 'a>(spans: &'s [Span<'a>], byte: u64) -> Option<&'s Span<'a>> {
    let place = spans.partition_point(|span| span.end <= byte);
    spans.get(place)
}

fn name(source: &SpanSource<'_>) -> String {
    match source {
        SpanSource::Frame => "the frame of the request".to_owned(),
        SpanSource::System { key, .. } => format!("system part {key}"),
        SpanSource::Message { index, provenance } => {
            let id = match &provenance.origin {
                MessageOrigin::Persisted {
                    message_id: Some(id),
                } => format!(" ({id})"),
                _ => String::new(),
            };
            format!("message {}{id}", index + 1)
        }
        SpanSource::Tool { name } => format!("tool {name}"),
    }
}

fn cause(
    old: Option<&Span<'_>>,
    new: Option<&Span<'_>>,
    first: &PreparedModelCall,
    second: &PreparedModelCall,
) -> PrefixCause {
    if first.request.model != second.request.model {
        return PrefixCause::ModelChanged;
    }
    let sources = (old.map(|s| &s.source), new.map(|s| &s.source));
    match sources {
        (_, Some(SpanSource::System { key, section })) => match section {
            Some(section) => PrefixCause::SectionRerendered {
                section: section.section.to_string(),
            },
            None => PrefixCause::SystemChanged {
                key: (*key).to_owned(),
            },
        },
        (Some(SpanSource::System { key, .. }), _) => PrefixCause::SystemChanged {
            key: (*key).to_owned(),
        },
        (
            Some(SpanSource::Message {
                provenance: old, ..
            }),
            Some(SpanSource::Message {
                provenance: new, ..
            }),
        ) => message_cause(old, new),
        // The messages of one end where those of the other go on.
        (_, Some(SpanSource::Message { .. })) => PrefixCause::Appended,
        (Some(SpanSource::Message { .. }), _) => PrefixCause::Compaction,
        _ if first.request.messages.len() < second.request.messages.len() => PrefixCause::Appended,
        _ if first.request.tools != second.request.tools => PrefixCause::ToolSurfaceChanged,
        _ => PrefixCause::ModelChanged,
    }
}

fn message_cause(old: &MessageProvenance, new: &MessageProvenance) -> PrefixCause {
    let is_pruned = |p: &MessageProvenance| p.rules.contains(&Rule::Pruned);
    if old.origin == new.origin && is_pruned(new) != is_pruned(old) {
        return PrefixCause::WatermarkMoved;
    }
    match old.origin == new.origin {
        true => PrefixCause::MessageChanged,
        false => PrefixCause::Compaction,
    }
}
