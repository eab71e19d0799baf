//! Tools: what a model can have done.
//!
//! A plugin lists its tools, each with the type of its arguments; the JSON
//! Schema that the model sees comes from that type, and the host checks
//! arguments against it before the plugin is called.
//!
//! ```
//! use sectile_sdk::tool::{Output, Tool, Tools};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// The arguments; a doc comment is what the model reads of a parameter.
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Count {
//!     /// The text whose words are counted
//!     text: String,
//! }
//!
//! struct Words;
//!
//! impl Tools for Words {
//!     fn tools() -> Vec<Tool> {
//!         vec![
//!             Tool::new("count_words", "Counts the words of a text.", |input: Count, _| {
//!                 Ok(Output::text(input.text.split_whitespace().count().to_string()))
//!             })
//!             .read_only(),
//!         ]
//!     }
//! }
//!
//! sectile_sdk::export_tools!(Words);
//! # fn main() {}
//! ```

use crate::Failure;
use crate::tool_bindings::exports::sectile::plugin::tool as contract;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a plugin keeps between calls, in one workspace; needs the `kv` capability.
pub mod values {
    pub use crate::tool_bindings::sectile::plugin::kv::{delete, get, keys, set};
}

/// Which version of a file the session has seen last.
pub mod seen_files {
    pub use crate::tool_bindings::sectile::plugin::seen_files::{last, note};
}

/// Shows how far the running call is; `done` and `total` are in one unit.
pub fn progress(message: &str, done: Option<u64>, total: Option<u64>) {
    crate::tool_bindings::sectile::plugin::progress::report(message, done, total);
}

/// A plugin that offers tools.
pub trait Tools {
    /// The tools, in the order in which they are advertised; the same each time.
    fn tools() -> Vec<Tool>;
}

/// Which call it is.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The call's id.
    pub call_id: &'a str,
    /// The session's id.
    pub session_id: &'a str,
}

type Run = Box<dyn Fn(&str, &Context<'_>) -> Result<Output, Failure>>;

/// A tool: how the model sees it, and what it does.
pub struct Tool {
    definition: contract::Definition,
    run: Run,
}

impl Tool {
    /// The tool `name` that takes an `I`. Until it says otherwise it counts as
    /// one that changes things.
    pub fn new<I: DeserializeOwned + JsonSchema>(
        name: &str,
        description: &str,
        run: impl Fn(I, &Context<'_>) -> Result<Output, Failure> + 'static,
    ) -> Self {
        let parse = |input: &str| {
            serde_json::from_str(input).map_err(|e| Failure::InvalidInput(e.to_string()))
        };
        Self {
            definition: contract::Definition {
                name: name.to_owned(),
                description: description.to_owned(),
                input_schema: schema::<I>(),
                output_schema: None,
                effects: contract::Effects {
                    read_only: false,
                    destructive: false,
                    idempotent: false,
                    open_world: false,
                },
                defer: false,
                search_hint: None,
            },
            run: Box::new(move |input, context| run(parse(input)?, context)),
        }
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.definition.effects.read_only = true;
        self.definition.effects.idempotent = true;
        self
    }

    /// What it changes may be lost.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.definition.effects.destructive = true;
        self
    }

    /// Twice is the same as once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.definition.effects.idempotent = true;
        self
    }

    /// It deals with more than this machine.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.definition.effects.open_world = true;
        self
    }

    /// It is advertised only after the model has searched for it; `hint` has
    /// words that help to find it.
    #[must_use]
    pub fn deferred(mut self, hint: &str) -> Self {
        self.definition.defer = true;
        self.definition.search_hint = Some(hint.to_owned());
        self
    }

    /// Its structured output is an `O`.
    #[must_use]
    pub fn returns<O: JsonSchema>(mut self) -> Self {
        self.definition.output_schema = Some(schema::<O>());
        self
    }
}

/// What a tool answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    content: Vec<String>,
    structured: Option<Value>,
    artifact: Option<Value>,
    is_error: bool,
}

impl Output {
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![text.into()],
            ..Self::default()
        }
    }

    /// The report of a failure that the model can do something about.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// The same for programs.
    ///
    /// # Errors
    /// [`Failure::Internal`] when `value` has no JSON form.
    pub fn structured(mut self, value: &impl Serialize) -> Result<Self, Failure> {
        let json = serde_json::to_value(value).map_err(|e| Failure::Internal(e.to_string()))?;
        self.structured = Some(json);
        Ok(self)
    }

    /// Something for user interfaces; the model never sees it.
    #[must_use]
    pub fn artifact(mut self, value: Value) -> Self {
        self.artifact = Some(value);
        self
    }

    /// The texts for the model, one after the other.
    #[must_use]
    pub fn as_text(&self) -> String {
        self.content.join("\n")
    }

    /// Whether it is the report of a failure.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

impl From<Output> for contract::Output {
    fn from(output: Output) -> Self {
        Self {
            content: output
                .content
                .into_iter()
                .map(contract::Block::Text)
                .collect(),
            structured: output.structured.map(|value| value.to_string()),
            artifact: output.artifact.map(|value| value.to_string()),
            is_error: output.is_error,
        }
    }
}

/// The schema of `T`, without what costs a model tokens and tells it nothing.
fn schema<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.as_value().to_string()
}

fn plain(schema: &mut Schema) {
    schema.remove("title");
    // The names of Rust's integers are no format of JSON Schema.
    let of_rust = |format: &str| format.starts_with("int") || format.starts_with("uint");
    if schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(of_rust)
    {
        schema.remove("format");
    }
}

/// Runs a tool outside WebAssembly, for the plugin's own tests.
///
/// # Errors
/// The tool's own, and [`Failure::InvalidInput`] for a tool that is not there.
pub fn run<T: Tools>(name: &str, input: &Value) -> Result<Output, Failure> {
    let context = Context {
        call_id: "test",
        session_id: "test",
    };
    call::<T>(name, &input.to_string(), &context)
}

fn call<T: Tools>(name: &str, input: &str, context: &Context<'_>) -> Result<Output, Failure> {
    let tools = T::tools();
    match tools.iter().find(|tool| tool.definition.name == name) {
        Some(tool) => (tool.run)(input, context),
        None => Err(Failure::InvalidInput(format!(
            "this plugin has no tool `{name}`"
        ))),
    }
}

/// The tools as the contract wants them.
#[doc(hidden)]
pub struct Exported<T>(std::marker::PhantomData<T>);

impl<T: Tools> contract::Guest for Exported<T> {
    fn definitions() -> Result<Vec<contract::Definition>, Failure> {
        Ok(T::tools().into_iter().map(|tool| tool.definition).collect())
    }

    fn call(
        name: String,
        input: String,
        context: contract::CallContext,
    ) -> Result<contract::Output, Failure> {
        let context = Context {
            call_id: &context.call_id,
            session_id: &context.session_id,
        };
        Ok(call::<T>(&name, &input, &context)?.into())
    }
}

/// Exports a type with [`Tools`] as the tools of this component.
///
/// Outside WebAssembly nothing is exported: linkers there refuse the
/// contract's symbol names.
#[macro_export]
macro_rules! export_tools {
    ($tools:ty) => {
        const _: () = {
            #[cfg(not(target_family = "wasm"))]
            const _: ::std::marker::PhantomData<$crate::tool::Exported<$tools>> =
                $crate::tool::exported::<$tools>();

            #[cfg(target_family = "wasm")]
            type Exported = $crate::tool::Exported<$tools>;
            #[cfg(target_family = "wasm")]
    $crate::tool_bindings::export_tool_world!(Exported with_types_in $crate::tool_bindings);
        };
    };
}

/// Checks outside WebAssembly that `T` can be exported.
#[doc(hidden)]
#[must_use]
pub const fn exported<T: Tools>() -> std::marker::PhantomData<Exported<T>> {
    std::marker::PhantomData
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Input {
        /// Where
        path: String,
        /// From which line
        #[serde(default = "one")]
        offset: u32,
    }

    fn one() -> u32 {
        1
    }

    struct Own;

    impl Tools for Own {
        fn tools() -> Vec<Tool> {
            vec![Tool::new("show", "Shows.", |input: Input, _| {
                Ok(Output::text(format!("{}:{}", input.path, input.offset)))
            })]
        }
    }

    #[test]
    fn tl_6_a_schema_is_closed_and_has_nothing_that_says_nothing() {
        let schema: Value = serde_json::from_str(&schema::<Input>()).unwrap();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where"},
                    "offset": {"type": "integer", "description": "From which line", "minimum": 0, "default": 1}
                },
                "required": ["path"],
                "additionalProperties": false
            })
        );
    }

    #[test]
    fn a_tool_gets_its_arguments_as_its_type() {
        let shown = run::<Own>("show", &json!({"path": "a"})).unwrap();
        assert_eq!(shown.as_text(), "a:1");
        for (name, input) in [
            ("show", json!({"path": "a", "more": 1})),
            ("show", json!({})),
            ("other", json!({})),
        ] {
            assert!(matches!(
                run::<Own>(name, &input),
                Err(Failure::InvalidInput(_))
            ));
        }
    }
}
