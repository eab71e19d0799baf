//! CE-19: what produced each byte of the request.

use crate::budget::json_bytes;
use crate::prepare::PreparedModelCall;
use sectile_model::{MessageKind, Origin, SectionSource};
use serde::Serialize;
use std::sync::Arc;

/// Where a message of the request came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageOrigin {
    /// It stands in the conversation; without an id it was just appended.
    Persisted {
        /// Its id.
        message_id: Option<String>,
    },
    /// The host made it: a compaction, or a result that was missing.
    Synthesized,
}

impl MessageOrigin {
    pub(crate) fn of(origin: &Origin) -> Self {
        match origin {
            Origin::Real { message_id, .. } => Self::Persisted {
                message_id: message_id.clone(),
            },
            Origin::Synthetic { .. } => Self::Synthesized,
        }
    }
}

/// A rule that changed a message of the request copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// CE-7.
    Pruned,
    /// CE-8.
    Projected,
    /// CE-9: moved to its call.
    Moved,
    /// CE-9: made up for a result that never came.
    ResultUnavailable,
}

/// Where one message of the request came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageProvenance {
    /// What it is for.
    pub kind: MessageKind,
    /// Where it came from.
    pub origin: MessageOrigin,
    /// The section it renders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<Arc<SectionSource>>,
    /// What changed it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// A range of bytes of the request's compact JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span<'a> {
    /// First byte.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// What produced it.
    pub source: SpanSource<'a>,
}

/// What produced a range of bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SpanSource<'a> {
    /// The frame of the request: names of fields, brackets, model settings.
    Frame,
    /// A system part.
    System {
        /// Its key.
        key: &'a str,
        /// The section it renders.
        #[serde(skip_serializing_if = "Option::is_none")]
        section: Option<&'a SectionSource>,
    },
    /// A message.
    Message {
        /// Its place among the messages.
        index: usize,
        /// Where it came from.
        provenance: &'a MessageProvenance,
    },
    /// A tool definition.
    Tool {
        /// Its name.
        name: &'a str,
    },
}

pub(crate) fn spans(call: &PreparedModelCall) -> Vec<Span<'_>> {
    let request = &call.request;
    let mut tiles = Tiles::default();
    tiles.frame(
        r#"{"model":"#.len() as u64 + json_bytes(&request.model) + r#","system":["#.len() as u64,
    );
    tiles.list(request.system.iter().map(|part| {
        let source = SpanSource::System {
            key: &part.key,
            section: part.source.as_deref(),
        };
        (json_bytes(part), source)
    }));
    tiles.frame(r#"],"messages":["#.len() as u64);
    tiles.list(request.messages.iter().zip(&call.messages).enumerate().map(
        |(index, (message, provenance))| {
            (
                json_bytes(message),
                SpanSource::Message { index, provenance },
            )
        },
    ));
    tiles.frame(r#"],"tools":["#.len() as u64);
    tiles.list(
        request
            .tools
            .iter()
            .map(|tool| (json_bytes(tool), SpanSource::Tool { name: &tool.name })),
    );
    tiles.frame(r#"],"max_output_tokens":}"#.len() as u64 + json_bytes(&request.max_output_tokens));
    tiles.spans
}

#[derive(Default)]
struct Tiles<'a> {
    spans: Vec<Span<'a>>,
    end: u64,
}

impl<'a> Tiles<'a> {
    fn push(&mut self, bytes: u64, source: SpanSource<'a>) {
        let start = self.end;
        self.end += bytes;
        self.spans.push(Span {
            start,
            end: self.end,
            source,
        });
    }

    fn frame(&mut self, bytes: u64) {
        self.push(bytes, SpanSource::Frame);
    }

    fn list(&mut self, entries: impl Iterator<Item = (u64, SpanSource<'a>)>) {
        for (n, (bytes, source)) in entries.enumerate() {
            if n > 0 {
                self.frame(1);
            }
            self.push(bytes, source);
        }
    }
}
