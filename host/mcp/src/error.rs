//! Why a workspace cannot be served.

use sectile_session::SessionError;
use std::net::SocketAddr;

/// Why a workspace cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The operating system gave no means to wait for a client.
    #[error("the server cannot be started: {0}")]
    Start(#[from] std::io::Error),
    /// Nothing can be served at this address.
    #[error("{address} cannot be listened on: {why}; choose another port, or 0 for any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        why: std::io::Error,
    },
    /// The operator's token is none.
    #[error("the token is of no use: {0}; `openssl rand -hex 32` makes a good one")]
    Token(&'static str),
    /// The operating system gave no random bytes.
    #[error("no token can be drawn: {0}")]
    Random(String),
    /// No name for this client's calls could be drawn.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The client did not begin as the protocol says.
    #[error("the client did not begin with a request of the protocol: {0}")]
    Handshake(String),
    /// The server broke down. This is a bug.
    #[error("the server broke down: {0}")]
    Broken(String),
}

impl McpError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Start(_) => "mcp_start_failed",
            Self::Listen { .. } => "mcp_listen_failed",
            Self::Token(_) => "mcp_token_invalid",
            Self::Random(_) => "no_randomness",
            Self::Session(error) => error.code(),
            Self::Handshake(_) => "mcp_handshake_failed",
            Self::Broken(_) => "mcp_server_failed",
        }
    }
}
