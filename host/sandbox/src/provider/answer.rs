//! What an adapter answers, in neutral types.

use crate::contract::provider_export as wit;
use crate::error::{SandboxError, one_line};
use crate::lift::{data, json};
use sectile_model::{
    Block, BlockKind, CallInput, Diagnostic, DiagnosticAction, EncodedRequest, ErrorClass,
    FinishReason, Finished, HttpRequest, ProviderCapabilities, ProviderError, ProviderEvent,
    ProviderState, ResultBlock, ResultStatus, Retry, Thinking, ToolCall, ToolResult, Usage,
};

pub(super) use wit::{Event, ProviderError as Error};

pub(super) fn capabilities(from: wit::ModelCapabilities) -> ProviderCapabilities {
    ProviderCapabilities {
        context_window: from.context_window.into(),
        max_output_tokens: from.max_output_tokens.into(),
        max_reasoning_tokens: from.max_reasoning_tokens.into(),
        accepts_data: from.accepts_data,
        tool_calls: from.tool_calls,
        parallel_tool_calls: from.parallel_tool_calls,
        sampling: from.sampling,
        thinking: from.thinking,
        prompt_cache_marks: from.prompt_cache_marks,
        defer_tools: from.defer_tools,
    }
}

pub(super) fn encoded(from: wit::Encoded) -> EncodedRequest {
    let diagnostic = |d: wit::Diagnostic| Diagnostic {
        field: one_line(&d.field),
        action: match d.action {
            wit::DiagnosticAction::Dropped => DiagnosticAction::Dropped,
            wit::DiagnosticAction::Clamped => DiagnosticAction::Clamped,
            wit::DiagnosticAction::Moved => DiagnosticAction::Moved,
            wit::DiagnosticAction::Approximated => DiagnosticAction::Approximated,
            wit::DiagnosticAction::Renamed => DiagnosticAction::Renamed,
        },
        why: one_line(&d.why),
    };
    let headers = from.request.headers.into_iter();
    EncodedRequest {
        http: HttpRequest {
            method: from.request.method,
            path: from.request.path,
            query: from.request.query,
            headers: headers.map(|h| (h.name, h.value)).collect(),
            body: from.request.body,
        },
        diagnostics: from.diagnostics.into_iter().map(diagnostic).collect(),
        carry: from.carry,
    }
}

pub(super) fn error(from: wit::ProviderError) -> ProviderError {
    ProviderError {
        class: match from.class {
            wit::ErrorClass::ContextOverflow => ErrorClass::ContextOverflow,
            wit::ErrorClass::RateLimited => ErrorClass::RateLimited,
            wit::ErrorClass::Overloaded => ErrorClass::Overloaded,
            wit::ErrorClass::Authentication => ErrorClass::Authentication,
            wit::ErrorClass::Permission => ErrorClass::Permission,
            wit::ErrorClass::NotFound => ErrorClass::NotFound,
            wit::ErrorClass::InvalidRequest => ErrorClass::InvalidRequest,
            wit::ErrorClass::ContentFilter => ErrorClass::ContentFilter,
            wit::ErrorClass::Quota => ErrorClass::Quota,
            wit::ErrorClass::Server => ErrorClass::Server,
            wit::ErrorClass::Truncated => ErrorClass::Truncated,
            wit::ErrorClass::Protocol => ErrorClass::Protocol,
            wit::ErrorClass::Other => ErrorClass::Other,
        },
        // The provider's words go to terminals and logs.
        message: one_line(&from.message),
        retry: match from.retry {
            wit::Retry::Never => Retry::Never,
            wit::Retry::Same => Retry::Same,
            wit::Retry::AfterMs(ms) => Retry::AfterMs(ms),
            wit::Retry::StripState => Retry::StripState,
            wit::Retry::LowerOutput => Retry::LowerOutput,
            wit::Retry::Compact => Retry::Compact,
        },
        code: from.code.map(|code| one_line(&code)),
        request_id: from.request_id.map(|id| one_line(&id)),
    }
}

pub(super) fn events(from: Vec<wit::Event>) -> Result<Vec<ProviderEvent>, SandboxError> {
    from.into_iter().map(event).collect()
}

fn event(from: wit::Event) -> Result<ProviderEvent, SandboxError> {
    Ok(match from {
        wit::Event::TextDelta((part, text)) => ProviderEvent::TextDelta { part, text },
        wit::Event::ThinkingDelta((part, text)) => ProviderEvent::ThinkingDelta { part, text },
        wit::Event::RefusalDelta((part, text)) => ProviderEvent::RefusalDelta { part, text },
        wit::Event::ToolCallStart((part, id, name)) => {
            ProviderEvent::ToolCallStart { part, id, name }
        }
        wit::Event::ToolCallDelta((part, json)) => ProviderEvent::ToolCallDelta { part, json },
        wit::Event::BlockDone((part, from)) => ProviderEvent::BlockDone {
            part,
            block: block(from)?,
        },
        wit::Event::Usage(from) => ProviderEvent::Usage(usage(from)?),
        wit::Event::Notice(text) => ProviderEvent::Notice {
            notice: json("a notice", &text)?,
        },
        wit::Event::Finished(from) => ProviderEvent::Finished(Finished {
            reason: reason(from.reason),
            raw: from.raw,
            usage: usage(from.usage)?,
        }),
    })
}

fn reason(from: wit::FinishReason) -> FinishReason {
    match from {
        wit::FinishReason::Stop => FinishReason::Stop,
        wit::FinishReason::StopSequence => FinishReason::StopSequence,
        wit::FinishReason::ToolCalls => FinishReason::ToolCalls,
        wit::FinishReason::Length => FinishReason::Length,
        wit::FinishReason::ContentFilter => FinishReason::ContentFilter,
        wit::FinishReason::Refusal => FinishReason::Refusal,
        wit::FinishReason::ContextFull => FinishReason::ContextFull,
        wit::FinishReason::Paused => FinishReason::Paused,
        wit::FinishReason::MalformedToolCall => FinishReason::MalformedToolCall,
        wit::FinishReason::Cancelled => FinishReason::Cancelled,
        wit::FinishReason::Other => FinishReason::Other,
    }
}

fn usage(from: wit::Usage) -> Result<Usage, SandboxError> {
    Ok(Usage {
        input_tokens: from.input_tokens,
        output_tokens: from.output_tokens,
        cache_read_tokens: from.cache_read_tokens,
        cache_write_tokens: from.cache_write_tokens,
        reasoning_tokens: from.reasoning_tokens,
        raw: json("a usage object", &from.raw)?,
    })
}

fn block(from: wit::Block) -> Result<Block, SandboxError> {
    let kind = match from.kind {
        wit::BlockKind::Text(text) => BlockKind::Text { text },
        wit::BlockKind::Data(from) => BlockKind::Data(data(from)),
        wit::BlockKind::Thinking(from) => BlockKind::Thinking(Thinking {
            text: from.text,
            summary: from.summary,
            redacted: from.redacted,
        }),
        wit::BlockKind::Refusal(text) => BlockKind::Refusal { text },
        wit::BlockKind::ToolCall(from) => BlockKind::ToolCall(ToolCall {
            id: from.id,
            name: from.name,
            input: match from.input {
                wit::CallInput::Parsed(text) => CallInput::Parsed(json("a tool call", &text)?),
                wit::CallInput::Raw(text) => CallInput::Raw(text),
            },
        }),
        wit::BlockKind::ToolResult(from) => BlockKind::ToolResult(result(from)),
        wit::BlockKind::Opaque(from) => BlockKind::Opaque {
            kind: from.kind,
            payload: json("an opaque block", &from.payload)?,
        },
    };
    let state = from.state.map(|state| {
        Ok::<_, SandboxError>(ProviderState {
            protocol: state.protocol,
            model: state.model,
            data: json("a state", &state.data)?,
        })
    });
    Ok(Block {
        kind,
        state: state.transpose()?,
    })
}

fn result(from: wit::ToolResultBlock) -> ToolResult {
    let content = |content| match content {
        wit::ResultContent::Text(text) => ResultBlock::Text { text },
        wit::ResultContent::Data(from) => ResultBlock::Data(data(from)),
    };
    ToolResult {
        call_id: from.call_id,
        name: from.name,
        status: match from.status {
            wit::ResultStatus::Success => ResultStatus::Success,
            wit::ResultStatus::Error => ResultStatus::Error,
            wit::ResultStatus::Denied => ResultStatus::Denied,
            wit::ResultStatus::Interrupted => ResultStatus::Interrupted,
        },
        output: from.content.into_iter().map(content).collect(),
        artifacts: Vec::new(),
    }
}
