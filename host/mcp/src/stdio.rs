//! One client, on standard input and output.

use crate::error::McpError;
use crate::server::Server;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use sectile_session::Host;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Calls that run at once, each on a thread of its own; more wait.
const THREADS: usize = 64;
/// How long calls may take to notice that nobody waits for them any more.
const GRACE: Duration = Duration::from_secs(2);

/// Serves `host` to the client on standard input and output until it goes away
/// or the process is asked to end.
///
/// # Errors
/// [`McpError`].
pub fn serve_stdio(host: Host) -> Result<(), McpError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()?;
    let ended = runtime.block_on(serve(host));
    runtime.shutdown_timeout(GRACE);
    ended
}

async fn serve(host: Host) -> Result<(), McpError> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let server = Server::new(host)?;
    let session = async {
        let running = match server.serve(stdio_pipes()).await {
            Ok(running) => running,
            // A client that leaves before it has said anything is no trouble.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(McpError::Handshake(error.to_string())),
        };
        let ended = running.waiting().await;
        ended.map_err(|e| McpError::Broken(e.to_string())).map(drop)
    };
    tokio::select! {
        ended = session => ended,
        _ = interrupted.recv() => Ok(()),
        _ = terminated.recv() => Ok(()),
    }
}
