//! Why a request got no answer, or not a whole one.

use std::path::PathBuf;

/// Why a request got no answer, or not a whole one. No message holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// Somebody cancelled it.
    #[error("the request was cancelled")]
    Cancelled,
    /// The endpoint's address cannot be used.
    #[error("the base URL `{url}` cannot be used: {why}")]
    InvalidEndpoint {
        /// The address, without what might be a password.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The adapter's request cannot be sent.
    #[error("the request cannot be sent: {0}")]
    InvalidRequest(String),
    /// A secret is not where the operator said.
    #[error("the secret `{name}` is not available: {why}")]
    SecretMissing {
        /// Its name.
        name: String,
        /// Where it was looked for, and what to do.
        why: String,
    },
    /// No connection.
    #[error("{host} cannot be reached: {why}")]
    Connect {
        /// Where to.
        host: String,
        /// The reason.
        why: String,
    },
    /// No connection in time.
    #[error("{host} did not take the connection within {seconds} s")]
    ConnectTimeout {
        /// Where to.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// Nothing came for too long.
    #[error("nothing came from {host} for {seconds} s")]
    IdleTimeout {
        /// From where.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// The answer took too long.
    #[error("the answer of {host} was not complete after {seconds} s")]
    TotalTimeout {
        /// From where.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// The connection broke.
    #[error("the connection to {host} broke: {why}")]
    Cut {
        /// Where to.
        host: String,
        /// The reason.
        why: String,
    },
    /// The answer is too large.
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge {
        /// From where.
        host: String,
        /// The limit.
        limit: u64,
    },
    /// An endpoint that sends elsewhere is not the one that was configured.
    #[error(
        "{host} redirects to {to}; nothing was sent there, change the base URL if that is right"
    )]
    Redirect {
        /// From where.
        host: String,
        /// Where to.
        to: String,
    },
    /// A recording cannot be written or read.
    #[error("{}: {why}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The recording has another request here.
    #[error("exchange {number} of the recording is not this request: {why}")]
    ReplayMismatch {
        /// Which one, from 1.
        number: usize,
        /// What differs.
        why: String,
    },
    /// The machine gives no threads, or no TLS.
    #[error("the network cannot be used: {0}")]
    Setup(String),
}

impl TransportError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::InvalidEndpoint { .. } => "invalid_endpoint",
            Self::InvalidRequest(_) => "invalid_request",
            Self::SecretMissing { .. } => "secret_missing",
            Self::Connect { .. } => "connect_failed",
            Self::ConnectTimeout { .. } => "connect_timeout",
            Self::IdleTimeout { .. } => "idle_timeout",
            Self::TotalTimeout { .. } => "total_timeout",
            Self::Cut { .. } => "connection_cut",
            Self::TooLarge { .. } => "answer_too_large",
            Self::Redirect { .. } => "redirect_refused",
            Self::Recording { .. } => "recording_error",
            Self::ReplayMismatch { .. } => "replay_mismatch",
            Self::Setup(_) => "network_error",
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Connect { .. }
                | Self::ConnectTimeout { .. }
                | Self::IdleTimeout { .. }
                | Self::Cut { .. }
        )
    }
}
