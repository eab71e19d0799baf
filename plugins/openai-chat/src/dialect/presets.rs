//! The dialects that have a name.

use super::{
    CacheForm, Dialect, Echo, EmptyContent, IdStyle, LastAssistant, LimitField, RequiredWord,
    SystemRole, ThinkingSwitch,
};

/// The names, for messages.
pub(super) const NAMES: [&str; 8] = [
    "openai",
    "deepseek",
    "qwen",
    "mistral",
    "ollama",
    "llama-cpp",
    "vllm",
    "openrouter",
];

/// The dialect called `name`.
pub(super) fn named(name: &str) -> Option<Dialect> {
    Some(match name {
        "openai" => OPENAI,
        "deepseek" => DEEPSEEK,
        "qwen" => QWEN,
        "mistral" => MISTRAL,
        "ollama" => OLLAMA,
        "llama-cpp" => LLAMA_CPP,
        "vllm" => VLLM,
        "openrouter" => OPENROUTER,
        _ => return None,
    })
}

pub(super) const OPENAI: Dialect = Dialect {
    openai_models: true,
    system_role: SystemRole::Auto,
    limit_field: LimitField::MaxCompletionTokens,
    empty_content: EmptyContent::Null,
    ids: IdStyle::Any,
    stream_options: true,
    reasoning: Echo::None,
    images: true,
    files: true,
    audio: true,
    thinking: ThinkingSwitch::Effort,
    free_choice_thinking: false,
    tool_choice: true,
    required: RequiredWord::Required,
    allowed_tools: true,
    parallel: true,
    strict: true,
    refusals: true,
    last_assistant: LastAssistant::Allow,
    bridge: false,
    user_first: false,
    cache: CacheForm::Breakpoint,
    cache_key: true,
    max_temperature: 20,
    max_stops: 4,
    max_tools: 128,
};

/// What services with the same address form have in common.
const COMPATIBLE: Dialect = Dialect {
    openai_models: false,
    system_role: SystemRole::System,
    limit_field: LimitField::MaxTokens,
    reasoning: Echo::AsReceived,
    files: false,
    audio: false,
    allowed_tools: false,
    strict: false,
    refusals: false,
    cache: CacheForm::None,
    cache_key: false,
    max_stops: 16,
    max_tools: u32::MAX,
    ..OPENAI
};

const DEEPSEEK: Dialect = Dialect {
    empty_content: EmptyContent::Empty,
    reasoning: Echo::ReasoningContent,
    images: false,
    thinking: ThinkingSwitch::ThinkingType,
    free_choice_thinking: true,
    parallel: false,
    last_assistant: LastAssistant::Ask,
    max_tools: 128,
    ..COMPATIBLE
};

const QWEN: Dialect = Dialect {
    empty_content: EmptyContent::Empty,
    thinking: ThinkingSwitch::EnableThinking,
    free_choice_thinking: true,
    last_assistant: LastAssistant::Ask,
    user_first: true,
    ..COMPATIBLE
};

const MISTRAL: Dialect = Dialect {
    empty_content: EmptyContent::Empty,
    ids: IdStyle::Alnum9,
    stream_options: false,
    thinking: ThinkingSwitch::None,
    required: RequiredWord::Any,
    last_assistant: LastAssistant::Prefix,
    bridge: true,
    user_first: true,
    max_temperature: 15,
    ..COMPATIBLE
};

const OLLAMA: Dialect = Dialect {
    empty_content: EmptyContent::Empty,
    tool_choice: false,
    parallel: false,
    ..COMPATIBLE
};

const LLAMA_CPP: Dialect = Dialect {
    thinking: ThinkingSwitch::Template,
    last_assistant: LastAssistant::Ask,
    user_first: true,
    ..COMPATIBLE
};

const VLLM: Dialect = Dialect {
    thinking: ThinkingSwitch::Template,
    last_assistant: LastAssistant::Ask,
    user_first: true,
    ..COMPATIBLE
};

const OPENROUTER: Dialect = Dialect {
    files: true,
    audio: true,
    thinking: ThinkingSwitch::ReasoningObject,
    strict: true,
    cache: CacheForm::Control,
    max_stops: 4,
    ..COMPATIBLE
};
