//! What errors mean, by the table of signals that services are known to give.

use super::*;

fn header(name: &str, value: &str) -> Header {
    Header {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

#[test]
fn pv_7_codes_and_statuses_come_before_words() {
    use ErrorClass as C;
    use Retry as R;
    for (status, body, class, retry) in [
        (401, "", C::Authentication, R::Never),
        (
            400,
            r#"{"error": "Incorrect API key provided: xx"}"#,
            C::Authentication,
            R::Never,
        ),
        (
            400,
            r#"{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}"#,
            C::Authentication,
            R::Never,
        ),
        (403, r#"{"detail": "nope"}"#, C::Permission, R::Never),
        (402, "{}", C::Quota, R::Never),
        (
            429,
            r#"{"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "You exceeded your current quota"}}"#,
            C::Quota,
            R::Never,
        ),
        (
            429,
            r#"{"type": "error", "error": {"type": "rate_limit_error", "message": "m", "details": {"error_code": "enforced_spend_limit_reached"}}}"#,
            C::Quota,
            R::Never,
        ),
        (
            429,
            r#"{"error": {"message": "Rate limit reached. Please try again in 11.054s.", "code": "rate_limit_exceeded"}}"#,
            C::RateLimited,
            R::AfterMs(11_054),
        ),
        (
            429,
            r#"{"error": {"message": "Request too large for gpt-x on tokens per min (TPM)", "code": "rate_limit_exceeded"}}"#,
            C::RateLimited,
            R::Compact,
        ),
        (429, "slow", C::RateLimited, R::Same),
        (404, "<html>", C::NotFound, R::Never),
        (
            400,
            r#"{"error": {"code": "model_not_found", "message": "m"}}"#,
            C::NotFound,
            R::Never,
        ),
        (
            400,
            r#"{"error": {"message": "foo/bar is not a valid model ID", "code": 400}}"#,
            C::NotFound,
            R::Never,
        ),
        (
            400,
            r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}"#,
            C::ContextOverflow,
            R::Compact,
        ),
        (
            400,
            r#"{"error": {"message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", "type": "invalid_request_error"}}"#,
            C::ContextOverflow,
            R::LowerOutput,
        ),
        (
            400,
            r#"{"error": {"code": 400, "type": "exceed_context_size_error", "message": "m", "n_ctx": 1}}"#,
            C::ContextOverflow,
            R::Compact,
        ),
        (
            400,
            r#"{"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "string_above_max_length"}}"#,
            C::InvalidRequest,
            R::Never,
        ),
        (
            413,
            "<html>too large</html>",
            C::ContextOverflow,
            R::Compact,
        ),
        (
            400,
            r#"{"error": {"message": "max_tokens: 1000000 > 128000, which is the maximum allowed number of output tokens for x"}}"#,
            C::InvalidRequest,
            R::LowerOutput,
        ),
        (
            400,
            r#"{"error": {"message": "the user wrote: status 429, rate limit"}}"#,
            C::InvalidRequest,
            R::Never,
        ),
        (
            400,
            r#"{"error": {"message": "Invalid `signature` in `thinking` block"}}"#,
            C::InvalidRequest,
            R::StripState,
        ),
        (
            400,
            r#"{"error": {"code": "invalid_encrypted_content", "message": "m"}}"#,
            C::InvalidRequest,
            R::StripState,
        ),
        (
            400,
            r#"{"error": {"code": "content_policy_violation", "message": "m"}}"#,
            C::ContentFilter,
            R::Never,
        ),
        (
            400,
            r#"{"error": {"code": "tool_use_failed", "failed_generation": "x", "message": "m"}}"#,
            C::Other,
            R::Same,
        ),
        (
            529,
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
            C::Overloaded,
            R::Same,
        ),
        (
            503,
            r#"{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}"#,
            C::Overloaded,
            R::Same,
        ),
        (500, "", C::Server, R::Same),
        (504, "<html>", C::Server, R::Same),
        (
            501,
            r#"{"error": {"type": "not_supported_error"}}"#,
            C::InvalidRequest,
            R::Never,
        ),
        (
            422,
            r#"{"detail": [{"msg": "field required"}]}"#,
            C::InvalidRequest,
            R::Never,
        ),
    ] {
        let error = response(status, &[], body.as_bytes());
        assert_eq!(
            (error.class, error.retry),
            (class, retry),
            "{status} {body}"
        );
        assert!(!error.message.is_empty(), "{status} {body}");
    }
}

#[test]
fn pv_8_headers_say_whether_and_when_to_try_again() {
    let retry = |headers: &[Header], status| response(status, headers, b"").retry;
    assert_eq!(
        retry(&[header("Retry-After", "3")], 429),
        Retry::AfterMs(3_000)
    );
    assert_eq!(
        retry(&[header("X-Should-Retry", "false")], 503),
        Retry::Never
    );
    assert_eq!(retry(&[header("x-should-retry", "true")], 400), Retry::Same);
    assert_eq!(retry(&[header("retry-after", "3")], 400), Retry::Never);
}

#[test]
fn pv_7_an_error_in_an_answer_that_began_well_is_classified_too() {
    use serde_json::json;
    for (body, class) in [
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
            ErrorClass::Overloaded,
        ),
        (
            json!({"error": {"code": 429, "message": "m"}}),
            ErrorClass::RateLimited,
        ),
        (
            json!({"error": {"code": "context_length_exceeded", "message": "m"}}),
            ErrorClass::ContextOverflow,
        ),
        (
            json!({"error": {"message": "Your input exceeds the context window of this model"}}),
            ErrorClass::ContextOverflow,
        ),
        (json!({"error": "something"}), ErrorClass::Server),
    ] {
        assert_eq!(in_stream(Problem::from_json(&body)).class, class, "{body}");
    }
}

#[test]
fn pv_7_the_request_id_comes_from_the_body_or_the_headers() {
    let headers = [header("X-Request-Id", "h")];
    let id = |body: &[u8]| response(500, &headers, body).request_id;
    assert_eq!(id(br#"{"request_id": "b"}"#).as_deref(), Some("b"));
    assert_eq!(id(b"").as_deref(), Some("h"));
}
