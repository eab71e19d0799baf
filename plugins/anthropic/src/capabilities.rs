//! What a model can do: by the provider's catalogue, else by its name.

use crate::model::{self, EFFORTS, ThinkingForm};
use sectile_sdk::provider::{Failure, ModelCapabilities};
use serde_json::Value;

/// Images that are taken.
pub(crate) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Boundaries of a prompt cache in one request.
pub(crate) const CACHE_MARKS: usize = 4;

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
    let efforts = match model.thinking {
        ThinkingForm::None => &[][..],
        // A budget is chosen for an effort.
        ThinkingForm::Budget => EFFORTS.get(..3).unwrap_or_default(),
        ThinkingForm::Both | ThinkingForm::Adaptive => model.efforts,
    };
    let accepted = IMAGES.into_iter().chain(["application/pdf", "text/plain"]);
    ModelCapabilities {
        context_window: model::CONTEXT_WINDOW,
        max_output_tokens: model.max_output,
        // Thinking counts as output here.
        max_reasoning_tokens: 0,
        accepts_data: accepted.map(str::to_owned).collect(),
        tool_calls: true,
        parallel_tool_calls: true,
        sampling: model.sampling,
        thinking: efforts.iter().map(|&effort| effort.to_owned()).collect(),
        prompt_cache_marks: u32::try_from(CACHE_MARKS).unwrap_or(u32::MAX),
        defer_tools: model.defer,
    }
}

/// What the catalogue says holds over what the name suggests.
fn refine(capabilities: &mut ModelCapabilities, catalogue: &Value) {
    let number = |key: &str| {
        let value = catalogue.get(key)?.as_u64()?;
        Some(u32::try_from(value).unwrap_or(u32::MAX)).filter(|n| *n > 0)
    };
    let supported = |path: &str| {
        let pointer = format!("/capabilities/{path}/supported");
        catalogue.pointer(&pointer).and_then(Value::as_bool)
    };
    if let Some(window) = number("max_input_tokens") {
        capabilities.context_window = window;
    }
    if let Some(output) = number("max_tokens") {
        capabilities.max_output_tokens = output;
    }
    let mut without = |path: &str, prefix: &str| {
        if supported(path) == Some(false) {
            capabilities.accepts_data.retain(|t| !t.starts_with(prefix));
        }
    };
    without("image_input", "image/");
    without("pdf_input", "application/pdf");
    match (supported("thinking"), supported("effort")) {
        (Some(false), _) => capabilities.thinking.clear(),
        (_, Some(true)) => {
            let known = EFFORTS.into_iter();
            let known = known.filter(|e| supported(&format!("effort/{e}")) == Some(true));
            capabilities.thinking = known.map(str::to_owned).collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_holds_over_the_name() {
        let catalogue = r#"{"id": "claude-sonnet-5", "max_input_tokens": 1000000, "max_tokens": 128000,
            "capabilities": {"thinking": {"supported": true}, "image_input": {"supported": false},
            "effort": {"supported": true, "low": {"supported": true}, "max": {"supported": true},
                       "xhigh": {"supported": false}}}}"#;
        let model = of("claude-sonnet-5", Some(catalogue)).unwrap();
        assert_eq!(model.context_window, 1_000_000);
        assert_eq!(model.max_output_tokens, 128_000);
        assert_eq!(model.accepts_data, ["application/pdf", "text/plain"]);
        assert_eq!(model.thinking, ["low", "max"]);
        let model = of("claude-3-5-haiku-20241022", Some("{}")).unwrap();
        assert_eq!(
            (model.context_window, model.max_output_tokens),
            (200_000, 8_192)
        );
        assert!(model.thinking.is_empty());
        assert!(of("m", Some("{")).is_err());
    }
}
