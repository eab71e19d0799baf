//! The arguments of one tool call, collected until the call has ended (PV-6).

use crate::outbox::protocol;
use sectile_sdk::provider::{CallInput, FinishReason, ProviderError};
use serde_json::Value;

/// Bytes that the arguments of one call may have.
pub const MAX_ARGUMENTS: usize = 16 << 20;

/// Arguments so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments(String);

/// What arguments are when their call has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// JSON.
    Whole(String),
    /// The beginning of JSON.
    Cut,
    /// Neither.
    Malformed,
}

impl Arguments {
    /// Adds a piece.
    ///
    /// # Errors
    /// When they become longer than [`MAX_ARGUMENTS`].
    pub fn push(&mut self, piece: &str) -> Result<(), ProviderError> {
        if self.0.len() + piece.len() > MAX_ARGUMENTS {
            return Err(protocol(&format!(
                "the arguments of a tool call have more than {MAX_ARGUMENTS} bytes"
            )));
        }
        self.0.push_str(piece);
        Ok(())
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Reads them, now that the call has ended. No arguments are `{}`.
    #[must_use]
    pub fn read(&self) -> Reading {
        let text = self.0.trim_matches([' ', '\t', '\n', '\r']);
        if text.is_empty() {
            return Reading::Whole("{}".to_owned());
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Null) => Reading::Whole("{}".to_owned()),
            Ok(_) => Reading::Whole(text.to_owned()),
            Err(error) => match repeated(text) {
                Some(once) => Reading::Whole(once.to_owned()),
                None if error.is_eof() => Reading::Cut,
                None => Reading::Malformed,
            },
        }
    }

    /// Read as what it was when `ended` says that nothing is missing, else as
    /// text that is never executed.
    #[must_use]
    pub fn input(&self, ended: bool) -> CallInput {
        match self.read() {
            Reading::Whole(json) if ended => CallInput::Parsed(json),
            _ => CallInput::Raw(self.0.clone()),
        }
    }
}

/// Why the answer ended, by what the provider says and by how the arguments of
/// its calls read. Services say `stop` though there are calls, and `tool_calls`
/// though the last one was cut.
#[must_use]
pub fn finish_reason(said: FinishReason, calls: &[Reading]) -> FinishReason {
    if !matches!(said, FinishReason::Stop | FinishReason::ToolCalls) {
        said
    } else if calls.contains(&Reading::Cut) {
        FinishReason::Length
    } else if calls.contains(&Reading::Malformed) {
        FinishReason::MalformedToolCall
    } else if calls.is_empty() {
        FinishReason::Stop
    } else {
        FinishReason::ToolCalls
    }
}

/// Some services send the whole arguments again at the end.
fn repeated(text: &str) -> Option<&str> {
    let (once, again) = text.split_at_checked(text.len() / 2)?;
    (once == again && serde_json::from_str::<Value>(once).is_ok_and(|v| v.is_object()))
        .then_some(once)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Arguments {
        Arguments(text.to_owned())
    }

    #[test]
    fn pv_6_arguments_are_read_when_the_call_has_ended() {
        let whole = |text: &str| Reading::Whole(text.to_owned());
        for (text, expected) in [
            ("", whole("{}")),
            (" \n", whole("{}")),
            ("null", whole("{}")),
            ("{}", whole("{}")),
            (" {\"b\": 1, \"a\": 2} ", whole("{\"b\": 1, \"a\": 2}")),
            ("{\"a\":1}{\"a\":1}", whole("{\"a\":1}")),
            ("{\"a\": \"\\u00", Reading::Cut),
            ("{\"a\": ", Reading::Cut),
            ("{\"a\": 1}}", Reading::Malformed),
            ("{\"a\": 1}{\"a\": 2}", Reading::Malformed),
            ("{a: 1}", Reading::Malformed),
            ("11", whole("11")),
        ] {
            assert_eq!(arguments(text).read(), expected, "{text}");
        }
    }

    #[test]
    fn pv_6_a_cut_call_is_raw_also_when_what_is_there_parses() {
        let raw = |text: &str| CallInput::Raw(text.to_owned());
        assert_eq!(arguments("").input(false), raw(""));
        assert_eq!(arguments("{\"a\": 1}").input(false), raw("{\"a\": 1}"));
        assert_eq!(arguments("{\"a\"").input(true), raw("{\"a\""));
    }

    #[test]
    fn pv_6_the_reason_fits_the_calls() {
        use FinishReason as R;
        let whole = || Reading::Whole("{}".to_owned());
        for (said, calls, expected) in [
            (R::Stop, vec![], R::Stop),
            (R::Stop, vec![whole()], R::ToolCalls),
            (R::ToolCalls, vec![], R::Stop),
            (R::ToolCalls, vec![whole(), Reading::Cut], R::Length),
            (R::ToolCalls, vec![Reading::Malformed], R::MalformedToolCall),
            (R::Length, vec![whole()], R::Length),
        ] {
            assert_eq!(finish_reason(said, &calls), expected);
        }
    }

    #[test]
    fn pv_6_arguments_are_bounded() {
        let mut arguments = Arguments::default();
        assert!(arguments.push(&" ".repeat(MAX_ARGUMENTS)).is_ok());
        assert!(arguments.push(" ").is_err());
    }
}
