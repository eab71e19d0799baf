//! Calling the tools of a plugin.

use crate::call::{Call, Outcome};
use crate::contract::{ToolPluginPre, tool_export as wit};
use crate::error::SandboxError;
use crate::lift::{data, json};
use crate::sandbox::Plugin;
use crate::state::CallState;
use sectile_model::{Digest, ResultBlock};
use serde_json::Value;

/// A plugin that offers tools.
#[derive(Clone)]
pub struct ToolPlugin {
    plugin: Plugin,
    pre: ToolPluginPre<CallState>,
}

/// A tool as its plugin describes it. Nothing in it is checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name in the plugin.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured output, when it has one.
    pub output_schema: Option<Value>,
    /// What the plugin says that it does to the world.
    pub effects: Effects,
    /// Whether it is advertised only after it was found.
    pub defer: bool,
    /// Words that help to find it.
    pub search_hint: Option<String>,
}

/// What a tool does to the world (SR-90). The default is the worst that a tool
/// without grants can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects {
    /// It changes nothing.
    pub read_only: bool,
    /// What it changes may be lost.
    pub destructive: bool,
    /// Twice is the same as once.
    pub idempotent: bool,
    /// It deals with more than this machine.
    pub open_world: bool,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// For the model.
    pub content: Vec<ResultBlock>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// For user interfaces only.
    pub artifact: Option<Value>,
    /// Whether it is the report of a failure.
    pub is_error: bool,
}

impl ToolPlugin {
    pub(crate) fn new(plugin: Plugin, pre: ToolPluginPre<CallState>) -> Self {
        Self { plugin, pre }
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.plugin.digest()
    }

    /// The tools it offers, in its order. JSON that is none is
    /// [`SandboxError::MalformedJson`].
    pub fn definitions(&self, call: &Call) -> Outcome<Vec<ToolSpec>> {
        self.plugin.call("tool.definitions", call, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            let answer = instance
                .sectile_plugin_tool()
                .call_definitions(&mut *store)?;
            Ok(match answer {
                Ok(definitions) => definitions.into_iter().map(spec).collect(),
                Err(failure) => Err(SandboxError::Plugin(failure.into())),
            })
        })
    }

    /// One call of the tool `name`, on this thread and in a store of its own.
    /// `input` has to fit the tool's schema: that is not checked in here.
    pub fn call(
        &self,
        name: &str,
        input: &Value,
        call_id: &str,
        session_id: &str,
        call: &Call,
    ) -> Outcome<ToolAnswer> {
        self.plugin.call("tool.call", call, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            let tool = instance.sectile_plugin_tool();
            let context = wit::CallContext {
                call_id: call_id.to_owned(),
                session_id: session_id.to_owned(),
            };
            let answer = tool.call_call(&mut *store, name, &input.to_string(), &context)?;
            Ok(match answer {
                Ok(output) => lift(output),
                Err(failure) => Err(SandboxError::Plugin(failure.into())),
            })
        })
    }
}

fn spec(from: wit::Definition) -> Result<ToolSpec, SandboxError> {
    let output_schema = from.output_schema.as_deref();
    Ok(ToolSpec {
        input_schema: json("a schema of arguments", &from.input_schema)?,
        output_schema: output_schema
            .map(|text| json("a schema of results", text))
            .transpose()?,
        name: from.name,
        description: from.description,
        effects: Effects {
            read_only: from.effects.read_only,
            destructive: from.effects.destructive,
            idempotent: from.effects.idempotent,
            open_world: from.effects.open_world,
        },
        defer: from.defer,
        search_hint: from.search_hint,
    })
}

fn lift(from: wit::Output) -> Result<ToolAnswer, SandboxError> {
    let block = |block| match block {
        wit::Block::Text(text) => ResultBlock::Text { text },
        wit::Block::Data(block) => ResultBlock::Data(data(block)),
    };
    let value = |what, text: Option<String>| text.map(|text| json(what, &text)).transpose();
    Ok(ToolAnswer {
        content: from.content.into_iter().map(block).collect(),
        structured: value("structured output", from.structured)?,
        artifact: value("an artifact", from.artifact)?,
        is_error: from.is_error,
    })
}
