//! `sectile session`: what is kept of conversations.

use crate::args::{Cli, SessionCommand};
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::output::{BOLD, DIM, Output};
use crate::text::{columns, cut, grouped, padded, printable};
use sectile_registry::Workspace;
use sectile_session::{Composition, Host, SessionError, preview, recorded_call, replay};
use sectile_store::{
    SessionId, SessionStore, SessionSummary, SqliteStore, StoreError, StoredMessage,
};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Bytes of one line of an imported session.
const MAX_LINE: u64 = 256 << 20;

pub(crate) fn run(cli: &Cli, output: &Output, command: &SessionCommand) -> Result<(), Failure> {
    match command {
        SessionCommand::Compact { target } => {
            let interrupts = Interrupts::listen()?;
            let session = super::run::open(cli, target)?;
            let done = interrupts.during(|cancel| session.compact(cancel))?;
            return changed(
                output,
                &json!({
                    "session": session.id(),
                    "checkpoint": done.checkpoint,
                    "tokens_before": done.tokens_before,
                    "tokens_after": done.tokens_after,
                }),
                &format!(
                    "{} tokens are {} now.\n",
                    grouped(done.tokens_before),
                    grouped(done.tokens_after)
                ),
            );
        }
        SessionCommand::Import { file, id } => return import(cli, output, file, id.as_deref()),
        _ => {}
    }
    let store = existing(cli)?;
    match command {
        SessionCommand::List { skip, limit } => list(store.as_ref(), output, *skip, *limit),
        SessionCommand::Show { id, after, limit } => {
            show(&required(store, id)?, output, id, *after, *limit)
        }
        SessionCommand::Export { id, output: file } => {
            export(&required(store, id)?, output, id, file.as_deref())
        }
        SessionCommand::Replay { id, verify } => {
            verify_calls(&required(store, id)?, output, id, *verify)
        }
        SessionCommand::Diff { id, first, second } => {
            diff(&required(store, id)?, output, id, *first, *second)
        }
        SessionCommand::Rewind { id, checkpoint } => {
            let store = required(store, id)?;
            let id = resolve(&store, id)?;
            let made = sectile_session::rewind(&store, &id, *checkpoint)?;
            changed(
                output,
                &json!({"session": id, "checkpoint": made}),
                &format!("checkpoint {checkpoint} is seen again, as checkpoint {made}\n"),
            )
        }
        SessionCommand::Clear { id } => {
            let store = required(store, id)?;
            let id = resolve(&store, id)?;
            let made = sectile_session::clear(&store, &id)?;
            changed(
                output,
                &json!({"session": id, "checkpoint": made}),
                "the session begins anew; nothing was deleted\n",
            )
        }
        SessionCommand::Compact { .. } | SessionCommand::Import { .. } => Ok(()),
    }
}

fn changed(output: &Output, document: &Value, text: &str) -> Result<(), Failure> {
    match output.is_json() {
        true => output.json(document),
        false => output.text(text),
    }
}

/// The workspace's store, when there is one: reading makes nothing.
fn existing(cli: &Cli) -> Result<Option<SqliteStore>, Failure> {
    let workspace = Workspace::open(cli.workspace.as_deref())?;
    Ok(SqliteStore::open_existing(&workspace.root)?)
}

fn required(store: Option<SqliteStore>, id: &str) -> Result<SqliteStore, Failure> {
    match store {
        Some(store) => Ok(store),
        None => Err(StoreError::UnknownSession(parse(id)?).into()),
    }
}

fn parse(id: &str) -> Result<SessionId, Failure> {
    Ok(id.parse::<SessionId>()?)
}

/// The session that `id` names: in full, by the beginning of its id, or `last`.
pub(crate) fn resolve(store: &SqliteStore, id: &str) -> Result<SessionId, Failure> {
    if id == "last" {
        let newest = store.sessions(0, 1)?.into_iter().next();
        return newest
            .map(|summary| summary.session.id)
            .ok_or_else(|| Failure::Usage("there is no session yet".to_owned()));
    }
    Ok(store.session(&parse(id)?)?.id)
}

/// The next request of a session.
pub(crate) fn next_request(
    host: &mut Host,
    id: &str,
    message: Option<&str>,
) -> Result<Composition, Failure> {
    let store = required(SqliteStore::open_existing(&host.workspace().root)?, id)?;
    let id = resolve(&store, id)?;
    Ok(preview(host, &store, &id, message)?)
}

fn list(
    store: Option<&SqliteStore>,
    output: &Output,
    skip: u64,
    limit: u64,
) -> Result<(), Failure> {
    let sessions = match store {
        Some(store) => store.sessions(skip, limit)?,
        None => Vec::new(),
    };
    if output.is_json() {
        return output.json(&sessions);
    }
    if sessions.is_empty() {
        return output.text(&format!("{DIM}There is no session.{DIM:#}\n"));
    }
    output.text(&sessions.iter().map(row).collect::<String>())
}

fn row(summary: &SessionSummary) -> String {
    let model = summary.session.about.get("model").and_then(Value::as_str);
    let request = summary.first_request.as_deref().unwrap_or("");
    format!(
        "{BOLD}{}{BOLD:#}  {DIM}{}  {:>5} turns{DIM:#}  {}  {}\n",
        summary.session.id,
        date(summary.session.created_ms),
        grouped(summary.turns),
        padded(model.unwrap_or(""), 20),
        cut(request, columns().saturating_sub(70)),
    )
}

fn date(ms: u64) -> String {
    let timestamp = i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(String::new, |t| t.strftime("%Y-%m-%d %H:%M").to_string())
}

fn show(
    store: &SqliteStore,
    output: &Output,
    id: &str,
    after: u64,
    limit: u64,
) -> Result<(), Failure> {
    let id = resolve(store, id)?;
    let session = store.session(&id)?;
    let messages = store.messages(&id, after, u64::MAX, limit)?;
    let checkpoints = store.checkpoints(&id)?;
    if output.is_json() {
        let message =
            |m: &StoredMessage| json!({"turn": m.turn, "item": m.item, "section": m.item.source});
        return output.json(&json!({
            "session": session,
            "turns": store.turns(&id, 0, u64::MAX)?,
            "checkpoints": checkpoints,
            "messages": messages.iter().map(message).collect::<Vec<_>>(),
        }));
    }
    let mut text = format!(
        "{BOLD}{id}{BOLD:#}  {DIM}{}{DIM:#}\n",
        date(session.created_ms)
    );
    for checkpoint in &checkpoints {
        text.push_str(&format!(
            "{DIM}checkpoint {} ({:?}) stands for messages up to {}{DIM:#}\n",
            checkpoint.number, checkpoint.checkpoint.kind, checkpoint.checkpoint.through_sequence
        ));
    }
    for message in &messages {
        text.push_str(&shown(message));
    }
    if let Some(last) = messages.last().and_then(|m| m.item.origin.sequence())
        && messages.len() as u64 == limit
    {
        text.push_str(&format!("{DIM}--after {last} shows more{DIM:#}\n"));
    }
    output.text(&text)
}

fn shown(message: &StoredMessage) -> String {
    let item = &message.item;
    let sequence = item.origin.sequence().unwrap_or(0);
    let what = match item.source.as_deref() {
        Some(source) => source.section.to_string(),
        None => format!("{:?}", item.message.role).to_lowercase(),
    };
    let body = serde_json::to_value(&item.message.content).unwrap_or_default();
    let texts = item
        .message
        .content
        .iter()
        .zip(body.as_array().into_iter().flatten());
    let parts =
        texts.map(|(block, json)| block.text().map_or_else(|| json.to_string(), str::to_owned));
    format!(
        "\n{DIM}{sequence:>6}{DIM:#} {BOLD}{what}{BOLD:#}\n{}\n",
        printable(&parts.collect::<Vec<_>>().join("\n"))
    )
}

fn export(
    store: &SqliteStore,
    output: &Output,
    id: &str,
    file: Option<&Path>,
) -> Result<(), Failure> {
    let id = resolve(store, id)?;
    let Some(path) = file else {
        let mut failed = None;
        let mut each = |line: Value| {
            if failed.is_none() {
                failed = output.json_line(&line).err();
            }
            Ok(())
        };
        store.export(&id, &mut each)?;
        return failed.map_or(Ok(()), Err);
    };
    let failed = |error: std::io::Error| StoreError::Io {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let mut writer = BufWriter::new(File::create_new(path).map_err(failed)?);
    store.export(&id, &mut |line| writeln!(writer, "{line}").map_err(failed))?;
    let file = writer.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok(file.sync_all().map_err(failed)?)
}

fn import(cli: &Cli, output: &Output, file: &Path, id: Option<&str>) -> Result<(), Failure> {
    let workspace = Workspace::open(cli.workspace.as_deref())?;
    let store = SqliteStore::open(&workspace.root)?;
    let id = match id {
        Some(id) => parse(id)?,
        None => sectile_session::new_session_id()?,
    };
    let failed = |error: std::io::Error| StoreError::Io {
        path: file.to_owned(),
        why: error.to_string(),
    };
    let mut reader = BufReader::new(File::open(file).map_err(failed)?);
    let mut number = 0;
    let mut lines = std::iter::from_fn(|| {
        number += 1;
        let mut line = String::new();
        match (&mut reader).take(MAX_LINE).read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).map_err(|e| StoreError::Import {
                line: number,
                why: e.to_string(),
            })),
            Err(error) => Some(Err(failed(error))),
        }
    });
    store.import(&id, &mut lines)?;
    changed(output, &json!({"session": id}), &format!("session {id}\n"))
}

fn verify_calls(
    store: &SqliteStore,
    output: &Output,
    id: &str,
    verify: bool,
) -> Result<(), Failure> {
    let id = resolve(store, id)?;
    let (mut calls, mut changed) = (0_u64, Vec::new());
    replay(store, &id, &mut |call| {
        calls += 1;
        if !call.same {
            changed.push(call.call);
        }
        let shown = match (output.is_json(), call.same) {
            (true, _) => output.json_line(&call),
            (false, true) => Ok(()),
            (false, false) => output.text(&format!(
                "call {} of turn {} differs\n",
                call.call, call.turn
            )),
        };
        shown.map_err(|_| SessionError::OutputClosed)
    })?;
    if !output.is_json() {
        output.text(&format!(
            "{calls} recorded calls, {} differ\n",
            changed.len()
        ))?;
    }
    match (verify, changed.as_slice()) {
        (true, [first, ..]) => Err(Failure::Differs { first: *first }),
        _ => Ok(()),
    }
}

fn diff(
    store: &SqliteStore,
    output: &Output,
    id: &str,
    first: Option<u64>,
    second: Option<u64>,
) -> Result<(), Failure> {
    let id = resolve(store, id)?;
    // Without numbers: the last two.
    let last = match second {
        Some(second) => second,
        None => store.count_calls(&id)?,
    };
    let before = first.unwrap_or(last.saturating_sub(1));
    let (a, b) = (
        recorded_call(store, &id, before)?,
        recorded_call(store, &id, last)?,
    );
    let report = sectile_engine::prefix_report(&a, &b);
    if output.is_json() {
        return output
            .json(&json!({"session": id, "first": before, "second": last, "report": report}));
    }
    output.text(&format!(
        "calls {before} and {last}: {}\n",
        printable(&report.to_string())
    ))
}
