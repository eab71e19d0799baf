//! A growing part of an answer that is no call.

use super::reasoning;
use crate::PROTOCOL;
use sectile_sdk::provider::{Block, BlockKind, Event, ThinkingBlock};
use sectile_wire::outbox::Outbox;
use sectile_wire::state::state;
use serde_json::{Map, Value, json};

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Refusal,
}

/// A part so far.
pub(super) struct Part {
    number: u32,
    pub(super) kind: Kind,
    text: String,
    /// The field that thinking came in.
    field: Option<&'static str>,
    details: Vec<Value>,
}

impl Part {
    pub(super) fn new(number: u32, kind: Kind) -> Self {
        Self {
            number,
            kind,
            text: String::new(),
            field: None,
            details: Vec::new(),
        }
    }

    pub(super) fn say(&mut self, text: &str, out: &mut Outbox) {
        self.text.push_str(text);
        let piece = (self.number, text.to_owned());
        out.emit(match self.kind {
            Kind::Text => Event::TextDelta(piece),
            Kind::Thinking => Event::ThinkingDelta(piece),
            Kind::Refusal => Event::RefusalDelta(piece),
        });
    }

    pub(super) fn think(
        &mut self,
        field: &'static str,
        text: Option<&str>,
        details: Vec<Value>,
        out: &mut Outbox,
    ) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            if field != reasoning::DETAILS {
                self.field = Some(field);
            }
            self.say(text, out);
        }
        for detail in details {
            reasoning::join(&mut self.details, detail);
        }
    }

    pub(super) fn done(self, model: &str) -> Event {
        let block = match self.kind {
            Kind::Text => plain(BlockKind::Text(self.text)),
            Kind::Refusal => plain(BlockKind::Refusal(self.text)),
            Kind::Thinking => {
                let mut data = Map::new();
                if let Some(field) = self.field {
                    data.insert("field".to_owned(), json!(field));
                }
                if !self.details.is_empty() {
                    data.insert("details".to_owned(), Value::Array(self.details));
                }
                let is_hidden = self.text.is_empty();
                Block {
                    kind: BlockKind::Thinking(ThinkingBlock {
                        text: Some(self.text).filter(|text| !text.is_empty()),
                        summary: Vec::new(),
                        redacted: is_hidden,
                    }),
                    state: Some(state(PROTOCOL, model, &Value::Object(data))),
                }
            }
        };
        Event::BlockDone((self.number, block))
    }
}

fn plain(kind: BlockKind) -> Block {
    Block { kind, state: None }
}
