//! Why a workspace cannot be served.

use sectile_session::SessionError;

/// Why a workspace cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The operating system gave no means to wait for a client.
    #[error("the server cannot be started: {0}")]
    Start(#[from] std::io::Error),
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
            Self::Session(error) => error.code(),
            Self::Handshake(_) => "mcp_handshake_failed",
            Self::Broken(_) => "mcp_server_failed",
        }
    }
}
