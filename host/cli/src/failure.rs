//! What ends the program early: code, message and exit status.

use sectile_mcp::McpError;
use sectile_session::SessionError;
use serde_json::{Map, Value, json};

/// What ends the program early.
#[derive(Debug)]
pub(crate) enum Failure {
    Session(SessionError),
    /// The server for MCP clients.
    Mcp(McpError),
    /// Standard input or output.
    Stream(String),
    /// A flag whose value clap cannot judge.
    Usage(String),
    /// A question that nobody is there to answer.
    NeedsTerminal(String),
    /// A turn that could not be brought to its end.
    Turn {
        code: String,
        message: String,
    },
    /// Recorded calls that compose to other bytes now.
    Differs {
        first: u64,
    },
    /// Somebody cancelled it.
    Interrupted,
    /// The failure is part of what was printed.
    Reported,
}

impl Failure {
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Session(SessionError::ApprovalRequired { .. }) | Self::NeedsTerminal(_) => 3,
            Self::Session(error) if error.is_sandbox_refusal() => 4,
            Self::Session(_)
            | Self::Mcp(_)
            | Self::Stream(_)
            | Self::Turn { .. }
            | Self::Differs { .. }
            | Self::Reported => 1,
            Self::Usage(_) => 2,
            Self::Interrupted => 130,
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Session(error) => error.to_string(),
            Self::Mcp(error) => error.to_string(),
            Self::Stream(why) | Self::Usage(why) | Self::NeedsTerminal(why) => why.clone(),
            Self::Turn { message, .. } => message.clone(),
            Self::Differs { first } => {
                format!(
                    "call {first} composes to other bytes than were sent; `sectile session diff` compares calls"
                )
            }
            Self::Interrupted => "interrupted".to_owned(),
            Self::Reported => String::new(),
        }
    }

    /// `{"error": {"code", "message", …}}`.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        let code = match self {
            Self::Session(error) => error.code(),
            Self::Mcp(error) => error.code(),
            Self::Stream(_) => "stream_error",
            Self::Usage(_) => "usage",
            Self::NeedsTerminal(_) => "approval_required",
            Self::Turn { code, .. } => code,
            Self::Differs { .. } => "replay_differs",
            Self::Interrupted => "interrupted",
            Self::Reported => "reported",
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
