//! One client, on standard input and output.

use crate::error::McpError;
use crate::run::until_asked_to_end;
use crate::served::Served;
use crate::server::Server;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use std::sync::Arc;

/// Serves the workspace to the client on standard input and output until it
/// goes away or the process is asked to end.
///
/// # Errors
/// [`McpError`].
pub fn serve_stdio(served: Served) -> Result<(), McpError> {
    let served = Arc::new(served);
    until_asked_to_end(Arc::clone(&served), async {
        let running = match Server::new(served).serve(stdio_pipes()).await {
            Ok(running) => running,
            // A client that leaves before it has said anything is no trouble.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(McpError::Handshake(error.to_string())),
        };
        let ended = running.waiting().await;
        ended.map_err(|e| McpError::Broken(e.to_string())).map(drop)
    })
}
