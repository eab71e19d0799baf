//! What the workspace has, in the protocol's words.

use crate::server::CONTEXT;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, JsonObject, MetaObject, Prompt, PromptArgument,
    PromptMessage, Resource, ResourceContents, Role, Tool, ToolAnnotations,
};
use sectile_model::{BlockKind, Data, DataSource, ModelRequest, ResultBlock, ResultStatus};
use sectile_session::{EnabledSection, ToolInfo, ToolOutput};
use serde_json::Value;
use std::sync::Arc;

/// Before a section's id in its URI.
const SECTIONS: &str = "sectile://sections/";
/// Where a result's artifacts are, which are for user interfaces only (CE-13).
const ARTIFACTS: &str = "sectile/artifacts";

/// A tool with its effects as annotations (SR-90).
pub(crate) fn tool(info: &ToolInfo) -> Tool {
    let definition = &info.definition;
    let effects = info.effects;
    let annotations = ToolAnnotations::new()
        .read_only(effects.read_only)
        .destructive(effects.destructive)
        .idempotent(effects.idempotent)
        .open_world(effects.open_world);
    let tool = Tool::new(
        definition.name.clone(),
        definition.description.clone(),
        object(&definition.input_schema),
    )
    .with_annotations(annotations);
    match &info.output_schema {
        Some(schema) => tool.with_raw_output_schema(object(schema)),
        None => tool,
    }
}

/// Schemas were checked: they are objects.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// What came of a call.
pub(crate) fn result(output: ToolOutput) -> CallToolResult {
    let content = output.content.into_iter().map(block).collect();
    let mut result = match output.status {
        ResultStatus::Success => CallToolResult::success(content),
        _ => CallToolResult::error(content),
    };
    result.structured_content = output.structured;
    if !output.artifacts.is_empty() {
        let artifacts = [(ARTIFACTS.to_owned(), Value::Array(output.artifacts))];
        result.meta = Some(MetaObject(artifacts.into_iter().collect()));
    }
    result
}

fn block(block: ResultBlock) -> ContentBlock {
    match block {
        ResultBlock::Text { text } => ContentBlock::text(text),
        ResultBlock::Data(Data {
            media_type,
            source: DataSource::Base64(data),
            name,
        }) => match media_type.split('/').next() {
            Some("image") => ContentBlock::image(data, media_type),
            Some("audio") => ContentBlock::audio(data, media_type),
            _ => {
                let uri = format!("sectile://results/{}", name.unwrap_or_default());
                let blob = ResourceContents::blob(data, uri).with_mime_type(media_type);
                ContentBlock::resource(blob)
            }
        },
        ResultBlock::Data(Data {
            media_type,
            source: DataSource::Url(url) | DataSource::FileId(url),
            name,
        }) => {
            let name = name.unwrap_or_else(|| url.clone());
            ContentBlock::resource_link(Resource::new(url, name).with_mime_type(media_type))
        }
    }
}

/// A section, to be read as the model would see it.
pub(crate) fn resource(section: &EnabledSection) -> Resource {
    let id = section.spec.id();
    let source = &section.spec.source;
    Resource::new(format!("{SECTIONS}{id}"), id.as_str())
        .with_description(format!(
            "Section of {} {} for a model's context window",
            source.plugin, source.version
        ))
        .with_mime_type("text/plain")
}

/// The section that `uri` names.
pub(crate) fn section_id(uri: &str) -> Option<&str> {
    uri.strip_prefix(SECTIONS)
}

/// The prompt that holds all sections.
pub(crate) fn prompt() -> Prompt {
    let message = PromptArgument::new("message")
        .with_description("What the user asks, to go with the context")
        .with_required(false);
    Prompt::new(
        CONTEXT,
        Some("The context window of this workspace: what a model should know before it answers"),
        Some(vec![message]),
    )
}

/// The composed request: a prompt has no system role, so that its parts come
/// first, as a message of the user.
pub(crate) fn text_of(request: &ModelRequest) -> GetPromptResult {
    let system = request.system.iter().map(|part| part.content.as_str());
    let system = system.collect::<Vec<_>>().join("\n\n");
    let mut messages = vec![PromptMessage::new_text(Role::User, system)];
    for message in &request.messages {
        let role = match message.role {
            sectile_model::Role::Assistant => Role::Assistant,
            _ => Role::User,
        };
        let texts = message
            .content
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Text { text } => Some(text),
                _ => None,
            });
        messages.extend(texts.map(|text| PromptMessage::new_text(role.clone(), text)));
    }
    GetPromptResult::new(messages)
}
