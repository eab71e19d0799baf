//! What an error means and what may help (PV-7, PV-8): by its codes, its status
//! and its headers, and only then by words, each gated by where they can be
//! believed.

mod delay;
mod words;

use crate::problem::Problem;
use sectile_sdk::provider::{ErrorClass, Header, ProviderError, Retry};

/// The error that `status`, `headers` and `body` of an answer tell of.
#[must_use]
pub fn response(status: u16, headers: &[Header], body: &[u8]) -> ProviderError {
    classify(Some(status), headers, Problem::from_body(body))
}

/// The error that came inside an answer which had begun well.
#[must_use]
pub fn in_stream(problem: Problem) -> ProviderError {
    classify(problem.status, &[], problem)
}

fn classify(status: Option<u16>, headers: &[Header], problem: Problem) -> ProviderError {
    let header = |name: &str| {
        let named = |h: &&Header| h.name.eq_ignore_ascii_case(name);
        headers.iter().find(named).map(|h| h.value.trim())
    };
    let (class, retry) = by_code(&problem)
        .or_else(|| by_words(status, &problem))
        .unwrap_or_else(|| by_status(status));
    let retry = match (retry, header("x-should-retry")) {
        (Retry::Same, Some("false")) => Retry::Never,
        (Retry::Never, Some("true")) => Retry::Same,
        (retry, _) => retry,
    };
    let retry = match retry {
        Retry::Same => delay::from_headers(&header)
            .or_else(|| delay::from_words(&problem.message))
            .map_or(Retry::Same, Retry::AfterMs),
        retry => retry,
    };
    let request_id = ["request-id", "x-request-id"]
        .iter()
        .find_map(|n| header(n));
    ProviderError {
        class,
        message: if problem.message.is_empty() {
            status.map_or_else(
                || "the provider reports an error without a word".to_owned(),
                |status| format!("the provider answers with status {status} and without a word"),
            )
        } else {
            problem.message.clone()
        },
        retry,
        code: problem.code(),
        request_id: problem.request_id.or(request_id.map(str::to_owned)),
    }
}

/// Codes that mean one thing, wherever they come from.
fn by_code(problem: &Problem) -> Option<(ErrorClass, Retry)> {
    problem.codes.iter().find_map(|code| {
        Some(match code.to_ascii_lowercase().as_str() {
            "context_length_exceeded"
            | "exceed_context_size_error"
            | "model_context_window_exceeded"
            | "request_too_large" => (ErrorClass::ContextOverflow, Retry::Compact),
            "insufficient_quota"
            | "billing_error"
            | "billing_not_active"
            | "billing_hard_limit_reached"
            | "enforced_spend_limit_reached"
            | "contract_spend_limit_reached"
            | "insufficient_balance"
            | "usage_not_included"
            | "402" => (ErrorClass::Quota, Retry::Never),
            "authentication_error" | "invalid_api_key" | "api_key_invalid" | "401" => {
                (ErrorClass::Authentication, Retry::Never)
            }
            "permission_error" | "permission_denied" => (ErrorClass::Permission, Retry::Never),
            "not_found_error" | "model_not_found" | "invalid_model" => {
                (ErrorClass::NotFound, Retry::Never)
            }
            "content_filter"
            | "content_policy_violation"
            | "invalid_prompt"
            | "responsibleaipolicyviolation" => (ErrorClass::ContentFilter, Retry::Never),
            "invalid_encrypted_content" | "previous_response_not_found" => {
                (ErrorClass::InvalidRequest, Retry::StripState)
            }
            // The model wrote a call that is none; it may do better next time.
            "tool_use_failed" => (ErrorClass::Other, Retry::Same),
            "not_supported_error" => (ErrorClass::InvalidRequest, Retry::Never),
            "overloaded_error" | "server_overloaded" | "slow_down" | "unavailable" => {
                (ErrorClass::Overloaded, Retry::Same)
            }
            "rate_limit_error" | "rate_limit_exceeded" | "ramp_limit_exceeded"
                if !words::too_large_for_rate(&problem.message) =>
            {
                (ErrorClass::RateLimited, Retry::Same)
            }
            "timeout_error" | "api_error" | "server_error" | "internal_server_error" => {
                (ErrorClass::Server, Retry::Same)
            }
            _ => return None,
        })
    })
}

fn by_words(status: Option<u16>, problem: &Problem) -> Option<(ErrorClass, Retry)> {
    let text = problem.message.to_ascii_lowercase();
    match status {
        // What a request holds may be quoted in other answers to it.
        None | Some(400 | 413 | 422 | 500) if words::output_too_large(&text) => {
            Some((ErrorClass::InvalidRequest, Retry::LowerOutput))
        }
        None | Some(400 | 413 | 422 | 500) if words::input_and_output_too_large(&text) => {
            Some((ErrorClass::ContextOverflow, Retry::LowerOutput))
        }
        None | Some(400 | 413 | 422 | 500) if words::overflow(&text, problem) => {
            Some((ErrorClass::ContextOverflow, Retry::Compact))
        }
        Some(400) if words::bad_key(&text) => Some((ErrorClass::Authentication, Retry::Never)),
        Some(400) if words::unknown_model(&text) => Some((ErrorClass::NotFound, Retry::Never)),
        Some(400) if words::refused_state(&text) => {
            Some((ErrorClass::InvalidRequest, Retry::StripState))
        }
        Some(403) if words::bad_key(&text) => Some((ErrorClass::Authentication, Retry::Never)),
        Some(403) if text.contains("moderation") || text.contains("flagged") => {
            Some((ErrorClass::ContentFilter, Retry::Never))
        }
        Some(429) if words::exhausted(&text) => Some((ErrorClass::Quota, Retry::Never)),
        Some(429) if words::too_large_for_rate(&text) => {
            Some((ErrorClass::RateLimited, Retry::Compact))
        }
        None if text.contains("overloaded") => Some((ErrorClass::Overloaded, Retry::Same)),
        None if text.contains("rate limit") => Some((ErrorClass::RateLimited, Retry::Same)),
        _ => None,
    }
}

fn by_status(status: Option<u16>) -> (ErrorClass, Retry) {
    match status {
        // An answer that began and then failed is the service's own failure.
        None => (ErrorClass::Server, Retry::Same),
        Some(401) => (ErrorClass::Authentication, Retry::Never),
        Some(402) => (ErrorClass::Quota, Retry::Never),
        Some(403) => (ErrorClass::Permission, Retry::Never),
        Some(404) => (ErrorClass::NotFound, Retry::Never),
        Some(413) => (ErrorClass::ContextOverflow, Retry::Compact),
        Some(429) => (ErrorClass::RateLimited, Retry::Same),
        Some(501) => (ErrorClass::InvalidRequest, Retry::Never),
        Some(503 | 529) => (ErrorClass::Overloaded, Retry::Same),
        Some(408 | 409 | 425 | 500..=599) => (ErrorClass::Server, Retry::Same),
        Some(400..=499) => (ErrorClass::InvalidRequest, Retry::Never),
        Some(_) => (ErrorClass::Other, Retry::Never),
    }
}

#[cfg(test)]
mod tests;
