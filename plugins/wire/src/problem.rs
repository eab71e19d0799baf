//! The body of an error, in whichever shape it comes: there is no common one.

use serde_json::Value;

/// Characters of a provider's message that are kept.
const MAX_MESSAGE: usize = 2_000;

/// What an error says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// In words; empty when there are none.
    pub message: String,
    /// Its codes, the most telling first: what says most is what is most
    /// special. Numbers are texts here.
    pub codes: Vec<String>,
    /// A status that the body itself names.
    pub status: Option<u16>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

impl Problem {
    /// Reads a body: JSON of any shape, HTML, text, nothing.
    #[must_use]
    pub fn from_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) if !value.is_null() => Self::from_json(&value),
            _ => Self {
                message: bounded(&plain(&text)),
                ..Self::default()
            },
        }
    }

    /// Reads an error object, or what one is wrapped in.
    #[must_use]
    pub fn from_json(value: &Value) -> Self {
        let outer = match value {
            Value::Array(items) => items.first().unwrap_or(value),
            _ => value,
        };
        let error = match outer.get("error") {
            Some(Value::Null) | None => outer,
            Some(error) => error,
        };
        let mut problem = Self {
            message: message(error)
                .or_else(|| message(outer))
                .unwrap_or_default(),
            ..Self::default()
        };
        for object in [error, outer] {
            problem.add_codes(object);
        }
        if let Some(raw) = error.pointer("/metadata/raw") {
            problem.add_wrapped(raw);
        }
        problem.message = bounded(&problem.message);
        problem.request_id = text(outer, "request_id").or_else(|| text(error, "request_id"));
        problem
    }

    fn add_codes(&mut self, object: &Value) {
        let details = object.get("details");
        self.add(details.and_then(|details| details.get("error_code")));
        for detail in details.and_then(Value::as_array).into_iter().flatten() {
            self.add(detail.get("reason"));
        }
        for key in ["code", "type", "status"] {
            self.add(object.get(key));
        }
    }

    fn add(&mut self, code: Option<&Value>) {
        let code = match code {
            Some(Value::String(code)) if !code.is_empty() => code.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return,
        };
        if let Ok(status @ 400..=599) = code.parse() {
            self.status = self.status.or(Some(status));
        }
        let says_nothing = code == "error" || self.codes.contains(&code);
        if !says_nothing {
            self.codes.push(code);
        }
    }

    /// A gateway's error with the error of the service behind it.
    fn add_wrapped(&mut self, raw: &Value) {
        let inner = match raw {
            Value::String(text) => Self::from_body(text.as_bytes()),
            _ => Self::from_json(raw),
        };
        if !inner.message.is_empty() {
            self.message = format!("{}: {}", self.message, inner.message);
        }
        // The service behind knows better than the gateway.
        let outer = std::mem::replace(&mut self.codes, inner.codes);
        for code in outer {
            if !self.codes.contains(&code) {
                self.codes.push(code);
            }
        }
    }

    /// The code that a person would look up: the first that is no bare status.
    #[must_use]
    pub fn code(&self) -> Option<String> {
        let is_word = |code: &&String| code.parse::<u16>().is_err();
        let word = self.codes.iter().find(is_word);
        word.or(self.codes.first()).cloned()
    }
}

fn message(object: &Value) -> Option<String> {
    if let Value::String(text) = object {
        return Some(text.clone());
    }
    for key in ["message", "detail", "error", "msg"] {
        match object.get(key) {
            Some(Value::String(message)) if !message.is_empty() => return Some(message.clone()),
            // A list of what is wrong with each field, or an object with a message.
            Some(Value::Array(items)) => {
                let messages: Vec<_> = items.iter().filter_map(message).collect();
                if !messages.is_empty() {
                    return Some(messages.join("; "));
                }
            }
            Some(inner @ Value::Object(_)) => return message(inner).or(Some(inner.to_string())),
            _ => {}
        }
    }
    None
}

fn text(object: &Value, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The words of a page: its title, else its text without tags.
fn plain(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.trim().to_owned();
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").zip(lower.find("</title>"));
    let title = title.and_then(|(from, to)| text.get(from + "<title>".len()..to));
    let mut in_tag = false;
    let without_tags = text.chars().filter(|c| match c {
        '<' => {
            in_tag = true;
            false
        }
        '>' => !std::mem::replace(&mut in_tag, false),
        _ => !in_tag,
    });
    let words: String = match title {
        Some(title) => title.to_owned(),
        None => without_tags.collect(),
    };
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_7_an_error_is_read_in_every_shape() {
        for (body, message, code) in [
            (
                r#"{"error": {"message": "m", "type": "t", "code": "c"}}"#,
                "m",
                Some("c"),
            ),
            (
                r#"{"type": "error", "error": {"type": "t", "message": "m"}}"#,
                "m",
                Some("t"),
            ),
            (
                r#"{"type": "error", "error": {"type": "t", "message": "m", "details": {"error_code": "x"}}}"#,
                "m",
                Some("x"),
            ),
            (
                r#"{"type": "error", "code": "c", "message": "m"}"#,
                "m",
                Some("c"),
            ),
            (r#"{"error": "m"}"#, "m", None),
            (r#"{"detail": "m"}"#, "m", None),
            (r#"{"detail": [{"msg": "a"}, {"msg": "b"}]}"#, "a; b", None),
            (
                r#"{"object": "error", "code": "3051", "message": "m", "type": "t"}"#,
                "m",
                Some("t"),
            ),
            (
                r#"[{"error": {"code": 429, "message": "m", "status": "S"}}]"#,
                "m",
                Some("S"),
            ),
            (
                r#"{"error": {"code": 401, "message": "m"}}"#,
                "m",
                Some("401"),
            ),
            (
                r#"{"error": {"code": 400, "message": "g", "metadata": {"raw": "{\"message\": \"m\", \"code\": \"c\"}"}}}"#,
                "g: m",
                Some("c"),
            ),
            (
                "<html><head><TITLE>502 Bad\nGateway</title></head></html>",
                "502 Bad Gateway",
                None,
            ),
            ("<p>no <b>title</b></p>", "no title", None),
            ("just text\n", "just text", None),
            ("", "", None),
            ("null", "null", None),
            ("[]", "", None),
            ("{}", "", None),
        ] {
            let problem = Problem::from_body(body.as_bytes());
            assert_eq!(problem.message, message, "{body}");
            assert_eq!(problem.code().as_deref(), code, "{body}");
        }
    }

    #[test]
    fn pv_7_any_bytes_are_accepted_and_long_words_cut() {
        assert_eq!(
            Problem::from_body(&[0xff, 0xfe]).message,
            "\u{fffd}\u{fffd}"
        );
        let long = "é".repeat(MAX_MESSAGE + 5);
        let message = Problem::from_body(long.as_bytes()).message;
        assert_eq!(message.chars().count(), MAX_MESSAGE + 1);
    }
}
