//! One call of a tool: on a thread of its own, with its progress on the way and
//! an end when the client no longer waits.

#![expect(deprecated)]

use crate::answers::result;
use crate::server::Server;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorData, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RequestContext};
use sectile_sandbox::{CancelToken, LogLevel, LogSource, Progress, ProgressSink};
use sectile_session::{Called, ToolRequest};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;

/// Steps of progress that may wait for a slow client; more are left out.
const WAITING: usize = 32;

/// Cancels a call when whoever waits for it is gone.
struct Cancels(CancelToken);

impl Drop for Cancels {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

struct Sent(Sender<Progress>);

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("progress for a client")
    }
}

impl ProgressSink for Sent {
    fn show(&self, progress: Progress) {
        // A guest is not kept waiting by a client that does not read.
        let _ = self.0.try_send(progress);
    }
}

pub(crate) async fn run(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let level = server.level(&context);
    let (host, scope) = (server.served.host(), server.scope(&context)?);
    let mut steps = Steps::new(&context);
    let cancels = Cancels(CancelToken::new());
    let (name, id) = (request.name.to_string(), context.id.to_string());
    let input = Value::Object(request.arguments.unwrap_or_default());
    let (sender, mut progress) = channel(WAITING);
    let watched = steps.token.is_some();
    let call = {
        let cancel = cancels.0.clone();
        move || {
            let request = ToolRequest {
                call_id: &id,
                cancel,
                progress: watched.then(|| Arc::new(Sent(sender)) as Arc<dyn ProgressSink>),
                ..ToolRequest::new(&name, &input)
            };
            host.call_tool(&request, &scope)
        }
    };
    let mut call = spawn_blocking(call);
    let done = loop {
        tokio::select! {
            biased;
            Some(step) = progress.recv() => steps.show(step).await,
            () = context.ct.cancelled(), if !cancels.0.is_cancelled() => cancels.0.cancel(),
            done = &mut call => break done,
        }
    };
    steps.rest(&mut progress).await;
    let called = done
        .map_err(|e| ErrorData::internal_error(e.to_string(), None))?
        .map_err(|e| ErrorData::invalid_params(e.to_string(), None))?;
    tell(&context.peer, level, &request.name, &called).await;
    Ok(result(called.output))
}

/// Progress as the protocol has it: it only grows.
struct Steps {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    last: Option<u64>,
}

impl Steps {
    fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            last: None,
        }
    }

    async fn show(&mut self, step: Progress) {
        let done = step.done.unwrap_or(self.last.map_or(1, |last| last + 1));
        let grown = self.last.is_none_or(|last| done > last);
        let (Some(token), true) = (self.token.clone(), grown) else {
            return;
        };
        self.last = Some(done);
        let mut shown = ProgressNotificationParam::new(token, float(done));
        shown.total = step.total.map(float);
        if !step.message.is_empty() {
            shown.message = Some(step.message);
        }
        // A client that is gone needs no progress.
        let _ = self.peer.notify_progress(shown).await;
    }

    async fn rest(&mut self, progress: &mut Receiver<Progress>) {
        while let Ok(step) = progress.try_recv() {
            self.show(step).await;
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "JSON's numbers are floats; progress beyond 2^53 is shown rounded"
)]
fn float(n: u64) -> f64 {
    n as f64
}

/// What the plugin said, and what it was refused, as far as the client asked.
async fn tell(peer: &Peer<RoleServer>, level: Option<LoggingLevel>, tool: &str, called: &Called) {
    let Some(wanted) = level else { return };
    let quiet = called.report.log.iter().filter_map(|line| {
        let level = match line.source {
            LogSource::Log(LogLevel::Trace | LogLevel::Debug) => LoggingLevel::Debug,
            LogSource::Log(LogLevel::Info) => LoggingLevel::Info,
            LogSource::Log(_) | LogSource::Stdout | LogSource::Stderr => return None,
        };
        Some((level, line.text.clone()))
    });
    let warnings = called.warnings.iter().cloned();
    let warnings = warnings.map(|text| (LoggingLevel::Warning, text));
    for (level, text) in quiet.chain(warnings) {
        if severity(level) >= severity(wanted) {
            let message = LoggingMessageNotificationParam::new(level, Value::String(text));
            let _ = peer
                .notify_logging_message(message.with_logger(tool.to_owned()))
                .await;
        }
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
