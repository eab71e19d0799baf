//! What every way of serving shares: threads, and an end.

use crate::error::McpError;
use crate::served::Served;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Calls that run at once, each on a thread of its own; more wait.
const THREADS: usize = 64;
/// How long calls may take to notice that nobody waits for them any more.
const GRACE: Duration = Duration::from_secs(2);

/// Runs `service` until it ends or the process is asked to, and looks after the
/// workspace's files meanwhile.
pub(crate) fn until_asked_to_end(
    served: Arc<Served>,
    service: impl Future<Output = Result<(), McpError>>,
) -> Result<(), McpError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()?;
    let ended = runtime.block_on(async {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        let following = tokio::spawn(served.follow());
        let ended = tokio::select! {
            ended = service => ended,
            _ = interrupted.recv() => Ok(()),
            _ = terminated.recv() => Ok(()),
        };
        following.abort();
        ended
    });
    runtime.shutdown_timeout(GRACE);
    ended
}
