//! Sessions survive what happens to processes and disks (D1, D3, D4, C1).

use crate::User;
use sectile_tests::provider::{Part, ProviderServer, Received, Reply};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Times that a turn is killed. Every instant of a turn is hit by some.
const KILLS: u64 = 200;

fn script(_: &Received, number: usize) -> Reply {
    let plan = format!(r#"{{"plan": [{{"step": "{number}", "status": "pending"}}]}}"#);
    match number % 3 {
        0 => Reply {
            parts: vec![
                Part::Call {
                    id: "a".into(),
                    name: "update_plan".into(),
                    arguments: plan.clone(),
                },
                Part::Call {
                    id: "b".into(),
                    name: "conversation_history".into(),
                    arguments: "{}".into(),
                },
            ],
            ..Reply::default()
        },
        1 => Reply::call("c", "update_plan", &plan),
        _ => Reply::text("done"),
    }
}

/// The messages that `updates` (JSON Lines) said were stored.
fn acknowledged(updates: &str) -> Vec<String> {
    let id = |line: &str| {
        let update: Value = serde_json::from_str(line).ok()?;
        (update["type"] == "message_stored")
            .then(|| update["message_id"].as_str().map(str::to_owned))?
    };
    updates.lines().filter_map(id).collect()
}

fn stored(user: &User) -> Vec<Value> {
    let exported = user.run(&["session", "export", "last"]);
    assert_eq!(exported.status, 0, "{}{}", exported.stdout, exported.stderr);
    exported
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn ids(lines: &[Value]) -> Vec<String> {
    let messages = lines.iter().filter(|line| line["type"] == "message");
    messages
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn d1_a_turn_that_is_killed_at_any_instant_loses_nothing_that_was_committed() {
    let server = ProviderServer::start(200, script).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.run(&["run", "begin"]).status, 0);
    // How long a turn takes here, so that kills fall into all of it.
    let began = std::time::Instant::now();
    assert_eq!(user.run(&["run", "--session", "last", "measure"]).status, 0);
    let whole = u64::try_from(began.elapsed().as_micros()).unwrap();
    let mut before = ids(&stored(&user));
    let mut killed = 0;
    for n in 0..KILLS {
        let mut child = user
            .command(&["run", "--session", "last", "--json", &format!("turn {n}")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A fixed walk through the turn, in steps that meet no rhythm of it.
        thread::sleep(Duration::from_micros(n * 7_919 % KILLS * whole / KILLS));
        child.kill().unwrap();
        let mut said = String::new();
        let _ = child.stdout.take().unwrap().read_to_string(&mut said);
        killed += usize::from(child.wait().unwrap().code().is_none());
        // Looking at each session would take minutes: what was told is looked for in the end.
        before.extend(acknowledged(&said));
    }
    assert!(killed > 150, "{killed} of {KILLS} were killed in time");
    let lines = stored(&user);
    let after = ids(&lines);
    for id in &before {
        assert!(after.contains(id), "{id} was told to be stored and is gone");
    }
    let sequences: Vec<_> = lines
        .iter()
        .filter(|l| l["type"] == "message")
        .map(|l| l["sequence"].as_u64().unwrap())
        .collect();
    assert!(sequences.iter().copied().eq(1..=sequences.len() as u64));
    // The next turn works, and everything that was recorded composes as it did.
    let next = user.run(&["run", "--session", "last", "after all that"]);
    assert_eq!(next.status, 0, "{}", next.stderr);
    user.verify();
    let shown = user.run(&["session", "show", "last", "--json"]).json();
    assert!(
        shown["turns"]
            .as_array()
            .unwrap()
            .iter()
            .all(|turn| turn["status"] != "running")
    );
}

/// Runs a turn under strace with `inject`; `None` when there is no strace here.
fn traced(user: &User, inject: &str) -> Option<std::process::Output> {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return None;
    }
    let program = user.command(&["run", "--session", "last", "--json", "go on"]);
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync,fdatasync,pwrite64",
        "-e",
        inject,
    ]);
    strace.arg(program.get_program()).args(program.get_args());
    strace.current_dir(program.get_current_dir().unwrap());
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            strace.env(name, value);
        }
    }
    Some(strace.output().unwrap())
}

#[test]
fn d3_a_disk_that_does_not_sync_fails_the_turn_loudly_and_loses_nothing() {
    let server = ProviderServer::start(200, script).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.run(&["run", "begin"]).status, 0);
    let mut failed = 0;
    for n in 1..=12 {
        let Some(output) = traced(&user, &format!("inject=fsync,fdatasync:error=EIO:when={n}"))
        else {
            return;
        };
        let said = String::from_utf8(output.stdout).unwrap();
        let told = acknowledged(&said);
        if output.status.code() != Some(0) {
            failed += 1;
            assert!(
                said.contains("persistence_error") || said.contains("store_io"),
                "{n}: {said}"
            );
        }
        let after = ids(&stored(&user));
        assert!(told.iter().all(|id| after.contains(id)), "{n}");
        assert_eq!(
            user.run(&["run", "--session", "last", "again"]).status,
            0,
            "{n}"
        );
    }
    assert!(failed > 0);
    user.verify();
}

#[test]
fn c1_a_crash_at_each_write_leaves_a_session_that_goes_on() {
    let server = ProviderServer::start(200, script).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.run(&["run", "begin"]).status, 0);
    for n in (1..=60).step_by(3) {
        let Some(output) = traced(&user, &format!("inject=pwrite64:signal=KILL:when={n}")) else {
            return;
        };
        let told = acknowledged(&String::from_utf8_lossy(&output.stdout));
        let after = ids(&stored(&user));
        assert!(told.iter().all(|id| after.contains(id)), "{n}");
    }
    assert_eq!(user.run(&["run", "--session", "last", "again"]).status, 0);
    user.verify();
}

#[test]
fn d4_a_full_disk_is_an_error_that_says_so_and_the_session_goes_on_when_there_is_room() {
    let server = ProviderServer::start(4096, |_, _| Reply::text(&"word ".repeat(2_000))).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.run(&["run", "begin"]).status, 0);
    let store = user.work().join(".sectile");
    let before = ids(&stored(&user));
    // A limit on the size of files stands for a disk that is full.
    let mut told = Vec::new();
    for kilobytes in [100, 60, 40] {
        let size = fs::metadata(store.join("sectile.db")).unwrap().len() / 1024;
        let program = user.command(&["run", "--session", "last", "--json", "more"]);
        let mut shell = Command::new("bash");
        let limit = size.min(kilobytes);
        shell.arg("-c").arg(format!(
            "trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\""
        ));
        shell
            .arg(program.get_program())
            .args(program.get_args())
            .current_dir(user.work());
        for (name, value) in program.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        let output = shell.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_ne!(output.status.code(), Some(0), "{limit}: {said}");
        assert!(
            ["disk is full", "store_", "persistence_error"]
                .iter()
                .any(|word| said.contains(word)),
            "{limit}: {said}"
        );
        told.extend(acknowledged(&said));
    }
    let after = ids(&stored(&user));
    assert!(before.iter().chain(&told).all(|id| after.contains(id)));
    assert_eq!(
        user.run(&["run", "--session", "last", "room again"]).status,
        0
    );
    user.verify();
}
