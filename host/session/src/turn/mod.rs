//! One turn: from the user's request to its outcome (SR-20 to SR-30).

mod calls;
pub(crate) mod history;
mod input;
pub(crate) mod plan;
mod repeats;
mod room;
mod runner;

pub(crate) use input::{AcceptedInput, accept};
pub(crate) use runner::{Runner, Submission};

pub use input::TurnInput;
pub use plan::{Plan, PlanStep, StepStatus};

use serde::{Deserialize, Serialize};

/// How a turn ended (SR-29).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model answered and asked for nothing more.
    Completed {
        /// The text of its last message.
        text: String,
    },
    /// It could not be brought to its end.
    Failed {
        /// Stable code.
        code: String,
        /// What happened, one line.
        message: String,
    },
    /// Somebody cancelled it.
    Cancelled,
    /// The process ended before the turn did (SR-28).
    Interrupted,
}

/// Why a turn stops before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    Failed { code: String, message: String },
}

impl Stop {
    pub(crate) fn failed(code: &str, message: impl ToString) -> Self {
        Self::Failed {
            code: code.to_owned(),
            message: message.to_string(),
        }
    }
}

impl From<Stop> for TurnOutcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Self::Cancelled,
            Stop::Failed { code, message } => Self::Failed { code, message },
        }
    }
}
