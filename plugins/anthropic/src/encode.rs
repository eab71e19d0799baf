//! The request as a body of the Messages protocol.

mod cache;
mod content;
mod messages;
mod thinking;
mod tools;

use crate::model::{self, Model};
use cache::Built;
use sectile_sdk::provider::{Encoded, Header, HttpRequest, ProviderError, Request};
use sectile_wire::extra::Extra;
use sectile_wire::names::Names;
use sectile_wire::notes::Notes;
use sectile_wire::outbox::invalid;
use sectile_wire::sampling;
use serde_json::{Map, Value, json};

/// More stop texts than anyone sends.
const MAX_STOPS: usize = 8_191;

/// What all parts of the encoding need.
struct Context<'a> {
    request: &'a Request,
    model: Model,
    names: Names,
    notes: Notes,
}

/// Versions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V2023,
    /// Takes no sampling parameters from any model.
    V2026,
}

impl Version {
    fn parse(text: Option<&str>) -> Result<Self, ProviderError> {
        match text {
            None | Some("2023-06-01") => Ok(Self::V2023),
            Some("2026-10-21") => Ok(Self::V2026),
            Some(other) => Err(invalid(&format!(
                "the provider's `extra.version` is `{other}`; known are 2023-06-01 and 2026-10-21"
            ))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::V2023 => "2023-06-01",
            Self::V2026 => "2026-10-21",
        }
    }
}

pub(crate) fn encode(request: &Request) -> Result<Encoded, ProviderError> {
    let mut extra = Extra::parse(&request.extra)?;
    let version = Version::parse(extra.take_text("version")?.as_deref())?;
    let path = extra.take_text("path")?;
    extra.take("dialect");
    let mut context = Context {
        request,
        model: model::named(&request.model),
        names: tools::names(request),
        notes: Notes::default(),
    };
    context.note_names();

    let max_tokens = context.max_tokens();
    let mut messages = messages::build(&mut context);
    let thinking = thinking::decide(&mut context, max_tokens, &messages);
    messages.close(&mut context, thinking.is_on());
    let mut tools = tools::build(&mut context)?;
    let mut system = context.system();
    cache::mark(&mut context, &mut system, &mut tools, messages.list());

    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(max_tokens));
    if !tools.is_empty() {
        body.insert("tools".to_owned(), cache::values(tools));
    }
    if let Some(choice) = tools::choice(&mut context, &body, thinking.is_on()) {
        body.insert("tool_choice".to_owned(), choice);
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), cache::values(system));
    }
    context.sample(&mut body, version, thinking.is_on());
    thinking.add_to(&mut body);
    if request.streaming {
        body.insert("stream".to_owned(), json!(true));
    }
    let uses_files = messages.uses_files();
    body.insert("messages".to_owned(), messages.into_json());
    extra.add_to(&mut body, &mut context.notes);

    let carry = json!({"model": request.model, "names": context.names.carry()});
    let path = path.unwrap_or_else(|| "/v1/messages".to_owned());
    Ok(Encoded {
        request: http(version, path, uses_files, &body),
        diagnostics: context.notes.into_diagnostics(),
        carry: carry.to_string(),
    })
}

impl Context<'_> {
    fn note_names(&mut self) {
        for (name, wire) in self.names.changed() {
            let why = format!("`{name}` is called `{wire}` in this protocol");
            self.notes.renamed("tools", &why);
        }
    }

    fn max_tokens(&mut self) -> u32 {
        let asked = self.request.max_output_tokens;
        let highest = if self.model.known {
            self.model.max_output
        } else {
            u32::MAX
        };
        let clamped = asked.clamp(1, highest);
        if clamped != asked {
            let why = format!("this model answers with 1 to {highest} tokens");
            self.notes.clamped("max_output_tokens", &why);
        }
        clamped
    }

    fn system(&self) -> Vec<Built> {
        let parts = self.request.system.iter();
        let parts = parts.filter(|part| !part.content.trim().is_empty());
        parts
            .map(|part| Built {
                value: json!({"type": "text", "text": part.content}),
                hint: part.cache_hint,
            })
            .collect()
    }

    fn sample(&mut self, body: &mut Map<String, Value>, version: Version, thinks: bool) {
        let Self {
            request,
            model,
            notes,
            ..
        } = self;
        let (mut temperature, mut top_p) = (request.temperature, request.top_p);
        let refused = match version {
            Version::V2026 => Some("version 2026-10-21 takes no sampling parameters"),
            Version::V2023 if !model.sampling => Some("this model takes no sampling parameters"),
            Version::V2023 => None,
        };
        if let Some(why) = refused {
            drop_field(&mut temperature, "temperature", why, notes);
            drop_field(&mut top_p, "top_p", why, notes);
        }
        if thinks {
            let why = "a model that thinks does not take it";
            drop_field(&mut temperature, "temperature", why, notes);
            if top_p.is_some_and(|p| p < 0.95) {
                drop_field(&mut top_p, "top_p", why, notes);
            }
        }
        if temperature.is_some() {
            let why = "only one of temperature and top_p is taken";
            drop_field(&mut top_p, "top_p", why, notes);
        }
        for (field, value) in [("temperature", temperature), ("top_p", top_p)] {
            let number = value.and_then(|v| sampling::number(v, 0.0, 1.0, field, notes));
            if let Some(number) = number {
                body.insert(field.to_owned(), number);
            }
        }
        let stops = sampling::stops(&request.stop, MAX_STOPS, notes);
        if !stops.is_empty() {
            body.insert("stop_sequences".to_owned(), json!(stops));
        }
    }
}

fn drop_field(value: &mut Option<f32>, field: &str, why: &str, notes: &mut Notes) {
    if value.take().is_some() {
        notes.dropped(field, why);
    }
}

fn http(
    version: Version,
    path: String,
    uses_files: bool,
    body: &Map<String, Value>,
) -> HttpRequest {
    let header = |name: &str, value: &str| Header {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let mut headers = vec![
        header("content-type", "application/json"),
        header("anthropic-version", version.name()),
        header("x-api-key", "{secret:api-key}"),
    ];
    if uses_files {
        headers.push(header("anthropic-beta", "files-api-2025-04-14"));
    }
    HttpRequest {
        method: "POST".to_owned(),
        path,
        query: Vec::new(),
        headers,
        body: Value::Object(body.clone()).to_string().into_bytes(),
    }
}
