//! What ends the program early: code, message and exit status.

use sectile_session::SessionError;
use serde_json::{Map, Value, json};

/// What ends the program early.
#[derive(Debug)]
pub(crate) enum Failure {
    Session(SessionError),
    /// Standard input or output.
    Stream(String),
    /// A flag whose value clap cannot judge.
    Usage(String),
    /// A question that nobody is there to answer.
    NeedsTerminal(String),
}

impl Failure {
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Session(SessionError::ApprovalRequired { .. }) | Self::NeedsTerminal(_) => 3,
            Self::Session(error) if error.is_sandbox_refusal() => 4,
            Self::Session(_) | Self::Stream(_) => 1,
            Self::Usage(_) => 2,
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Session(error) => error.to_string(),
            Self::Stream(why) | Self::Usage(why) | Self::NeedsTerminal(why) => why.clone(),
        }
    }

    /// `{"error": {"code", "message", …}}`.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        let code = match self {
            Self::Session(error) => error.code(),
            Self::Stream(_) => "stream_error",
            Self::Usage(_) => "usage",
            Self::NeedsTerminal(_) => "approval_required",
        };
        error.insert("code".to_owned(), json!(code));
        error.insert("message".to_owned(), json!(self.message()));
        match self {
            Self::Session(SessionError::Engine(engine)) => error.extend(engine.fields()),
            Self::Session(SessionError::Section { section, cause, .. }) => {
                error.insert("section".to_owned(), json!(section));
                error.insert("cause".to_owned(), json!(cause));
            }
            _ => {}
        }
        json!({ "error": error })
    }
}

impl<E: Into<SessionError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Session(error.into())
    }
}
