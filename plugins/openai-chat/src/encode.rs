//! The request as a body of the Chat Completions protocol.

mod cache;
mod content;
mod messages;
mod thinking;
mod tools;

use crate::dialect::{self, Dialect, LimitField, SystemRole};
use crate::model::{self, Model};
use sectile_sdk::provider::{Encoded, Header, HttpRequest, ProviderError, Request};
use sectile_wire::extra::Extra;
use sectile_wire::names::Names;
use sectile_wire::notes::Notes;
use sectile_wire::sampling;
use serde_json::{Map, Value, json};

/// What all parts of the encoding need.
struct Context<'a> {
    request: &'a Request,
    dialect: Dialect,
    /// What OpenAI's model of this name refuses; nothing when it is another's.
    model: Option<Model>,
    names: Names,
    notes: Notes,
}

pub(crate) fn encode(request: &Request) -> Result<Encoded, ProviderError> {
    let mut extra = Extra::parse(&request.extra)?;
    let dialect = dialect::read(extra.take("dialect").as_ref())?;
    let path = extra.take_text("path")?;
    extra.take("version");
    let model = model::named(&request.model);
    let mut context = Context {
        request,
        dialect,
        model: dialect.openai_models.then_some(model),
        names: tools::names(request),
        notes: Notes::default(),
    };
    context.note_names();

    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    let messages = messages::build(&mut context);
    body.insert("messages".to_owned(), messages);
    let tools = tools::build(&mut context)?;
    let thinks = thinking::decide(&mut context, !tools.is_empty(), &mut body);
    tools::add(&mut context, tools, thinks, &mut body);
    context.limit(&mut body);
    context.sample(&mut body);
    context.stream(&mut body);
    context.cache_key(&mut body);
    extra.add_to(&mut body, &mut context.notes);

    let carry = json!({"model": request.model, "names": context.names.carry()});
    let path = path.unwrap_or_else(|| "/chat/completions".to_owned());
    Ok(Encoded {
        request: http(path, body),
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

    /// Who says the system context to this model.
    fn system_role(&self) -> SystemRole {
        match (self.dialect.system_role, self.model) {
            (SystemRole::Auto, Some(model)) if model.no_system => SystemRole::User,
            (SystemRole::Auto, Some(model)) if model.reasons => SystemRole::Developer,
            (SystemRole::Auto, _) => SystemRole::System,
            (role, _) => role,
        }
    }

    fn limit(&mut self, body: &mut Map<String, Value>) {
        let field = match self.dialect.limit_field {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        let limit = self.request.max_output_tokens.max(1);
        if limit != self.request.max_output_tokens {
            let why = "an answer has at least one token";
            self.notes.clamped("max_output_tokens", why);
        }
        body.insert(field.to_owned(), json!(limit));
    }

    fn sample(&mut self, body: &mut Map<String, Value>) {
        let Self {
            request,
            dialect,
            model,
            notes,
            ..
        } = self;
        if model.is_some_and(|model| model.reasons) {
            let why = "a model that reasons does not take it";
            for (field, is_set) in [
                ("temperature", request.temperature.is_some()),
                ("top_p", request.top_p.is_some()),
                ("stop", !request.stop.is_empty()),
            ] {
                if is_set {
                    notes.dropped(field, why);
                }
            }
            return;
        }
        let tenths = u16::try_from(dialect.max_temperature).unwrap_or(u16::MAX);
        let hottest = f32::from(tenths) / 10.0;
        for (field, value, high) in [
            ("temperature", request.temperature, hottest),
            ("top_p", request.top_p, 1.0),
        ] {
            let number = value.and_then(|v| sampling::number(v, 0.0, high, field, notes));
            if let Some(number) = number {
                body.insert(field.to_owned(), number);
            }
        }
        let most = usize::try_from(dialect.max_stops).unwrap_or(usize::MAX);
        let stops = sampling::stops(&request.stop, most, notes);
        if !stops.is_empty() {
            body.insert("stop".to_owned(), json!(stops));
        }
    }

    fn stream(&self, body: &mut Map<String, Value>) {
        if self.request.streaming {
            body.insert("stream".to_owned(), json!(true));
            if self.dialect.stream_options {
                let options = json!({"include_usage": true});
                body.insert("stream_options".to_owned(), options);
            }
        }
    }

    fn cache_key(&mut self, body: &mut Map<String, Value>) {
        match &self.request.cache_key {
            Some(key) if self.dialect.cache_key => {
                body.insert("prompt_cache_key".to_owned(), json!(key));
            }
            Some(_) => {
                let why = "this service has no groups of its prompt cache";
                self.notes.dropped("cache_key", why);
            }
            None => {}
        }
    }
}

fn http(path: String, body: Map<String, Value>) -> HttpRequest {
    let header = |name: &str, value: &str| Header {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    HttpRequest {
        method: "POST".to_owned(),
        path,
        query: Vec::new(),
        headers: vec![
            header("content-type", "application/json"),
            header("authorization", "Bearer {secret:api-key}"),
        ],
        body: Value::Object(body).to_string().into_bytes(),
    }
}
