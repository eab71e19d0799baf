//! The calls of an answer, put together from fragments (PV-6).

use crate::PROTOCOL;
use sectile_sdk::provider::{Block, BlockKind, CallInput, Event, ProviderError, ToolCallBlock};
use sectile_wire::arguments::{Arguments, Reading};
use sectile_wire::outbox::{Outbox, protocol};
use sectile_wire::{names, state};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Where services put what they want back with a call, as signatures of Gemini's.
pub(crate) const EXTRA: &str = "extra_content";

/// Calls that one answer may have.
const MAX_CALLS: usize = 4_096;

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    part: u32,
    index: Option<u64>,
    /// As the service says it; empty until it does.
    id: String,
    /// Ours; empty until the service says it.
    name: String,
    arguments: Arguments,
    announced: bool,
    /// What the service wants back with the call.
    extra: Option<Value>,
}

impl Calls {
    /// Adds a fragment to the call that it belongs to.
    pub(super) fn fragment(
        &mut self,
        fragment: &Value,
        parts: &mut u32,
        names: &Value,
        out: &mut Outbox,
    ) -> Result<(), ProviderError> {
        if !fragment.is_object() {
            return Err(protocol("a tool call of the answer is no object"));
        }
        let text = |pointer: &str| {
            let text = fragment.pointer(pointer).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let id = text("/id");
        let name = text("/function/name").map(|wire| names::from_wire(names, wire));
        let index = fragment.get("index").and_then(Value::as_u64);
        let piece = match fragment.pointer("/function/arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(piece)) => piece.clone(),
            // Some services give the arguments as what they are.
            Some(whole) => whole.to_string(),
        };
        let at = match self.belongs(id, index, name, &piece) {
            Some(at) => at,
            None if self.0.len() == MAX_CALLS => {
                return Err(protocol("the answer has more calls than anyone makes"));
            }
            None => {
                *parts += 1;
                self.0.push(Call {
                    part: *parts - 1,
                    index,
                    id: String::new(),
                    name: String::new(),
                    arguments: Arguments::default(),
                    announced: false,
                    extra: None,
                });
                self.0.len() - 1
            }
        };
        // Two calls may have one id; the second is told to the host by another.
        let id = id.filter(|id| {
            let mut others = self.0.iter().enumerate().filter(|(n, _)| *n != at);
            !others.any(|(_, call)| call.id == *id)
        });
        let Some(call) = self.0.get_mut(at) else {
            return Ok(());
        };
        if let Some(extra) = fragment.get(EXTRA).filter(|extra| !extra.is_null()) {
            call.extra = Some(extra.clone());
        }
        call.add(id, name, &piece, out)
    }

    /// Which call a fragment belongs to: by its id, else by its index, else the
    /// latest. `None` begins a new one.
    fn belongs(
        &self,
        id: Option<&str>,
        index: Option<u64>,
        name: Option<&str>,
        piece: &str,
    ) -> Option<usize> {
        let latest = |found: &dyn Fn(&Call) -> bool| self.0.iter().rposition(found);
        if let Some(id) = id {
            let may_be = |call: &Call| {
                let other = |own: u64| index.is_some_and(|index| index != own);
                !call.index.is_some_and(other)
            };
            return latest(&|call| call.id == id && may_be(call)).or_else(|| {
                // An id that comes late; another id on the same index is another call.
                latest(&|call| call.index == index && index.is_some())
                    .filter(|at| self.0.get(*at).is_some_and(|call| call.id.is_empty()))
            });
        }
        let at = match index {
            Some(index) => latest(&|call| call.index == Some(index))?,
            None => self.0.len().checked_sub(1)?,
        };
        let call = self.0.get(at)?;
        let begins_anew = name.is_some_and(|name| {
            let other_name = !call.name.is_empty() && call.name != name;
            // The same arguments once more are no second call.
            let known = call.arguments.text();
            other_name || (is_object(known) && is_object(piece) && known != piece)
        });
        (!begins_anew).then_some(at)
    }

    /// The answer has ended. Unless it `ended` properly no call is whole: nothing
    /// says where one ends, and fragments of several may alternate.
    pub(super) fn done(
        &mut self,
        ended: bool,
        response: &str,
        model: &str,
        out: &mut Outbox,
    ) -> Vec<Reading> {
        let mut ids: BTreeSet<String> = self.0.iter().map(|call| call.id.clone()).collect();
        let mut readings = Vec::new();
        for mut call in std::mem::take(&mut self.0) {
            if call.name.is_empty() {
                let text = call.arguments.text();
                out.notice(&json!({"type": "nameless_call", "arguments": text}));
                readings.push(Reading::Malformed);
                continue;
            }
            if call.id.is_empty() {
                call.id = minted(response, call.part, &ids);
                ids.insert(call.id.clone());
            }
            call.announce(out);
            let input = call.arguments.input(ended);
            readings.push(match &input {
                CallInput::Raw(_) if call.arguments.read() != Reading::Malformed => Reading::Cut,
                _ => call.arguments.read(),
            });
            let kind = BlockKind::ToolCall(ToolCallBlock {
                id: call.id,
                name: call.name,
                input,
            });
            let data = call.extra.map(|extra| json!({EXTRA: extra}));
            let state = data.map(|data| state::state(PROTOCOL, model, &data));
            out.emit(Event::BlockDone((call.part, Block { kind, state })));
        }
        readings
    }
}

impl Call {
    fn add(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        piece: &str,
        out: &mut Outbox,
    ) -> Result<(), ProviderError> {
        if let Some(id) = id.filter(|_| self.id.is_empty()) {
            id.clone_into(&mut self.id);
        }
        if let Some(name) = name.filter(|_| self.name.is_empty()) {
            name.clone_into(&mut self.name);
        }
        self.arguments.push(piece)?;
        if self.announced {
            self.grow(piece, out);
        } else if !self.id.is_empty() && !self.name.is_empty() {
            self.announce(out);
        }
        Ok(())
    }

    fn announce(&mut self, out: &mut Outbox) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        let start = (self.part, self.id.clone(), self.name.clone());
        out.emit(Event::ToolCallStart(start));
        self.grow(self.arguments.text(), out);
    }

    fn grow(&self, piece: &str, out: &mut Outbox) {
        if !piece.is_empty() {
            out.emit(Event::ToolCallDelta((self.part, piece.to_owned())));
        }
    }
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<Value>(text).is_ok()
}

/// An id for a call without one, from what is unique to the answer.
fn minted(response: &str, part: u32, taken: &BTreeSet<String>) -> String {
    let response = if response.is_empty() {
        "call"
    } else {
        response
    };
    let mut id = format!("{response}_{part}");
    while taken.contains(&id) {
        id.push('x');
    }
    id
}
