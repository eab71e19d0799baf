//! Words that tell what no code does. All texts are in small letters.

use crate::problem::Problem;

/// The input does not fit the window.
pub(super) fn overflow(text: &str, problem: &Problem) -> bool {
    const PHRASES: [&str; 15] = [
        "prompt is too long",
        "input is too long for requested model",
        "maximum context length",
        "exceeds the context window",
        "exceed context limit",
        "exceeds the available context size",
        "exceeds the maximum number of tokens allowed",
        "longer than the model's context length",
        "maximum input length is",
        "input tokens exceed the configured limit",
        "token limit reached",
        "maximum allowed length of the prompt",
        "context length exceeded",
        "request too large for model",
        "reduce the length of the messages",
    ];
    // One string of the request is too long, which is another thing.
    let is_one_string = problem.codes.iter().any(|c| c == "string_above_max_length");
    let is_current = text.contains("current length is") && text.contains("while limit is");
    !is_one_string && (is_current || PHRASES.iter().any(|phrase| text.contains(phrase)))
}

/// The output limit alone is beyond the model's.
pub(super) fn output_too_large(text: &str) -> bool {
    text.contains("maximum allowed number of output tokens")
        || text.contains("supports at most") && text.contains("completion tokens")
}

/// Input and output limit together are beyond the window.
pub(super) fn input_and_output_too_large(text: &str) -> bool {
    text.contains("max_tokens` exceed context limit")
        || text.contains("max_tokens exceed context limit")
}

/// The key is wrong.
pub(super) fn bad_key(text: &str) -> bool {
    let key = text.contains("api key") || text.contains("api_key") || text.contains("apikey");
    key && ["incorrect", "invalid", "not valid", "missing", "expired"]
        .iter()
        .any(|word| text.contains(word))
}

/// There is no such model.
pub(super) fn unknown_model(text: &str) -> bool {
    text.contains("model")
        && [
            "is not a valid model id",
            "supported api model names are",
            "model_not_found",
            "model does not exist",
            "model not exist",
            "no such model",
            "invalid model",
        ]
        .iter()
        .any(|phrase| text.contains(phrase))
}

/// State that was given back is not what was given out.
pub(super) fn refused_state(text: &str) -> bool {
    text.contains("in `thinking` block") && text.contains("signature")
        || text.contains("invalid signature in thinking")
        || text.contains("thinking") && text.contains("cannot be modified")
        || text.contains("thought signature") && !text.contains("missing")
        || text.contains("encrypted content") && text.contains("could not be")
}

/// No retry brings more quota.
pub(super) fn exhausted(text: &str) -> bool {
    [
        "exceeded your current quota",
        "insufficient quota",
        "insufficient balance",
        "spend limit",
        "credit balance is too low",
        "out of credits",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

/// The request alone is beyond what a minute allows.
pub(super) fn too_large_for_rate(text: &str) -> bool {
    text.to_ascii_lowercase().contains("request too large")
}
