//! An answer of the Messages protocol, in a stream or whole, as events.

mod part;

use part::Part;
use sectile_sdk::provider::{Decoder, Event, FinishReason, Finished, ProviderError, Usage};
use sectile_wire::arguments::{self, Reading};
use sectile_wire::outbox::{Outbox, Protocol, Reader, protocol};
use sectile_wire::problem::Problem;
use sectile_wire::sse::Frame;
use sectile_wire::usage::{self, counter};
use sectile_wire::{classify, names};
use serde_json::{Map, Value, json};

/// Characters of a frame that is no JSON which are shown.
const SHOWN: usize = 200;

/// Reads one answer.
pub struct MessagesDecoder(Reader<Messages>);

impl Decoder for MessagesDecoder {
    fn new(carry: &str, _content_type: &str) -> Self {
        let carry: Value = serde_json::from_str(carry).unwrap_or_default();
        Self(Reader::new(Messages::new(carry)))
    }

    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, ProviderError> {
        self.0.push(chunk)
    }

    fn finish(&mut self) -> Result<Vec<Event>, ProviderError> {
        self.0.finish()
    }
}

/// What has been read so far.
struct Messages {
    carry: Value,
    /// The model that the answer names.
    model: String,
    begun: bool,
    parts: u32,
    open: Vec<Open>,
    /// How the arguments of the calls read.
    calls: Vec<Reading>,
    usage: Map<String, Value>,
    stop_reason: Option<String>,
}

/// A part that is not done: what the protocol calls it, and what we do.
struct Open {
    wire: u64,
    part: u32,
    content: Part,
    /// It was said to be complete. A call is held back until what comes next
    /// tells whether the answer was cut inside it.
    ended: bool,
}

impl Messages {
    fn new(carry: Value) -> Self {
        let model = carry.get("model").and_then(Value::as_str);
        Self {
            model: model.unwrap_or_default().to_owned(),
            carry,
            begun: false,
            parts: 0,
            open: Vec::new(),
            calls: Vec::new(),
            usage: Map::new(),
            stop_reason: None,
        }
    }

    fn event(&mut self, kind: &str, event: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        match kind {
            "message_start" => self.message_start(event, out),
            "content_block_start" => {
                let block = object(event, "content_block")?;
                self.start(index(event)?, block, out)
            }
            "content_block_delta" => self.delta(index(event)?, object(event, "delta")?, out),
            "content_block_stop" => self.stop(index(event)?, out),
            "message_delta" => self.message_delta(event, out),
            "message_stop" => self.message_stop(out),
            "error" => Err(classify::in_stream(Problem::from_json(event))),
            "ping" => {
                out.notice(&json!({"type": "ping"}));
                Ok(())
            }
            _ => {
                out.notice(&json!({"type": "unknown_event", "event": event}));
                Ok(())
            }
        }
    }

    fn message_start(&mut self, event: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        let message = object(event, "message")?;
        if std::mem::replace(&mut self.begun, true) {
            out.notice(&json!({"type": "repeated_start"}));
        }
        if self.model.is_empty()
            && let Some(model) = message.get("model").and_then(Value::as_str)
        {
            model.clone_into(&mut self.model);
        }
        self.count(message.get("usage"), out);
        Ok(())
    }

    fn start(&mut self, wire: u64, block: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        self.release(false, out);
        let part = self.parts;
        self.parts += 1;
        let name = |wire: &str| {
            let map = self.carry.get("names").unwrap_or(&Value::Null);
            names::from_wire(map, wire).to_owned()
        };
        let content = Part::start(part, block, name, out)?;
        self.open.push(Open {
            wire,
            part,
            content,
            ended: false,
        });
        Ok(())
    }

    fn delta(&mut self, wire: u64, delta: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        let open = self
            .open
            .iter_mut()
            .rev()
            .find(|o| o.wire == wire && !o.ended);
        let Some(open) = open else {
            return Err(protocol(&format!("part {wire} grows and is not open")));
        };
        open.content.delta(open.part, delta, out)
    }

    fn stop(&mut self, wire: u64, out: &mut Outbox) -> Result<(), ProviderError> {
        let at = self.open.iter().rposition(|o| o.wire == wire && !o.ended);
        let Some(at) = at else {
            out.notice(&json!({"type": "repeated_stop", "index": wire}));
            return Ok(());
        };
        match self.open.get_mut(at) {
            Some(open) if open.content.is_call() => open.ended = true,
            _ => {
                let open = self.open.remove(at);
                self.done(open, true, out);
            }
        }
        Ok(())
    }

    /// The parts that were held back are done, in order. `cut` says that the
    /// answer broke off in the last of them.
    fn release(&mut self, cut: bool, out: &mut Outbox) {
        let (ended, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition::<Vec<_>, _>(|open| open.ended);
        self.open = open;
        let last = ended.len().saturating_sub(1);
        for (n, open) in ended.into_iter().enumerate() {
            // What was said to be complete, is not empty and parses is whole.
            let is_whole = !(cut && n == last && open.content.is_empty_call());
            self.done(open, is_whole, out);
        }
    }

    fn done(&mut self, open: Open, is_whole: bool, out: &mut Outbox) {
        let (block, reading) = open.content.done(open.part, is_whole, &self.model, out);
        self.calls.extend(reading);
        out.emit(Event::BlockDone((open.part, block)));
    }

    fn message_delta(&mut self, event: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        let delta = object(event, "delta")?;
        if let Some(reason) = delta.get("stop_reason").and_then(Value::as_str) {
            if self.stop_reason.is_some() {
                out.notice(&json!({"type": "repeated_finish", "reason": reason}));
            }
            self.stop_reason = Some(reason.to_owned());
        }
        for (key, value) in [
            ("stop_sequence", delta.get("stop_sequence")),
            ("stop_details", delta.get("stop_details")),
            ("context_management", event.get("context_management")),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                out.notice(&json!({"type": key, key: value}));
            }
        }
        self.count(event.get("usage"), out);
        Ok(())
    }

    fn message_stop(&mut self, out: &mut Outbox) -> Result<(), ProviderError> {
        let said = reason(self.stop_reason.as_deref());
        let cut = matches!(said, FinishReason::Length | FinishReason::ContextFull);
        self.release(cut, out);
        // Services that never say a part is complete say that the answer is.
        let is_whole = matches!(
            said,
            FinishReason::Stop | FinishReason::StopSequence | FinishReason::ToolCalls
        );
        for open in std::mem::take(&mut self.open) {
            self.done(open, is_whole, out);
        }
        out.finish(Finished {
            reason: arguments::finish_reason(said, &self.calls),
            raw: self.stop_reason.take(),
            usage: self.usage(),
        });
        Ok(())
    }

    /// Counters are totals: a later one takes the place of an earlier one.
    fn count(&mut self, usage: Option<&Value>, out: &mut Outbox) {
        let Some(Value::Object(usage)) = usage else {
            return;
        };
        for (key, value) in usage {
            let known = self.usage.get(key).and_then(Value::as_u64);
            // Totals do not fall; services that do not count again say 0.
            let forgets = value.as_u64() == Some(0) && known.is_some_and(|known| known > 0);
            if !value.is_null() && !forgets {
                self.usage.insert(key.clone(), value.clone());
            }
        }
        out.emit(Event::Usage(self.usage()));
    }

    fn usage(&self) -> Usage {
        let raw = Value::Object(self.usage.clone());
        Usage {
            input_tokens: counter(&raw, "/input_tokens"),
            output_tokens: counter(&raw, "/output_tokens"),
            cache_read_tokens: counter(&raw, "/cache_read_input_tokens"),
            cache_write_tokens: counter(&raw, "/cache_creation_input_tokens"),
            reasoning_tokens: usage::first(
                &raw,
                &[
                    "/output_tokens_details/thinking_tokens",
                    "/output_tokens_details/reasoning_tokens",
                ],
            ),
            raw: raw.to_string(),
        }
    }
}

impl Protocol for Messages {
    fn frame(&mut self, frame: &Frame, out: &mut Outbox) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        // Some gateways end every stream like this.
        if data == "[DONE]" || data.is_empty() {
            return Ok(());
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            let shown: String = data.chars().take(SHOWN).collect();
            out.notice(&json!({"type": "corrupt_frame", "data": shown}));
            return Ok(());
        };
        let said = event.get("type").and_then(Value::as_str);
        match said.or((!frame.event.is_empty()).then_some(frame.event.as_str())) {
            Some(kind) => self.event(kind, &event, out),
            None if event.get("error").is_some_and(|e| !e.is_null()) => {
                Err(classify::in_stream(Problem::from_json(&event)))
            }
            None if event.get("choices").is_some() => Err(protocol(
                "the service answers in another protocol, Chat Completions; correct the \
                 provider's adapter or its base URL",
            )),
            None => self.event("", &event, out),
        }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        let is_error = document.get("type").and_then(Value::as_str) == Some("error")
            || document.get("error").is_some_and(|e| !e.is_null());
        if is_error || document.is_array() {
            return Err(classify::in_stream(Problem::from_json(document)));
        }
        let Some(Value::Array(content)) = document.get("content") else {
            return Err(protocol("the answer is no message: it has no `content`"));
        };
        self.message_start(&json!({"message": document}), out)?;
        for (wire, block) in (0..).zip(content) {
            self.start(wire, block, out)?;
            self.stop(wire, out)?;
        }
        let mut end = document.clone();
        if let Value::Object(end) = &mut end {
            end.shift_remove("usage");
        }
        self.message_delta(&json!({"delta": end}), out)?;
        self.message_stop(out)
    }
}

fn reason(said: Option<&str>) -> FinishReason {
    match said {
        Some("end_turn") => FinishReason::Stop,
        Some("stop_sequence") => FinishReason::StopSequence,
        Some("tool_use") => FinishReason::ToolCalls,
        Some("max_tokens") => FinishReason::Length,
        Some("pause_turn") => FinishReason::Paused,
        Some("refusal") => FinishReason::Refusal,
        Some("model_context_window_exceeded") => FinishReason::ContextFull,
        _ => FinishReason::Other,
    }
}

fn object<'a>(event: &'a Value, key: &str) -> Result<&'a Value, ProviderError> {
    event
        .get(key)
        .filter(|value| value.is_object())
        .ok_or_else(|| protocol(&format!("an event of the answer has no `{key}`")))
}

fn index(event: &Value) -> Result<u64, ProviderError> {
    event
        .get("index")
        .and_then(Value::as_u64)
        .ok_or_else(|| protocol("an event of the answer has no `index`"))
}
