//! What one more turn costs, and what opening costs, in a session that has
//! grown: whole turns over real HTTP, with real components and a real store.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints its figures and fails by panicking"
)]

use sectile_registry::Dirs;
use sectile_sandbox::{CancelToken, Compiler};
use sectile_session::{Host, HostOptions, Session, SessionOptions, TurnInput, TurnOutcome, replay};
use sectile_store::{SessionId, SessionStore, SqliteStore, WorkspaceStore};
use sectile_tests::provider::{ProviderServer, Received, Reply};
use sectile_transport::Transport;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stored messages at which is measured.
const SIZES: [u64; 3] = [100, 1_000, 10_000];
/// Turns of each measurement: about as many as lie between two compactions, so
/// that the visible conversation is small and large in each of them alike.
const TURNS: usize = 230;

/// Every turn plans and then answers; a summary is given when one is asked for.
fn script(request: &Received, number: usize) -> Reply {
    if request.body.get("tools").is_none() {
        return Reply::text(&summary());
    }
    let last = request.body["messages"]
        .as_array()
        .and_then(|m| m.last())
        .cloned();
    match last.is_some_and(|message| message["role"] == "tool") {
        true => Reply::text(&format!(
            "Answer {number}: {}",
            "some words of text ".repeat(20)
        )),
        false => Reply::call(
            "c",
            "update_plan",
            &format!(r#"{{"plan": [{{"step": "{number}", "status": "pending"}}]}}"#),
        ),
    }
}

fn summary() -> String {
    let headings = [
        "Resolved",
        "Open",
        "Remaining work",
        "Stable goals",
        "Decisions",
        "Files and paths",
        "Preferences",
    ];
    let body: String = headings
        .iter()
        .map(|h| format!("## {h}\n{}\n", "What was said of it. ".repeat(5)))
        .collect();
    format!("<conversation_summary format_version=\"1\">\n{body}</conversation_summary>")
}

fn open(
    work: &Path,
    server: &ProviderServer,
    store: &Arc<SqliteStore>,
    id: Option<SessionId>,
) -> Session {
    let home = work.join("home");
    fs::create_dir_all(home.join("config")).expect("a directory");
    fs::write(
        home.join("config/config.toml"),
        format!(
            "provider = \"local\"\n[providers.local]\nadapter = \"sectile/openai-chat\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n\
             context_window = 60000\nmax_output_tokens = 4000\nheaders.authorization = \"Bearer test-key\"\n",
            server.url()
        ),
    )
    .expect("a file");
    let host = Host::open(HostOptions {
        workspace: Some(work.to_owned()),
        profile: None,
        compiler: Compiler::InProcess,
        dirs: Dirs {
            config: home.join("config"),
            data: home.join("data"),
            cache: home.join("cache"),
            home,
        },
        tools: Vec::new(),
    });
    Session::open(SessionOptions {
        host: host.expect("the workspace opens"),
        store: Arc::clone(store) as Arc<dyn WorkspaceStore>,
        wire: Arc::new(Transport::new().expect("a network")),
        session: id,
        provider: None,
        model: None,
        max_model_calls: None,
    })
    .expect("the session opens")
}

fn turn(session: &Session) -> Duration {
    let started = Instant::now();
    let turn = session
        .run(&TurnInput::text("What now?"), &CancelToken::new())
        .expect("the turn starts");
    assert!(
        matches!(turn.outcome, TurnOutcome::Completed { .. }),
        "{:?}",
        turn.outcome
    );
    started.elapsed()
}

fn mean(times: Vec<Duration>) -> f64 {
    times.iter().sum::<Duration>().as_secs_f64() * 1e3 / times.len().max(1) as f64
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times
        .get(times.len() / 2)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory");
    let work = dir.path().canonicalize().expect("a path");
    fs::write(work.join("AGENTS.md"), "Be brief.").expect("a file");
    let server = ProviderServer::start(4096, script).expect("a port");
    let store = Arc::new(SqliteStore::open(&work).expect("a store"));
    let mut session = open(&work, &server, &store, None);
    let id = session.id().clone();
    println!("stored  turn, mean    load, median  turns  compactions");
    for size in SIZES {
        while store.load(&id).expect("it loads").last_sequence < size {
            turn(&session);
        }
        let turns = mean((0..TURNS).map(|_| turn(&session)).collect());
        drop(session);
        let load = |_| {
            let started = Instant::now();
            store.load(&id).expect("it loads");
            started.elapsed()
        };
        let loads = median((0..TURNS).map(load).collect());
        let count = store.turns(&id, 0, u64::MAX).expect("turns").len();
        let compactions = store.checkpoints(&id).expect("checkpoints").len();
        println!("{size:>6}  {turns:>9.2} ms  {loads:>9.3} ms  {count:>5}  {compactions:>11}");
        session = open(&work, &server, &store, Some(id.clone()));
    }
    let (started, mut calls) = (Instant::now(), 0_u32);
    replay(&*store, &id, &mut |call| {
        assert!(call.same, "call {} differs", call.call);
        calls += 1;
        Ok(())
    })
    .expect("it replays");
    let each = started.elapsed().as_secs_f64() * 1e3 / f64::from(calls.max(1));
    println!("all {calls} recorded calls compose to the same bytes, {each:.2} ms each");
}
