//! The neutral request in the types of the contract.

use crate::contract::provider_export as wit;
use crate::contract::sectile::plugin::types;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sectile_model::{
    Block, BlockKind, CallInput, Data, DataSource, ErrorClass, Intents, Message, ProviderError,
    ProviderRequest, ProviderState, ResultBlock, ResultStatus, Retry, Role, ThinkingIntent,
    ToolCall, ToolChoice, ToolResult,
};

/// The request as the adapter takes it.
///
/// # Errors
/// What in it cannot be handed over: a system message, data that is no base64.
pub(super) fn lower(request: &ProviderRequest) -> Result<wit::Request, ProviderError> {
    let ProviderRequest {
        request,
        intents,
        cache,
    } = request;
    let last_part = request.system.len().checked_sub(1);
    let part = |(n, part): (usize, &sectile_model::SystemPart)| wit::SystemPart {
        key: part.key.clone(),
        content: part.content.clone(),
        cache_hint: cache.system && Some(n) == last_part,
    };
    let message = |(n, message): (usize, &std::sync::Arc<Message>)| {
        lower_message(message, cache.message == Some(n))
    };
    let messages: Result<_, _> = request.messages.iter().enumerate().map(message).collect();
    let tools = request.tools.iter().map(|tool| wit::ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.to_string(),
        strict: None,
        defer: false,
    });
    Ok(wit::Request {
        model: request.model.clone(),
        system: request.system.iter().enumerate().map(part).collect(),
        messages: messages?,
        tools: tools.collect(),
        cache_tools: cache.tools,
        max_output_tokens: u32::try_from(request.max_output_tokens).unwrap_or(u32::MAX),
        ..lower_intents(intents)
    })
}

/// A request of nothing but intents.
fn lower_intents(intents: &Intents) -> wit::Request {
    wit::Request {
        model: String::new(),
        system: Vec::new(),
        messages: Vec::new(),
        tools: Vec::new(),
        cache_tools: false,
        max_output_tokens: 0,
        tool_choice: match &intents.tool_choice {
            None | Some(ToolChoice::Auto) => wit::ToolChoice::Auto,
            Some(ToolChoice::None) => wit::ToolChoice::None,
            Some(ToolChoice::Required) => wit::ToolChoice::Required,
            Some(ToolChoice::Named(name)) => wit::ToolChoice::Named(name.clone()),
            Some(ToolChoice::Allowed(names)) => wit::ToolChoice::Allowed(names.clone()),
        },
        parallel_tool_calls: intents.parallel_tool_calls,
        temperature: intents.temperature,
        top_p: intents.top_p,
        thinking: intents.thinking.as_ref().map(|thinking| match thinking {
            ThinkingIntent::Off => wit::Thinking::Off,
            ThinkingIntent::Auto => wit::Thinking::Auto,
            ThinkingIntent::Effort(effort) => wit::Thinking::Effort(effort.clone()),
            ThinkingIntent::Budget(tokens) => wit::Thinking::Budget(*tokens),
        }),
        stop: intents.stop.clone(),
        streaming: intents.streaming,
        cache_key: intents.cache_key.clone(),
        extra: serde_json::Value::Object(intents.extra.clone()).to_string(),
    }
}

pub(super) fn headers(headers: &[(String, String)]) -> Vec<wit::Header> {
    let header = |(name, value): &(String, String)| wit::Header {
        name: name.clone(),
        value: value.clone(),
    };
    headers.iter().map(header).collect()
}

fn lower_message(message: &Message, cache_hint: bool) -> Result<wit::Message, ProviderError> {
    let content: Result<_, _> = message.content.iter().map(lower_block).collect();
    Ok(wit::Message {
        role: match message.role {
            Role::User => wit::Role::User,
            Role::Assistant => wit::Role::Assistant,
            Role::Tool => wit::Role::Tool,
            Role::System => {
                return Err(invalid(
                    "a system message stands among the messages; system text belongs into a system part",
                ));
            }
        },
        content: content?,
        cache_hint,
    })
}

fn lower_block(block: &Block) -> Result<wit::Block, ProviderError> {
    let kind = match &block.kind {
        BlockKind::Text { text } => wit::BlockKind::Text(text.clone()),
        BlockKind::Data(data) => wit::BlockKind::Data(lower_data(data)?),
        BlockKind::Thinking(thinking) => wit::BlockKind::Thinking(wit::ThinkingBlock {
            text: thinking.text.clone(),
            summary: thinking.summary.clone(),
            redacted: thinking.redacted,
        }),
        BlockKind::Refusal { text } => wit::BlockKind::Refusal(text.clone()),
        BlockKind::Opaque { kind, payload } => wit::BlockKind::Opaque(wit::OpaqueBlock {
            kind: kind.clone(),
            payload: payload.to_string(),
        }),
        BlockKind::ToolCall(call) => wit::BlockKind::ToolCall(lower_call(call)),
        BlockKind::ToolResult(result) => wit::BlockKind::ToolResult(lower_result(result)?),
    };
    Ok(wit::Block {
        kind,
        state: block.state.as_ref().map(lower_state),
    })
}

fn lower_state(state: &ProviderState) -> wit::ProviderState {
    wit::ProviderState {
        protocol: state.protocol.clone(),
        model: state.model.clone(),
        data: state.data.to_string(),
    }
}

fn lower_call(call: &ToolCall) -> wit::ToolCallBlock {
    wit::ToolCallBlock {
        id: call.id.clone(),
        name: call.name.clone(),
        input: match &call.input {
            CallInput::Parsed(value) => wit::CallInput::Parsed(value.to_string()),
            CallInput::Raw(text) => wit::CallInput::Raw(text.clone()),
        },
    }
}

fn lower_result(result: &ToolResult) -> Result<wit::ToolResultBlock, ProviderError> {
    let block = |block: &ResultBlock| {
        Ok(match block {
            ResultBlock::Text { text } => wit::ResultContent::Text(text.clone()),
            ResultBlock::Data(data) => wit::ResultContent::Data(lower_data(data)?),
        })
    };
    let content: Result<_, _> = result.output.iter().map(block).collect();
    Ok(wit::ToolResultBlock {
        call_id: result.call_id.clone(),
        name: result.name.clone(),
        status: match result.status {
            ResultStatus::Success => wit::ResultStatus::Success,
            ResultStatus::Error => wit::ResultStatus::Error,
            ResultStatus::Denied => wit::ResultStatus::Denied,
            ResultStatus::Interrupted => wit::ResultStatus::Interrupted,
        },
        content: content?,
    })
}

fn lower_data(data: &Data) -> Result<types::DataBlock, ProviderError> {
    let media_type = data.media_type.clone();
    let source = match &data.source {
        DataSource::Base64(text) => types::DataSource::Inline(types::DataSourceInline {
            bytes: STANDARD
                .decode(text)
                .map_err(|e| invalid(&format!("a data block is not base64: {e}")))?,
            media_type,
        }),
        DataSource::Url(url) => types::DataSource::Url(types::DataSourceUrl {
            media_type: Some(media_type),
            url: url.clone(),
        }),
        DataSource::FileId(id) => types::DataSource::FileId(id.clone()),
    };
    Ok(types::DataBlock {
        source,
        name: data.name.clone(),
    })
}

fn invalid(message: &str) -> ProviderError {
    ProviderError {
        class: ErrorClass::InvalidRequest,
        message: message.to_owned(),
        retry: Retry::Never,
        code: None,
        request_id: None,
    }
}
