//! What a model can do: by the service's catalogue, else by its name.

use crate::model;
use sectile_sdk::provider::{Failure, ModelCapabilities};
use serde_json::Value;

/// Images that are taken.
pub(crate) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Boundaries of a prompt cache in one request.
pub(crate) const CACHE_MARKS: u32 = 4;

pub(crate) fn of(model: &str, catalogue: Option<&str>) -> Result<ModelCapabilities, Failure> {
    let mut capabilities = by_name(model);
    if let Some(text) = catalogue {
        let catalogue: Value = serde_json::from_str(text).map_err(|e| {
            Failure::InvalidInput(format!("the catalogue of `{model}` is not JSON: {e}"))
        })?;
        refine(&mut capabilities, &catalogue);
    }
    Ok(capabilities)
}

fn by_name(name: &str) -> ModelCapabilities {
    let model = model::named(name);
    ModelCapabilities {
        context_window: model.context_window,
        max_output_tokens: model.max_output,
        // Thinking counts as output here.
        max_reasoning_tokens: 0,
        accepts_data: IMAGES.map(str::to_owned).to_vec(),
        tool_calls: true,
        parallel_tool_calls: true,
        sampling: !model.reasons,
        thinking: model.efforts.iter().map(|&e| e.to_owned()).collect(),
        prompt_cache_marks: if model.breakpoints { CACHE_MARKS } else { 0 },
        defer_tools: false,
    }
}

/// Services describe their models in fields of their own.
fn refine(capabilities: &mut ModelCapabilities, catalogue: &Value) {
    let number = |pointers: &[&str]| {
        let value = pointers
            .iter()
            .find_map(|p| catalogue.pointer(p)?.as_u64())?;
        Some(u32::try_from(value).unwrap_or(u32::MAX)).filter(|n| *n > 0)
    };
    let window = number(&[
        "/context_length",
        "/max_context_length",
        "/max_model_len",
        "/context_window",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ]);
    if let Some(window) = window {
        capabilities.context_window = window;
    }
    let output = number(&[
        "/top_provider/max_completion_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
    ]);
    if let Some(output) = output {
        capabilities.max_output_tokens = output;
    }
    let list = |pointer: &str| catalogue.pointer(pointer).and_then(Value::as_array);
    let has = |list: &[Value], word: &str| list.iter().any(|entry| entry == word);
    let vision = catalogue
        .pointer("/capabilities/vision")
        .and_then(Value::as_bool);
    let images = list("/architecture/input_modalities").map(|list| has(list, "image"));
    if images.or(vision) == Some(false) {
        capabilities.accepts_data.clear();
    }
    let calls = catalogue.pointer("/capabilities/function_calling");
    if let Some(calls) = calls.and_then(Value::as_bool) {
        capabilities.tool_calls = calls;
    }
    if let Some(parameters) = list("/supported_parameters") {
        capabilities.tool_calls = has(parameters, "tools");
        capabilities.sampling = has(parameters, "temperature");
        if !has(parameters, "reasoning") {
            capabilities.thinking.clear();
        } else if capabilities.thinking.is_empty() {
            capabilities.thinking = ["low", "medium", "high"].map(str::to_owned).to_vec();
        }
    }
    capabilities.parallel_tool_calls &= capabilities.tool_calls;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_holds_over_the_name() {
        let catalogue = r#"{"context_length": 163840, "top_provider": {"max_completion_tokens": 65536},
            "architecture": {"input_modalities": ["text"]},
            "supported_parameters": ["tools", "reasoning", "max_tokens"]}"#;
        let model = of("deepseek/deepseek-v4", Some(catalogue)).unwrap();
        assert_eq!(
            (model.context_window, model.max_output_tokens),
            (163_840, 65_536)
        );
        assert!(model.accepts_data.is_empty());
        assert!(model.tool_calls && !model.sampling);
        assert_eq!(model.thinking, ["low", "medium", "high"]);
        let mistral = r#"{"max_context_length": 131072, "capabilities": {"function_calling": false, "vision": true}}"#;
        let model = of("x", Some(mistral)).unwrap();
        assert_eq!(model.context_window, 131_072);
        assert!(!model.tool_calls && !model.parallel_tool_calls && model.accepts_data.len() == 4);
        assert!(of("m", Some("{")).is_err());
    }
}
