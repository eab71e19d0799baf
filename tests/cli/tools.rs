//! Tools through the program: a model that reads and edits, results that are
//! too long, plugins that break their word.

use crate::{Ran, User};
use sectile_tests::TOOL_NAMES;
use sectile_tests::provider::{ProviderServer, Received, Reply};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A server whose model makes `calls`, one in each answer, and then says `done`.
fn model(calls: Vec<(&'static str, Value)>) -> ProviderServer {
    let script = move |_: &Received, number: usize| match calls.get(number) {
        Some((name, input)) => Reply::call(&format!("call_{number}"), name, &input.to_string()),
        None => Reply::text("done"),
    };
    ProviderServer::start(64, script).unwrap()
}

fn user(server: &ProviderServer) -> User {
    User::with_provider(server, "anthropic")
}

pub(crate) fn allow_editing(user: &User) {
    let ran = user.run(&["plugin", "approve", "sectile/edit", "--yes"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

/// What the tools of the last session answered: status and text.
pub(crate) fn results(user: &User) -> Vec<(String, String)> {
    let shown = user.run(&["session", "show", "last", "--json", "--limit", "1000"]);
    let messages = shown.json()["messages"].clone();
    let tool = |m: &&Value| m["item"]["message"]["role"] == "tool";
    let result = |m: &Value| {
        let block = &m["item"]["message"]["content"][0];
        let text = block["output"][0]["text"].as_str().unwrap().to_owned();
        (block["status"].as_str().unwrap().to_owned(), text)
    };
    let messages = messages.as_array().unwrap().iter().filter(tool);
    messages.map(result).collect()
}

fn completed(ran: &Ran) {
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn tl_2_tl_3_a_model_reads_a_file_and_edits_it() {
    let server = model(vec![
        ("read", json!({"path": "src/run.sh"})),
        (
            "edit",
            json!({"path": "src/run.sh", "old": "echo one", "new": "echo two"}),
        ),
        (
            "write",
            json!({"path": "docs/new/notes.md", "content": "# Notes\n"}),
        ),
        (
            "edit",
            json!({"path": "docs/new/notes.md", "old": "Notes", "new": "News"}),
        ),
    ]);
    let user = user(&server);
    user.write("src/run.sh", "#!/bin/sh\necho one\n");
    let script = user.work().join("src/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    allow_editing(&user);
    completed(&user.run(&["run", "Change it."]));
    let results = results(&user);
    assert_eq!(
        results[0].1,
        "1\t#!/bin/sh\n2\techo one\n[lines 1 to 2 of 2]"
    );
    assert_eq!(results[1].1, "replaced 1 occurrence in src/run.sh");
    assert_eq!(results[2].1, "created docs/new/notes.md: 1 lines, 8 bytes");
    assert_eq!(results[3].1, "replaced 1 occurrence in docs/new/notes.md");
    assert_eq!(
        fs::read_to_string(&script).unwrap(),
        "#!/bin/sh\necho two\n"
    );
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "a script stays executable");
    let left: Vec<_> = fs::read_dir(user.work().join("src")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing unfinished is left behind");
    user.verify();
}

#[test]
fn tl_3_a_file_that_somebody_else_changed_meanwhile_is_left_alone() {
    let work = std::sync::Arc::new(std::sync::OnceLock::<std::path::PathBuf>::new());
    let theirs = std::sync::Arc::clone(&work);
    let server = ProviderServer::start(64, move |_, number| match number {
        0 => Reply::call("call_0", "read", r#"{"path": "a.txt"}"#),
        1 => {
            // Another program, between the reading and the change.
            fs::write(theirs.get().unwrap().join("a.txt"), "one, theirs\n").unwrap();
            Reply::call(
                "call_1",
                "edit",
                r#"{"path": "a.txt", "old": "one", "new": "two"}"#,
            )
        }
        _ => Reply::text("done"),
    })
    .unwrap();
    let user = user(&server);
    work.set(user.work()).unwrap();
    user.write("a.txt", "one\n");
    allow_editing(&user);
    completed(&user.run(&["run", "Change it."]));
    let (status, text) = &results(&user)[1];
    assert_eq!(status, "error");
    assert!(
        text.contains("has changed since it was read; read it again"),
        "{text}"
    );
    let kept = fs::read_to_string(user.work().join("a.txt")).unwrap();
    assert_eq!(kept, "one, theirs\n");
}

#[test]
fn tl_3_nothing_is_changed_that_was_not_read() {
    let server = model(vec![
        ("edit", json!({"path": "a.txt", "old": "one", "new": "two"})),
        ("write", json!({"path": "a.txt", "content": "two"})),
        (
            "edit",
            json!({"path": "none.txt", "old": "one", "new": "two"}),
        ),
    ]);
    let user = user(&server);
    user.write("a.txt", "one\n");
    allow_editing(&user);
    completed(&user.run(&["run", "Change it."]));
    let results = results(&user);
    assert!(
        results[0].1.contains("was not read in this session"),
        "{results:?}"
    );
    assert!(
        results[1].1.contains("was not read in this session"),
        "{results:?}"
    );
    assert!(
        results[2].1.contains("use write for a new file"),
        "{results:?}"
    );
    assert_eq!(
        fs::read_to_string(user.work().join("a.txt")).unwrap(),
        "one\n"
    );
}

#[test]
fn pl_18_what_changes_files_is_not_there_until_the_operator_allows_it() {
    let server = model(vec![("write", json!({"path": "a.txt", "content": "x"}))]);
    let user = user(&server);
    completed(&user.run(&["run", "Write."]));
    assert!(results(&user)[0].1.starts_with("tool_not_found"));
    assert!(!user.work().join("a.txt").exists());
    let names = |user: &User| -> Vec<String> {
        let tools = user.run(&["tool", "list", "--json"]).json();
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&user),
        [
            "read",
            "list",
            "grep",
            "glob",
            "update_plan",
            "conversation_history"
        ]
    );
    allow_editing(&user);
    assert_eq!(names(&user)[2..4], ["write", "edit"]);
}

#[test]
fn ws_50_the_policy_says_whether_files_can_be_changed() {
    let user = User::new();
    let policy = |user: &User| {
        user.run(&["section", "render", "runtime/sandbox-policy"])
            .stdout
    };
    assert!(policy(&user).contains("File tools may write: nothing"));
    allow_editing(&user);
    assert!(policy(&user).contains("File tools may write: files inside the workspace"));
}

#[test]
fn tl_4_a_model_finds_text_and_files_and_no_secrets() {
    let server = model(vec![
        ("grep", json!({"pattern": "needle"})),
        ("glob", json!({"pattern": "*.rs"})),
        ("grep", json!({"pattern": "needle", "path": "../home"})),
        ("grep", json!({"pattern": "needle", "path": ".env"})),
    ]);
    let user = user(&server);
    user.write(".env", "needle");
    user.write(".gitignore", "target/\n");
    user.write("target/a.rs", "needle");
    user.write("src/old.rs", "a needle\n");
    user.write("src/new.rs", "hay\n");
    let at = |age| std::time::SystemTime::now() - std::time::Duration::from_secs(age);
    for (name, age) in [("src/old.rs", 100), ("src/new.rs", 10)] {
        let file = fs::File::open(user.work().join(name)).unwrap();
        file.set_modified(at(age)).unwrap();
    }
    completed(&user.run(&["run", "Find it."]));
    let results = results(&user);
    let text = &results[0].1;
    assert!(
        text.starts_with("src/old.rs\n1:a needle\n[1 matching line in 1 of "),
        "{text}"
    );
    assert_eq!(
        results[1].1,
        "src/new.rs\nsrc/old.rs\n[2 files, newest first]"
    );
    assert!(results[2..].iter().all(|(status, _)| status == "denied"));
}

#[test]
fn a_to_do_list_outlives_the_process_until_it_is_done() {
    let list = json!({"todos": [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress"}
    ]});
    let done = json!({"todos": [{"content": "write", "status": "completed"}]});
    let calls = [list, json!({}), done, json!({"todos": null})];
    let server = ProviderServer::start(64, move |_, number| match number % 2 {
        0 => Reply::call(
            &format!("call_{number}"),
            "todo_write",
            &calls[number / 2].to_string(),
        ),
        _ => Reply::text("done"),
    })
    .unwrap();
    let user = user(&server);
    completed(&user.run(&["plugin", "approve", "sectile/todo", "--yes"]));
    completed(&user.run(&["run", "Do it."]));
    for _ in 0..3 {
        completed(&user.run(&["run", "Go on.", "--session", "last"]));
    }
    let shown: Vec<_> = results(&user).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        shown,
        [
            "[x] read\n[>] write\n1 of 2 completed",
            "[x] read\n[>] write\n1 of 2 completed",
            "[x] write\n1 of 1 completed",
            "The list is empty."
        ]
    );
}

#[test]
fn tl_5_secrets_and_what_lies_outside_are_refused_in_one_way() {
    let server = model(vec![
        ("read", json!({"path": ".env"})),
        ("read", json!({"path": "keys/missing.pem"})),
        ("read", json!({"path": "../home/key"})),
        ("read", json!({"path": "/etc/passwd"})),
        ("read", json!({"path": "out"})),
        (
            "write",
            json!({"path": ".git/hooks/pre-commit", "content": "x"}),
        ),
        ("write", json!({"path": "../x", "content": "x"})),
        ("write", json!({"path": "out/x", "content": "x"})),
    ]);
    let user = user(&server);
    user.write(".env", "TOKEN=canary");
    user.write("keys/README", "Nothing secret.");
    std::os::unix::fs::symlink("/etc", user.work().join("out")).unwrap();
    allow_editing(&user);
    completed(&user.run(&["run", "Look."]));
    let results = results(&user);
    for (status, text) in &results {
        assert!(status == "denied" || status == "error", "{results:?}");
        assert!(
            !text.contains("canary") && !text.contains("root:"),
            "{text}"
        );
    }
    for n in [0, 1, 2, 3, 5, 6] {
        assert_eq!(results[n].0, "denied", "{n}: {results:?}");
        assert!(results[n].1.contains("grant"), "{n}: {results:?}");
    }
    assert!(!user.work().join(".git").join("hooks/pre-commit").exists());
    assert!(!std::path::Path::new("/etc/x").exists());
}

#[test]
fn tl_2_what_cannot_be_read_says_what_to_do_next() {
    let user = User::new();
    user.write("data.bin", [0, 1, 2]);
    user.write("latin.txt", [b'a', 0xff]);
    user.write("short.txt", "one\n");
    for (input, expected) in [
        (json!({"path": "data.bin"}), "binary"),
        (json!({"path": "latin.txt"}), "not UTF-8"),
        (json!({"path": "."}), "use list"),
        (json!({"path": "gone.txt"}), "use list"),
        (json!({"path": "short.txt", "offset": 9}), "past the end"),
        (
            json!({"path": "short.txt", "offset": 0}),
            "invalid_arguments: at `/offset`",
        ),
        (json!({"path": 1}), "invalid_arguments: at `/path`"),
        (json!({"path": "short.txt", "more": 1}), "invalid_arguments"),
    ] {
        let ran = user.run(&["tool", "call", "read", &input.to_string(), "--json"]);
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{input}: {text}");
        assert!(ran.status == 1 && answer["is_error"] == true);
    }
}

#[test]
fn cl_4_a_call_outside_a_session_says_what_it_used() {
    let user = User::new();
    user.write("a.txt", "one\n");
    let called = user
        .run(&["tool", "call", "read", r#"{"path": "a.txt"}"#, "--json"])
        .json();
    assert_eq!(called["tool"], "read");
    assert_eq!(called["structured"], Value::Null);
    assert_eq!(
        called["capabilities_used"],
        json!([{"path": "/workspace/a.txt", "access": "read"}])
    );
    let unknown = user.run(&["tool", "call", "nothing", "--json"]).error();
    assert_eq!(unknown.1, "unknown_tool");
}

/// Proposes the hostile tools as `acme/tools`.
pub(crate) fn propose(user: &User, names: &[&str]) {
    let limits = "[limits]\ntime = \"300ms\"\n";
    let plugin = sectile_tests::tool_plugin("acme/tools", names, limits).unwrap();
    user.write("tools.wasm", plugin);
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"acme/tools\"\npath = \"tools.wasm\"\n",
    );
}

#[test]
fn sr_22_whatever_a_tool_does_its_call_has_one_result_and_the_turn_goes_on() {
    let server = model(vec![
        ("tools__echo", json!({"text": "hello"})),
        ("tools__spin", json!({})),
        ("tools__trap", json!({})),
        ("tools__lie", json!({})),
        ("tools__print", json!({})),
        ("tools__count", json!({})),
        ("tools__count", json!({})),
        ("tools__decline", json!({})),
        ("tools__echo", json!({"text": 1})),
        ("echo", json!({"text": "bare"})),
        ("read", json!({"path": "a.txt"})),
        ("tools__peek", json!({"text": "/workspace/a.txt"})),
    ]);
    let user = user(&server);
    user.write("a.txt", "one\n");
    propose(&user, &TOOL_NAMES);
    let approved = user.run(&["plugin", "approve", "acme/tools", "--yes"]);
    assert!(
        approved.stderr.contains("Never ends."),
        "{}",
        approved.stderr
    );
    completed(&user.run(&["run", "--max-model-calls", "20", "Go."]));
    let results = results(&user);
    let says = |n: usize, status: &str, text: &str| {
        let (found, said) = &results[n];
        assert!(
            found == status && said.contains(text),
            "{n}: {found} {said}"
        );
    };
    says(0, "success", "hello");
    says(
        1,
        "error",
        "limit_exceeded: the plugin exceeded its time limit of 300 ms",
    );
    says(2, "error", "trap: ");
    says(3, "error", "invalid_output: ");
    says(4, "success", "printed");
    says(5, "success", "1");
    says(6, "success", "2");
    says(7, "denied", "no\\n\\u{1b}[2Jgrant");
    says(8, "error", "invalid_arguments: at `/text`");
    says(9, "error", "tool_not_found");
    says(10, "success", "one");
    // What first-party tools saw is none of a third party's business.
    says(11, "success", "false");
    assert_eq!(results.len(), 12);
}

#[test]
fn tl_1_a_long_result_is_cut_and_its_full_text_can_be_read() {
    let server = ProviderServer::start(4096, |request, number| match number {
        0 => Reply::call("call_0", "tools__big", "{}"),
        1 => {
            let said = request.said();
            let name = said
                .split("the full text is in ")
                .nth(1)
                .expect("a reference");
            let name = name.split(']').next().unwrap();
            Reply::call(
                "call_1",
                "read",
                &json!({"path": name, "offset": 8_999}).to_string(),
            )
        }
        _ => Reply::text("done"),
    })
    .unwrap();
    let user = user(&server);
    propose(&user, &TOOL_NAMES);
    completed(&user.run(&["plugin", "approve", "acme/tools", "--yes"]));
    completed(&user.run(&["run", "Go."]));
    let results = results(&user);
    assert!(results[0].1.len() < 33_000, "{}", results[0].1.len());
    assert!(
        results[1]
            .1
            .starts_with("8999\ta line of the result\n9000\t"),
        "{}",
        results[1].1
    );
}

#[test]
fn s9_s10_definitions_that_are_not_those_approved_are_not_offered() {
    let user = User::new();
    propose(&user, &TOOL_NAMES[..9]);
    let refused = user
        .run(&["plugin", "approve", "acme/tools", "--yes", "--json"])
        .error();
    assert_eq!(refused.1, "undeclared_tools");
    propose(&user, &TOOL_NAMES);
    completed(&user.run(&["plugin", "approve", "acme/tools", "--yes"]));
    let lock = fs::read_to_string(user.work().join("sectile.lock")).unwrap();
    assert!(lock.contains("tools = \"sha256:"), "{lock}");
    let list = |user: &User| user.run(&["tool", "list"]);
    assert!(list(&user).stdout.contains("tools__echo"));
}
