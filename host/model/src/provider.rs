//! What passes between the host and a provider's adapter (PV-1 to PV-10).

use crate::{Block, ModelRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A request with all that an adapter is told (CL-1): the engine's request, the
/// caller's intents, and where a prompt cache may end.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderRequest {
    /// The engine's request.
    pub request: ModelRequest,
    /// What the caller would like.
    pub intents: Intents,
    /// Stable boundaries.
    pub cache: CacheMarks,
}

/// What a caller would like; a protocol that refuses one leaves it out and says
/// so (PV-4).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Intents {
    /// Whether, and which, tools are called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Whether one answer may call several tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// Nucleus of sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    /// How much the model thinks first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingIntent>,
    /// Texts that end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether the answer comes in pieces.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub streaming: bool,
    /// Groups requests that share a prefix, for providers that route by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// Additions of one protocol, from the operator's configuration.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Whether, and which, tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As the model sees fit.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(String),
    /// Of these only.
    Allowed(Vec<String>),
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingIntent {
    /// Not at all.
    Off,
    /// As the model sees fit.
    Auto,
    /// `low`, `medium`, `high` and what else the provider names.
    Effort(String),
    /// At most so many tokens.
    Budget(u32),
}

/// Boundaries up to which a request stays the same from call to call (PV-10).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheMarks {
    /// The end of the system context.
    pub system: bool,
    /// The end of the tools.
    pub tools: bool,
    /// The last message before the newest turn, by its place.
    pub message: Option<usize>,
}

/// One HTTP request, relative to the operator's base URL and without secrets:
/// a header value may hold `{secret:NAME}` (PL-16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// As in `POST`.
    pub method: String,
    /// As in `/v1/messages`.
    pub path: String,
    /// In order, not yet escaped.
    pub query: Vec<(String, String)>,
    /// In order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request as an adapter encoded it.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedRequest {
    /// What is sent.
    pub http: HttpRequest,
    /// What the protocol did not take as it was.
    pub diagnostics: Vec<Diagnostic>,
    /// For the decoder of the answer, a JSON text.
    pub carry: String,
}

/// Something of a request that a protocol did not take as it was (PV-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Which field.
    pub field: String,
    /// What became of it.
    pub action: DiagnosticAction,
    /// Why.
    pub why: String,
}

/// What became of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticAction {
    /// Left out.
    Dropped,
    /// Brought into range.
    Clamped,
    /// Put elsewhere.
    Moved,
    /// Replaced by the nearest thing.
    Approximated,
    /// Given another name, reversibly.
    Renamed,
}

/// What a decoder says, one at a time (CL-2).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ProviderEvent {
    /// More text.
    TextDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// More thinking.
    ThinkingDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// More of a refusal.
    RefusalDelta {
        /// Index of the part.
        part: u32,
        /// The piece.
        text: String,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Index of the part.
        part: u32,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More arguments.
    ToolCallDelta {
        /// Index of the part.
        part: u32,
        /// The piece, not JSON by itself.
        json: String,
    },
    /// A whole part; it holds over its pieces.
    BlockDone {
        /// Index of the part.
        part: u32,
        /// The part.
        block: Block,
    },
    /// What has been counted so far.
    Usage(Usage),
    /// Something that changes nothing: a ping, an unknown event, a corrupt frame.
    Notice {
        /// What it was.
        notice: Value,
    },
    /// The end. Exactly one, and nothing after it.
    Finished(Finished),
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finished {
    /// Why.
    pub reason: FinishReason,
    /// The provider's word for it.
    pub raw: Option<String>,
    /// What it cost.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model had no more to say.
    Stop,
    /// One of the stop texts came.
    StopSequence,
    /// It calls tools.
    ToolCalls,
    /// It ran into its output limit.
    Length,
    /// The provider held it back.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The window is full.
    ContextFull,
    /// The provider pauses and is to be asked to go on.
    Paused,
    /// The model wrote a tool call that is none.
    MalformedToolCall,
    /// It was cancelled.
    Cancelled,
    /// Something else; see the provider's word.
    Other,
}

/// Tokens, in one meaning for all providers (PV-9). `None` is unknown and not zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Input that came from no cache.
    pub input_tokens: Option<u64>,
    /// Output, thinking included.
    pub output_tokens: Option<u64>,
    /// Input that came from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Input that was written into a cache.
    pub cache_write_tokens: Option<u64>,
    /// Of the output, what was thought.
    pub reasoning_tokens: Option<u64>,
    /// The provider's own object.
    pub raw: Value,
}

/// Why a provider did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of error.
    pub class: ErrorClass,
    /// The provider's words.
    pub message: String,
    /// What may help.
    pub retry: Retry,
    /// The provider's code.
    pub code: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// Kinds of errors of providers (PV-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The input does not fit the window.
    ContextOverflow,
    /// Too many requests.
    RateLimited,
    /// The provider is too busy.
    Overloaded,
    /// The key is wrong.
    Authentication,
    /// The key may not do this.
    Permission,
    /// There is no such model.
    NotFound,
    /// The request is wrong.
    InvalidRequest,
    /// The provider held it back.
    ContentFilter,
    /// The account is exhausted.
    Quota,
    /// The provider failed.
    Server,
    /// The answer broke off.
    Truncated,
    /// The answer is not in the protocol.
    Protocol,
    /// Something else.
    Other,
}

impl ErrorClass {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ContextOverflow => "context_overflow",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::ContentFilter => "content_filter",
            Self::Quota => "quota",
            Self::Server => "server",
            Self::Truncated => "truncated",
            Self::Protocol => "protocol",
            Self::Other => "other",
        }
    }
}

/// What may help against an error (PV-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Nothing.
    Never,
    /// The same again, after a while.
    Same,
    /// The same again, after so many milliseconds.
    AfterMs(u64),
    /// Again without provider state.
    StripState,
    /// Again with less output.
    LowerOutput,
    /// Again with less input.
    Compact,
}

/// What a model can do, as its adapter knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderCapabilities {
    /// Tokens of input and output together.
    pub context_window: u64,
    /// Tokens it may answer with.
    pub max_output_tokens: u64,
    /// Tokens it may think with besides.
    pub max_reasoning_tokens: u64,
    /// Media types of data blocks that it takes.
    pub accepts_data: Vec<String>,
    /// Whether it calls tools.
    pub tool_calls: bool,
    /// Whether one answer may call several.
    pub parallel_tool_calls: bool,
    /// Whether temperature and the like are taken.
    pub sampling: bool,
    /// Efforts of thinking by name; empty when it does not think.
    pub thinking: Vec<String>,
    /// Marks of a prompt cache that one request may have.
    pub prompt_cache_marks: u32,
    /// Whether tools may be deferred.
    pub defer_tools: bool,
}

/// A request in the form of CL-1: one object with the fields of the engine's
/// request and of the intents.
impl Serialize for ProviderRequest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten)]
            request: &'a ModelRequest,
            #[serde(flatten)]
            intents: &'a Intents,
            #[serde(skip_serializing_if = "no_marks")]
            cache: &'a CacheMarks,
        }
        Fields {
            request: &self.request,
            intents: &self.intents,
            cache: &self.cache,
        }
        .serialize(serializer)
    }
}

fn no_marks(marks: &CacheMarks) -> bool {
    *marks == CacheMarks::default()
}

impl<'de> Deserialize<'de> for ProviderRequest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        const REQUEST: [&str; 5] = ["model", "system", "messages", "tools", "max_output_tokens"];
        let mut fields = Map::deserialize(deserializer)?;
        let mut request = Map::new();
        for name in REQUEST {
            if let Some(value) = fields.shift_remove(name) {
                request.insert(name.to_owned(), value);
            }
        }
        let cache = fields.shift_remove("cache");
        Ok(Self {
            request: serde_json::from_value(Value::Object(request)).map_err(D::Error::custom)?,
            intents: serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)?,
            cache: match cache {
                Some(cache) => serde_json::from_value(cache).map_err(D::Error::custom)?,
                None => CacheMarks::default(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cl_1_a_request_prints_what_it_was_read_from() {
        for request in [
            json!({"model": "m", "system": [], "messages": [], "tools": [], "max_output_tokens": 1}),
            json!({"model": "m", "system": [], "messages": [], "tools": [], "max_output_tokens": 1,
                   "tool_choice": {"named": "a"}, "temperature": 0.5, "thinking": {"effort": "low"},
                   "stop": ["x"], "streaming": true, "extra": {"dialect": "qwen"},
                   "cache": {"system": true, "tools": false, "message": 3}}),
            json!({"model": "m", "system": [], "messages": [], "tools": [], "max_output_tokens": 1,
                   "tool_choice": "auto", "thinking": "off"}),
        ] {
            let read: ProviderRequest = serde_json::from_value(request.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), request);
        }
    }

    #[test]
    fn cl_1_unknown_and_missing_fields_are_refused() {
        for request in [
            json!({"model": "m", "system": [], "messages": [], "tools": []}),
            json!({"model": "m", "system": [], "messages": [], "tools": [], "max_output_tokens": 1, "temprature": 1}),
            json!({"model": "m", "system": [], "messages": [], "tools": [], "max_output_tokens": 1, "cache": {"x": 1}}),
            json!([]),
        ] {
            assert!(
                serde_json::from_value::<ProviderRequest>(request.clone()).is_err(),
                "{request}"
            );
        }
    }
}
