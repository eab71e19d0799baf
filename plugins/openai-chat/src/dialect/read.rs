//! A dialect from the operator's configuration: a name, or a name with flags.

use super::presets::{self, NAMES};
use super::{
    CacheForm, Dialect, Echo, EmptyContent, IdStyle, LastAssistant, LimitField, RequiredWord,
    SystemRole, ThinkingSwitch,
};
use sectile_sdk::provider::ProviderError;
use sectile_wire::outbox::invalid;
use serde_json::Value;

/// The dialect that `setting` describes: `"qwen"`, or `{"preset": "qwen",
/// "strict": true}`. Without one it is OpenAI's own.
///
/// # Errors
/// Of class `invalid-request`, with the names that are known.
pub(crate) fn read(setting: Option<&Value>) -> Result<Dialect, ProviderError> {
    let flags = match setting {
        None | Some(Value::Null) => return Ok(presets::OPENAI),
        Some(Value::String(name)) => return preset(name),
        Some(Value::Object(flags)) => flags,
        Some(_) => return Err(refuse("dialect", "is neither a name nor an object")),
    };
    let mut dialect = match flags.get("preset") {
        None => presets::OPENAI,
        Some(Value::String(name)) => preset(name)?,
        Some(_) => return Err(refuse("dialect.preset", "is not a name")),
    };
    for (key, value) in flags.iter().filter(|(key, _)| *key != "preset") {
        set(&mut dialect, key, value).map_err(|why| refuse(&format!("dialect.{key}"), &why))?;
    }
    Ok(dialect)
}

fn preset(name: &str) -> Result<Dialect, ProviderError> {
    presets::named(name).ok_or_else(|| {
        let why = format!("is `{name}`; known are {}", NAMES.join(", "));
        refuse("dialect", &why)
    })
}

fn refuse(key: &str, why: &str) -> ProviderError {
    invalid(&format!("`{key}` in the provider's `extra` {why}"))
}

fn set(dialect: &mut Dialect, key: &str, value: &Value) -> Result<(), String> {
    let flag = || value.as_bool().ok_or("is neither true nor false");
    match key {
        "openai_models" => dialect.openai_models = flag()?,
        "stream_options" => dialect.stream_options = flag()?,
        "images" => dialect.images = flag()?,
        "files" => dialect.files = flag()?,
        "audio" => dialect.audio = flag()?,
        "free_choice_thinking" => dialect.free_choice_thinking = flag()?,
        "tool_choice" => dialect.tool_choice = flag()?,
        "allowed_tools" => dialect.allowed_tools = flag()?,
        "parallel" => dialect.parallel = flag()?,
        "strict" => dialect.strict = flag()?,
        "refusals" => dialect.refusals = flag()?,
        "bridge" => dialect.bridge = flag()?,
        "user_first" => dialect.user_first = flag()?,
        "cache_key" => dialect.cache_key = flag()?,
        "system_role" => dialect.system_role = one_of(value, &SYSTEM_ROLES)?,
        "limit_field" => dialect.limit_field = one_of(value, &LIMIT_FIELDS)?,
        "empty_content" => dialect.empty_content = one_of(value, &EMPTY_CONTENTS)?,
        "ids" => dialect.ids = one_of(value, &ID_STYLES)?,
        "reasoning" => dialect.reasoning = one_of(value, &ECHOES)?,
        "thinking" => dialect.thinking = one_of(value, &THINKING)?,
        "required" => dialect.required = one_of(value, &REQUIRED)?,
        "last_assistant" => dialect.last_assistant = one_of(value, &LAST_ASSISTANT)?,
        "cache" => dialect.cache = one_of(value, &CACHES)?,
        "max_temperature" => {
            let tenths = value.as_f64().filter(|t| (0.0..=10.0).contains(t));
            let tenths = tenths.ok_or("is not a number from 0 to 10")? * 10.0;
            dialect.max_temperature = format!("{tenths:.0}").parse().unwrap_or(20);
        }
        "max_stops" => dialect.max_stops = count(value)?,
        "max_tools" => dialect.max_tools = count(value)?,
        _ => return Err("is no flag of a dialect".to_owned()),
    }
    Ok(())
}

fn count(value: &Value) -> Result<u32, String> {
    let count = value.as_u64().and_then(|n| u32::try_from(n).ok());
    count.ok_or_else(|| "is not a whole number".to_owned())
}

type Names<T, const N: usize> = [(&'static str, T); N];

const SYSTEM_ROLES: Names<SystemRole, 4> = [
    ("auto", SystemRole::Auto),
    ("system", SystemRole::System),
    ("developer", SystemRole::Developer),
    ("user", SystemRole::User),
];
const LIMIT_FIELDS: Names<LimitField, 2> = [
    ("max_tokens", LimitField::MaxTokens),
    ("max_completion_tokens", LimitField::MaxCompletionTokens),
];
const EMPTY_CONTENTS: Names<EmptyContent, 2> =
    [("null", EmptyContent::Null), ("empty", EmptyContent::Empty)];
const ID_STYLES: Names<IdStyle, 2> = [("any", IdStyle::Any), ("alnum9", IdStyle::Alnum9)];
const ECHOES: Names<Echo, 3> = [
    ("none", Echo::None),
    ("reasoning_content", Echo::ReasoningContent),
    ("as_received", Echo::AsReceived),
];
const THINKING: Names<ThinkingSwitch, 6> = [
    ("none", ThinkingSwitch::None),
    ("reasoning_effort", ThinkingSwitch::Effort),
    ("thinking_type", ThinkingSwitch::ThinkingType),
    ("enable_thinking", ThinkingSwitch::EnableThinking),
    ("reasoning_object", ThinkingSwitch::ReasoningObject),
    ("chat_template", ThinkingSwitch::Template),
];
const REQUIRED: Names<RequiredWord, 2> = [
    ("required", RequiredWord::Required),
    ("any", RequiredWord::Any),
];
const LAST_ASSISTANT: Names<LastAssistant, 3> = [
    ("allow", LastAssistant::Allow),
    ("prefix", LastAssistant::Prefix),
    ("ask", LastAssistant::Ask),
];
const CACHES: Names<CacheForm, 3> = [
    ("none", CacheForm::None),
    ("breakpoint", CacheForm::Breakpoint),
    ("cache_control", CacheForm::Control),
];

fn one_of<T: Copy, const N: usize>(value: &Value, names: &Names<T, N>) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| value == name);
    found.map(|(_, flag)| *flag).ok_or_else(|| {
        let known: Vec<_> = names.iter().map(|(name, _)| *name).collect();
        format!("is {value}; known are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pv_1_a_dialect_is_a_name_or_a_name_with_flags() {
        assert_eq!(read(None).unwrap(), presets::OPENAI);
        for name in NAMES {
            assert_eq!(
                read(Some(&json!(name))).unwrap(),
                presets::named(name).unwrap()
            );
        }
        let mine =
            json!({"preset": "vllm", "strict": true, "ids": "alnum9", "max_temperature": 1.0});
        let expected = Dialect {
            strict: true,
            ids: IdStyle::Alnum9,
            max_temperature: 10,
            ..presets::named("vllm").unwrap()
        };
        assert_eq!(read(Some(&mine)).unwrap(), expected);
    }

    #[test]
    fn pv_1_what_is_no_dialect_is_refused_with_what_is_known() {
        for (setting, word) in [
            (json!("nonsense"), "openrouter"),
            (json!({"preset": "nonsense"}), "openrouter"),
            (json!({"preset": 1}), "not a name"),
            (json!({"ids": "long"}), "alnum9"),
            (json!({"strict": "yes"}), "neither true nor false"),
            (json!({"colour": "red"}), "no flag"),
            (json!({"max_stops": -1}), "whole number"),
            (json!(7), "neither a name"),
        ] {
            let error = read(Some(&setting)).unwrap_err();
            assert!(error.message.contains(word), "{setting}: {}", error.message);
        }
    }
}
