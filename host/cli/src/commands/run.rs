//! `sectile run`: one turn.

use crate::args::{Cli, RunArgs, Target};
use crate::failure::Failure;
use crate::follow;
use crate::interrupt::Interrupts;
use crate::output::Output;
use sectile_session::{Session, SessionOptions, TurnInput, TurnOutcome};
use sectile_store::SqliteStore;
use sectile_transport::{Recorder, Replay, Transport, Wire};
use std::io::Read;
use std::sync::Arc;

/// Bytes of a request on standard input.
const MAX_REQUEST: u64 = 4 << 20;

pub(crate) fn run(cli: &Cli, output: &Output, args: &RunArgs) -> Result<(), Failure> {
    let text = match args.text.as_deref() {
        Some("-") | None => standard_input()?,
        Some(text) => text.to_owned(),
    };
    let interrupts = Interrupts::listen()?;
    let session = open(cli, &args.target)?;
    output.warnings(&session.host().warnings());
    if !output.is_json() {
        output.hint(&format!("session {}", session.id()));
    }
    let input = TurnInput {
        client_request_id: args.request_id.clone(),
        skills: args.skills.clone(),
        ..TurnInput::text(text)
    };
    let turn = interrupts.during(|cancel| follow::run(&session, output, &input, cancel))?;
    ended(turn.outcome)
}

/// Exit by outcome; what was said of it has been shown.
pub(crate) fn ended(outcome: TurnOutcome) -> Result<(), Failure> {
    match outcome {
        TurnOutcome::Completed { .. } => Ok(()),
        TurnOutcome::Failed { code, message } => Err(Failure::Turn { code, message }),
        TurnOutcome::Cancelled => Err(Failure::Interrupted),
        TurnOutcome::Interrupted => Err(Failure::Turn {
            code: "interrupted".to_owned(),
            message: "the process that ran this turn ended before the turn did".to_owned(),
        }),
    }
}

/// The session that `target` names, or a new one.
pub(crate) fn open(cli: &Cli, target: &Target) -> Result<Session, Failure> {
    let host = super::open(cli)?;
    let store = SqliteStore::open(&host.workspace().root)?;
    store.interrupt_abandoned()?;
    let session = match &target.session {
        Some(id) => Some(super::session::resolve(&store, id)?),
        None => None,
    };
    Ok(Session::open(SessionOptions {
        host,
        store: Arc::new(store),
        wire: wire(target)?,
        session,
        provider: target.provider.clone(),
        model: target.model.clone(),
        max_model_calls: target.max_model_calls,
    })?)
}

/// The network, or a recording in its place.
fn wire(target: &Target) -> Result<Arc<dyn Wire>, Failure> {
    if let Some(file) = &target.replay {
        return Ok(Arc::new(Replay::open(file)?));
    }
    let transport = Transport::new()?;
    Ok(match &target.record {
        Some(file) => Arc::new(Recorder::create(transport, file)?),
        None => Arc::new(transport),
    })
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let failed = |e: std::io::Error| Failure::Stream(format!("standard input: {e}"));
    let read = std::io::stdin()
        .take(MAX_REQUEST + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > MAX_REQUEST {
        return Err(Failure::Usage(format!(
            "the request on standard input is larger than {MAX_REQUEST} bytes"
        )));
    }
    Ok(text)
}
