//! A dialect of the protocol is data: what a service takes, and in which form.

mod presets;
mod read;

pub(crate) use read::read;

/// What a service takes, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Models have OpenAI's names and refuse what OpenAI's models refuse.
    pub(crate) openai_models: bool,
    /// Who says the system context.
    pub(crate) system_role: SystemRole,
    /// The field for the answer's length.
    pub(crate) limit_field: LimitField,
    /// What the content of a message of calls alone is.
    pub(crate) empty_content: EmptyContent,
    /// What ids of calls look like.
    pub(crate) ids: IdStyle,
    /// Usage of a stream has to be asked for.
    pub(crate) stream_options: bool,
    /// Whether and how thinking is given back.
    pub(crate) reasoning: Echo,
    /// Images, files and sounds among what the user says.
    pub(crate) images: bool,
    pub(crate) files: bool,
    pub(crate) audio: bool,
    /// How the model is told to think.
    pub(crate) thinking: ThinkingSwitch,
    /// A model that thinks cannot be made to call a tool.
    pub(crate) free_choice_thinking: bool,
    /// The choice of a tool is understood; some services pass over it.
    pub(crate) tool_choice: bool,
    /// The word for "at least one".
    pub(crate) required: RequiredWord,
    /// A choice may be among some of the tools.
    pub(crate) allowed_tools: bool,
    /// `parallel_tool_calls` is understood.
    pub(crate) parallel: bool,
    /// Schemas may be strict.
    pub(crate) strict: bool,
    /// What the model refused is told from what it said.
    pub(crate) refusals: bool,
    /// What becomes of a conversation that the model ends.
    pub(crate) last_assistant: LastAssistant,
    /// The model has to speak between a result and the user.
    pub(crate) bridge: bool,
    /// The user has to speak first.
    pub(crate) user_first: bool,
    /// How a boundary of the prompt cache is marked.
    pub(crate) cache: CacheForm,
    /// `prompt_cache_key` is understood.
    pub(crate) cache_key: bool,
    /// The highest temperature, in tenths.
    pub(crate) max_temperature: u32,
    /// Stop texts that are taken.
    pub(crate) max_stops: u32,
    /// Tools that are taken.
    pub(crate) max_tools: u32,
}

/// Who says the system context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemRole {
    /// By the model's name.
    Auto,
    System,
    Developer,
    User,
}

/// The field for the answer's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

/// What the content of a message of calls alone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyContent {
    Null,
    Empty,
}

/// What ids of calls look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdStyle {
    Any,
    /// Nine letters and digits.
    Alnum9,
}

/// Whether and how thinking is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    None,
    /// Always in `reasoning_content`, which calls may not be without.
    ReasoningContent,
    /// In the fields that it came in.
    AsReceived,
}

/// How the model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingSwitch {
    None,
    /// `reasoning_effort`.
    Effort,
    /// `thinking: {type}`.
    ThinkingType,
    /// `enable_thinking` and `thinking_budget`; streams only.
    EnableThinking,
    /// `reasoning: {effort, max_tokens, enabled}`.
    ReasoningObject,
    /// `chat_template_kwargs: {enable_thinking}`.
    Template,
}

/// The word for "at least one".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredWord {
    Required,
    Any,
}

/// What becomes of a conversation that the model ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastAssistant {
    /// It stays as it is.
    Allow,
    /// The model is told to go on with its own words.
    Prefix,
    /// The user asks for more.
    Ask,
}

/// How a boundary of the prompt cache is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheForm {
    None,
    /// `prompt_cache_breakpoint`, for models that know it.
    Breakpoint,
    /// `cache_control`, for models of services that know it.
    Control,
}
