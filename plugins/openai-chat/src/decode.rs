//! An answer of the Chat Completions protocol, in a stream or whole, as events.

mod calls;
mod count;
mod part;
mod reasoning;

pub(crate) use calls::EXTRA;
pub(crate) use reasoning::join;

use calls::Calls;
use part::{Kind, Part};
use sectile_sdk::provider::{
    Decoder, ErrorClass, Event, FinishReason, Finished, ProviderError, Retry,
};
use sectile_wire::arguments;
use sectile_wire::classify;
use sectile_wire::outbox::{Outbox, Protocol, Reader, protocol, truncated};
use sectile_wire::problem::Problem;
use sectile_wire::sse::Frame;
use sectile_wire::usage;
use serde_json::{Value, json};

/// Characters of a frame that is no JSON which are shown.
const SHOWN: usize = 200;

/// Reads one answer.
pub struct ChatDecoder(Reader<Chat>);

impl Decoder for ChatDecoder {
    fn new(carry: &str, _content_type: &str) -> Self {
        let carry: Value = serde_json::from_str(carry).unwrap_or_default();
        Self(Reader::new(Chat::new(carry)))
    }

    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, ProviderError> {
        self.0.push(chunk)
    }

    fn finish(&mut self) -> Result<Vec<Event>, ProviderError> {
        self.0.finish()
    }
}

/// What has been read so far.
struct Chat {
    carry: Value,
    /// The model that state belongs to: as asked for, else as the answer says.
    model: String,
    response: String,
    parts: u32,
    /// The part that is growing, when it is no call.
    current: Option<Part>,
    calls: Calls,
    refused: bool,
    /// Anything of the answer was there.
    begun: bool,
    finish: Option<String>,
    usage: Value,
}

impl Chat {
    fn new(carry: Value) -> Self {
        let model = carry.get("model").and_then(Value::as_str);
        Self {
            model: model.unwrap_or_default().to_owned(),
            carry,
            response: String::new(),
            parts: 0,
            current: None,
            calls: Calls::default(),
            refused: false,
            begun: false,
            finish: None,
            usage: Value::Null,
        }
    }

    /// A chunk of a stream, or the whole answer: they differ in a key.
    fn chunk(&mut self, chunk: &Value, key: &str, out: &mut Outbox) -> Result<(), ProviderError> {
        if let Some(error) = error_in(chunk) {
            return Err(error);
        }
        for (field, known) in [("model", &mut self.model), ("id", &mut self.response)] {
            if known.is_empty()
                && let Some(said) = chunk.get(field).and_then(Value::as_str)
            {
                said.clone_into(known);
            }
        }
        self.count(chunk, out);
        let choices = match chunk.get("choices") {
            Some(Value::Array(choices)) => choices,
            Some(Value::Null) => return Ok(()),
            None if chunk.get("usage").is_some() => return Ok(()),
            None => return self.stray(chunk, out),
            Some(_) => return Err(protocol("the `choices` of the answer are no list")),
        };
        for choice in choices {
            if !choice.is_object() {
                return Err(protocol("a choice of the answer is no object"));
            }
            let index = choice.get("index").and_then(Value::as_u64);
            if index.unwrap_or(0) == 0 {
                self.choice(choice, key, out)?;
            } else {
                out.notice(&json!({"type": "other_choice", "choice": choice}));
            }
        }
        Ok(())
    }

    fn stray(&self, chunk: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        let kind = chunk
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if kind.starts_with("response.") || kind == "message_start" {
            return Err(protocol(
                "the service answers in another protocol; correct the provider's adapter or \
                 its base URL",
            ));
        }
        out.notice(&json!({"type": "unknown_event", "event": chunk}));
        Ok(())
    }

    fn choice(&mut self, choice: &Value, key: &str, out: &mut Outbox) -> Result<(), ProviderError> {
        if let Some(error) = error_in(choice) {
            return Err(error);
        }
        match choice.get(key) {
            Some(delta @ Value::Object(_)) => self.delta(delta, out)?,
            None | Some(Value::Null) => {}
            Some(_) => return Err(protocol(&format!("a `{key}` of the answer is no object"))),
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            if self.finish.is_some() {
                out.notice(&json!({"type": "repeated_finish", "reason": reason}));
            }
            // One that says the answer is not whole holds.
            if self.finish.is_none() || !is_whole(self::reason(reason)) {
                self.finish = Some(reason.to_owned());
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        self.begun = true;
        let (field, text, details) = reasoning::of(delta);
        if text.is_some() || !details.is_empty() {
            let part = self.part(Kind::Thinking, out);
            part.think(field, text.as_deref(), details, out);
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.text(Kind::Text, text, out),
            Some(Value::Array(parts)) => self.content(parts, out),
            None | Some(Value::Null) => {}
            Some(_) => return Err(protocol("the `content` of the answer is no text")),
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.text(Kind::Refusal, text, out);
        }
        match delta.get("tool_calls") {
            Some(Value::Array(calls)) => {
                for call in calls.iter().filter(|call| !call.is_null()) {
                    self.call(call, out)?;
                }
            }
            None | Some(Value::Null) => {}
            Some(_) => return Err(protocol("the `tool_calls` of the answer are no list")),
        }
        // The form that came before `tool_calls`.
        match delta.get("function_call") {
            Some(function @ Value::Object(_)) => {
                self.call(&json!({"index": 0, "function": function}), out)
            }
            _ => Ok(()),
        }
    }

    /// Content in parts, as Mistral's models that reason give it.
    fn content(&mut self, parts: &[Value], out: &mut Outbox) {
        for part in parts {
            let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
            match text("type") {
                "text" | "output_text" => self.text(Kind::Text, text("text"), out),
                "refusal" => self.text(Kind::Refusal, text("refusal"), out),
                "thinking" => {
                    let inner = part.get("thinking").and_then(Value::as_array);
                    for piece in inner.into_iter().flatten() {
                        if let Some(piece) = piece.get("text").and_then(Value::as_str) {
                            let part = self.part(Kind::Thinking, out);
                            part.think("content", Some(piece), Vec::new(), out);
                        }
                    }
                }
                _ => out.notice(&json!({"type": "unknown_part", "part": part})),
            }
        }
    }

    fn text(&mut self, kind: Kind, text: &str, out: &mut Outbox) {
        if !text.is_empty() {
            self.refused |= kind == Kind::Refusal;
            self.part(kind, out).say(text, out);
        }
    }

    fn call(&mut self, call: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        self.end_part(out);
        let names = self.carry.get("names").unwrap_or(&Value::Null);
        self.calls.fragment(call, &mut self.parts, names, out)
    }

    /// The growing part, which is of `kind` from now on.
    fn part(&mut self, kind: Kind, out: &mut Outbox) -> &mut Part {
        if self.current.as_ref().is_some_and(|part| part.kind != kind) {
            self.end_part(out);
        }
        let parts = &mut self.parts;
        self.current.get_or_insert_with(|| {
            *parts += 1;
            Part::new(*parts - 1, kind)
        })
    }

    fn end_part(&mut self, out: &mut Outbox) {
        if let Some(part) = self.current.take() {
            out.emit(part.done(&self.model));
        }
    }

    /// Counters are totals: the last ones hold.
    fn count(&mut self, chunk: &Value, out: &mut Outbox) {
        let found = chunk.get("usage").filter(|usage| usage.is_object());
        let found = found.or_else(|| chunk.pointer("/x_groq/usage"));
        if let Some(usage) = found
            && *usage != self.usage
        {
            self.usage = usage.clone();
            out.emit(Event::Usage(count::usage(usage)));
        }
    }

    fn done(&mut self, out: &mut Outbox) -> Result<(), ProviderError> {
        let said = self.finish.as_deref();
        let reason = match said {
            // The service's end, without a word on the reason.
            None => FinishReason::Stop,
            Some("error") => {
                return Err(failed(
                    "the service broke the answer off",
                    ErrorClass::Server,
                ));
            }
            Some("insufficient_system_resource") => {
                let why = "the service ran out of resources in the midst of the answer";
                return Err(failed(why, ErrorClass::Overloaded));
            }
            Some(said) => reason(said),
        };
        self.end_part(out);
        let ended = is_whole(reason);
        let readings = self.calls.done(ended, &self.response, &self.model, out);
        let reason = match arguments::finish_reason(reason, &readings) {
            FinishReason::Stop if self.refused => FinishReason::Refusal,
            reason => reason,
        };
        let usage = match &self.usage {
            Value::Null => usage::unknown(),
            usage => count::usage(usage),
        };
        out.finish(Finished {
            reason,
            raw: self.finish.take(),
            usage,
        });
        Ok(())
    }
}

impl Protocol for Chat {
    fn frame(&mut self, frame: &Frame, out: &mut Outbox) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        match data {
            // Gateways keep connections alive with nothing.
            "" | "null" => return Ok(()),
            "[DONE]" if self.begun || self.finish.is_some() => return self.done(out),
            "[DONE]" => return Err(truncated()),
            _ => {}
        }
        match serde_json::from_str::<Value>(data) {
            Ok(chunk) => self.chunk(&chunk, "delta", out),
            Err(_) if frame.event == "error" => {
                Err(classify::in_stream(Problem::from_body(data.as_bytes())))
            }
            Err(_) => {
                let shown: String = data.chars().take(SHOWN).collect();
                out.notice(&json!({"type": "corrupt_frame", "data": shown}));
                Ok(())
            }
        }
    }

    fn document(&mut self, document: &Value, out: &mut Outbox) -> Result<(), ProviderError> {
        if document.is_array() {
            return Err(classify::in_stream(Problem::from_json(document)));
        }
        self.chunk(document, "message", out)?;
        if self.begun || self.finish.is_some() {
            self.done(out)
        } else {
            Err(protocol("the answer is no completion: it has no `choices`"))
        }
    }

    /// Not every service says `[DONE]`.
    fn end(&mut self, out: &mut Outbox) -> Result<(), ProviderError> {
        match self.finish {
            Some(_) => self.done(out),
            None => Err(truncated()),
        }
    }
}

/// An error, wherever services put it; it counts more than what stands beside it.
fn error_in(object: &Value) -> Option<ProviderError> {
    let has_error = object.get("error").is_some_and(|error| !error.is_null());
    let is_error = ["object", "type"]
        .iter()
        .any(|key| object.get(key).and_then(Value::as_str) == Some("error"));
    (has_error || is_error).then(|| classify::in_stream(Problem::from_json(object)))
}

fn failed(why: &str, class: ErrorClass) -> ProviderError {
    ProviderError {
        class,
        retry: Retry::Same,
        ..protocol(why)
    }
}

fn is_whole(reason: FinishReason) -> bool {
    matches!(
        reason,
        FinishReason::Stop | FinishReason::StopSequence | FinishReason::ToolCalls
    )
}

fn reason(said: &str) -> FinishReason {
    match said {
        "stop" | "eos" | "eos_token" | "end_turn" => FinishReason::Stop,
        "stop_sequence" => FinishReason::StopSequence,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "model_length" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "abort" | "cancelled" => FinishReason::Cancelled,
        _ => FinishReason::Other,
    }
}
