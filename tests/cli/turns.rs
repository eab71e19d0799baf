//! Turns through the program: real HTTP to a server on loopback, in both
//! protocols, split anywhere and broken on demand.

use crate::{Ran, User};
use sectile_tests::provider::{Fault, Part, ProviderServer, Received, Reply};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

const PROTOCOLS: [&str; 2] = ["anthropic", "openai"];

impl User {
    /// A user whose provider is `server`.
    pub(crate) fn with_provider(server: &ProviderServer, protocol: &str) -> Self {
        Self::with_settings(server, protocol, "")
    }

    pub(crate) fn with_settings(server: &ProviderServer, protocol: &str, more: &str) -> Self {
        let user = Self::new();
        let config = user.home().join(".config/sectile");
        fs::create_dir_all(&config).unwrap();
        fs::write(user.home().join("key"), "test-key\n").unwrap();
        let base = match protocol {
            "anthropic" => server.url(),
            _ => format!("{}/v1", server.url()),
        };
        let key = user.home().join("key");
        fs::write(
            config.join("config.toml"),
            format!(
                "provider = \"{protocol}\"\n\n[providers.{protocol}]\nbase_url = \"{base}\"\nmodel = \"test-model\"\n\
                 context_window = 60000\nmax_output_tokens = 4000\nsecrets.api-key.file = {key:?}\n{more}"
            ),
        )
        .unwrap();
        user
    }

    /// Adds to the operator's configuration.
    pub(crate) fn configure(&self, more: &str) {
        let path = self.home().join(".config/sectile/config.toml");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + more).unwrap();
    }

    fn turn(&self, text: &str) -> Ran {
        self.run(&["run", text])
    }

    /// The turn in the session that is there.
    pub(crate) fn next(&self, text: &str) -> Ran {
        self.run(&["run", "--session", "last", text])
    }

    fn messages(&self) -> Vec<Value> {
        let shown = self.run(&["session", "show", "last", "--json", "--limit", "100000"]);
        shown.json()["messages"].as_array().unwrap().clone()
    }

    pub(crate) fn verify(&self) {
        let verified = self.run(&["session", "replay", "last", "--verify"]);
        assert_eq!(verified.status, 0, "{}{}", verified.stdout, verified.stderr);
    }
}

fn kinds(messages: &[Value]) -> Vec<String> {
    let kind = |m: &Value| {
        let (kind, role) = (&m["item"]["kind"], &m["item"]["message"]["role"]);
        match kind.as_str().unwrap() {
            "normal" => role.as_str().unwrap().to_owned(),
            other => other.to_owned(),
        }
    };
    messages.iter().map(kind).collect()
}

const PLAN: &str = r#"{"plan": [{"step": "look", "status": "in_progress"}]}"#;

fn plan_then_text(request: &Received, number: usize) -> Reply {
    assert!(request.body["tools"].is_array());
    match number % 2 {
        0 => Reply {
            parts: vec![
                Part::Text("Let me plan.".to_owned()),
                Part::Call {
                    id: "call_1".to_owned(),
                    name: "update_plan".to_owned(),
                    arguments: PLAN.to_owned(),
                },
            ],
            ..Reply::default()
        },
        _ => Reply::text("Done: naïve 漢字."),
    }
}

#[test]
fn sr_21_a_turn_with_a_tool_call_completes_in_both_protocols_however_the_stream_is_split() {
    for protocol in PROTOCOLS {
        for piece in [1, 7, 100_000] {
            let server = ProviderServer::start(piece, plan_then_text).unwrap();
            let user = User::with_provider(&server, protocol);
            user.write("AGENTS.md", "Be brief.");
            let ran = user.turn("What is this?");
            assert_eq!(
                ran.status, 0,
                "{protocol} {piece}: {}{}",
                ran.stdout, ran.stderr
            );
            assert!(ran.stdout.contains("Done: naïve 漢字."), "{}", ran.stdout);
            let messages = user.messages();
            let kinds = kinds(&messages);
            let spoken: Vec<_> = kinds.iter().filter(|kind| *kind != "world_state").collect();
            assert_eq!(
                spoken,
                ["user", "assistant", "tool", "assistant"],
                "{kinds:?}"
            );
            let second = &server.requests()[1];
            assert!(
                second.said().contains("The plan is updated.")
                    && second.said().contains("Be brief.")
            );
            user.verify();
        }
    }
}

#[test]
fn pv_7_an_answer_in_one_piece_is_read_too() {
    for protocol in PROTOCOLS {
        let server = ProviderServer::start(9, plan_then_text).unwrap();
        let user = User::with_settings(&server, protocol, "streaming = false\n");
        let ran = user.turn("What is this?");
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        assert_ne!(server.requests()[0].body["stream"], true);
        assert_eq!(
            user.messages().last().unwrap()["item"]["message"]["content"][0]["text"],
            "Done: naïve 漢字."
        );
    }
}

#[test]
fn ce_3_a_session_goes_on_and_its_requests_only_grow() {
    for protocol in PROTOCOLS {
        let server = ProviderServer::start(50, |_, n| Reply::text(&format!("answer {n}"))).unwrap();
        let user = User::with_provider(&server, protocol);
        assert_eq!(user.turn("first").status, 0);
        for text in ["second", "third"] {
            assert_eq!(user.next(text).status, 0);
        }
        let requests = server.requests();
        assert!(requests[2].said().contains("answer 0") && requests[2].said().contains("answer 1"));
        let diff = user
            .run(&["session", "diff", "last", "1", "2", "--json"])
            .json();
        assert_eq!(diff["report"]["cause"]["type"], "appended", "{diff}");
        user.verify();
    }
}

#[test]
fn ws_6_an_edit_between_two_model_calls_shows_once_with_its_notice_and_again_after_a_restart() {
    let dir = std::sync::Arc::new(std::sync::Mutex::new(std::path::PathBuf::new()));
    let edited = std::sync::Arc::clone(&dir);
    let server = ProviderServer::start(64, move |request, n| {
        if n == 0 {
            fs::write(edited.lock().unwrap().join("AGENTS.md"), "Second edition.").unwrap();
        }
        plan_then_text(request, n)
    })
    .unwrap();
    let user = User::with_provider(&server, "anthropic");
    user.write("AGENTS.md", "First edition.");
    *dir.lock().unwrap() = user.work();
    assert_eq!(user.turn("go").status, 0);
    let requests = server.requests();
    let count = |n: usize, text: &str| requests[n].said().matches(text).count();
    assert_eq!(
        (count(0, "First edition."), count(0, "Second edition.")),
        (1, 0)
    );
    assert_eq!(
        (count(1, "First edition."), count(1, "Second edition.")),
        (1, 1)
    );
    let notices = |said: &str| said.matches("AGENTS.md instructions replace").count();
    assert_eq!(
        (notices(&requests[0].said()), notices(&requests[1].said())),
        (0, 1),
        "{}",
        requests[1].said()
    );
    // A new process knows no baseline: what is still there is sent once more (WS-9).
    assert_eq!(user.next("on").status, 0);
    let requests = server.requests();
    assert_eq!(requests[2].said().matches("Second edition.").count(), 2);
    assert_eq!(notices(&requests[2].said()), 2);
    user.verify();
}

#[test]
fn ws_5_a_section_that_fails_ends_the_turn_with_its_code_and_no_model_is_asked() {
    let server = ProviderServer::start(64, |_, _| Reply::text("never")).unwrap();
    let user = User::with_provider(&server, "anthropic");
    user.write("AGENTS.md", vec![0xff, 0xfe, 0x00]);
    let ran = user.run(&["run", "go", "--json"]);
    assert_eq!(ran.status, 1);
    let last: Value = serde_json::from_str(
        ran.stdout
            .lines()
            .rfind(|l| l.contains("turn_finished"))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        (&last["outcome"], &last["code"]),
        (&"failed".into(), &"project_instruction_error".into())
    );
    assert!(server.requests().is_empty());
    user.write("AGENTS.md", "Good again.");
    assert_eq!(user.next("go").status, 0);
}

#[test]
fn pv_8_what_may_help_is_sent_again_as_the_error_says() {
    for (protocol, status, headers) in [
        ("anthropic", 529, vec![]),
        (
            "anthropic",
            429,
            vec![("retry-after".to_owned(), "1".to_owned())],
        ),
        ("openai", 500, vec![]),
        (
            "openai",
            429,
            vec![("retry-after-ms".to_owned(), "300".to_owned())],
        ),
        ("openai", 502, vec![]),
    ] {
        let server = ProviderServer::start(64, move |_, n| match n {
            0 => Reply::fault(Fault::Status(
                status,
                headers.clone(),
                "<html>Bad gateway</html>".to_owned(),
            )),
            _ => Reply::text("at last"),
        })
        .unwrap();
        let user = User::with_provider(&server, protocol);
        let ran = user.turn("go");
        assert_eq!(
            (ran.status, server.requests().len()),
            (0, 2),
            "{protocol} {status}: {}",
            ran.stderr
        );
        assert!(
            ran.stdout.contains("at last") && ran.stderr.contains("again in"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn pv_8_what_cannot_help_is_not_sent_again() {
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    for (status, body) in [(401, "{}"), (400, "{}"), (429, quota), (404, "")] {
        let server = ProviderServer::start(64, move |_, _| {
            Reply::fault(Fault::Status(status, vec![], body.to_owned()))
        })
        .unwrap();
        let user = User::with_provider(&server, "openai");
        let ran = user.run(&["run", "go", "--json"]);
        assert_eq!((ran.status, server.requests().len()), (1, 1), "{status}");
        assert!(
            ran.stdout.contains("\"code\":\"model_error\""),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn sr_23_a_stream_that_breaks_fails_the_turn_and_stores_nothing_of_it() {
    for protocol in PROTOCOLS {
        for fault in [
            Fault::CutAt(1000),
            Fault::NoEnd,
            Fault::Malformed,
            Fault::ErrorEvent,
            Fault::StallAt(1000),
        ] {
            let name = format!("{protocol} {fault:?}");
            let server = ProviderServer::start(64, move |_, n| match n {
                0 => Reply {
                    parts: vec![Part::Text("partial ".repeat(60))],
                    ..Reply::fault(fault.clone())
                },
                _ => Reply::text("whole"),
            })
            .unwrap();
            let user = User::with_settings(&server, protocol, "idle_timeout = 1\n");
            let ran = user.run(&["run", "go", "--json"]);
            assert_eq!(
                (ran.status, server.requests().len()),
                (1, 1),
                "{name}: {}",
                ran.stdout
            );
            assert!(
                ran.stdout.contains("draft_dropped") && ran.stdout.contains("\"code\":\"model_"),
                "{name}: {}",
                ran.stdout
            );
            assert!(
                !kinds(&user.messages()).contains(&"assistant".to_owned()),
                "{name}"
            );
            let next = user.next("again");
            assert_eq!(next.status, 0, "{name}: {}", next.stderr);
            assert!(next.stdout.contains("whole"));
            user.verify();
        }
    }
}

#[test]
fn c2_endless_comments_are_no_answer() {
    let server = ProviderServer::start(64, |_, _| Reply::fault(Fault::KeepAlive)).unwrap();
    let user = User::with_settings(&server, "openai", "total_timeout = 1\n");
    let started = Instant::now();
    let ran = user.run(&["run", "go", "--json"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("was not complete after 1 s"),
        "{}",
        ran.stdout
    );
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn sr_24_an_overflow_is_compacted_away_and_sent_once_more() {
    for protocol in PROTOCOLS {
        let server = ProviderServer::start(64, move |request, n| {
            if request
                .said()
                .contains("conversation_summary format_version")
                && !request.said().contains("Earlier messages were replaced")
            {
                return Reply::text(&summary("We spoke of whales."));
            }
            match n {
                0 | 1 => Reply::text(&format!("Whales are large. {}", "Very large. ".repeat(400))),
                2 => Reply::overflow(request),
                _ => Reply::text("After the summary."),
            }
        })
        .unwrap();
        let user = User::with_provider(&server, protocol);
        assert_eq!(user.turn("Tell me of whales.").status, 0);
        assert_eq!(user.next("Tell me more.").status, 0);
        let ran = user.next("And now?");
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stdout.contains("After the summary.") && ran.stderr.contains("compacted:"),
            "{}",
            ran.stderr
        );
        let last = server.requests().pop().unwrap();
        assert!(last.said().contains("We spoke of whales.") && last.said().contains("And now?"));
        assert!(!last.said().contains("Very large."));
        let shown = user.run(&["session", "show", "last", "--json"]).json();
        assert_eq!(shown["checkpoints"][0]["about"]["trigger"], "overflow");
        // Nothing is lost: the originals are still there, and can be seen again.
        assert!(shown.to_string().contains("Very large."));
        assert_eq!(user.run(&["session", "rewind", "last", "0"]).status, 0);
        assert_eq!(user.next("again").status, 0);
        assert!(
            server
                .requests()
                .pop()
                .unwrap()
                .said()
                .contains("Very large.")
        );
        user.verify();
    }
}

/// A summary that passes every check.
pub(crate) fn summary(fact: &str) -> String {
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
        .map(|h| {
            format!(
                "## {h}\n{fact} {}\n",
                "Nothing else was said of it. ".repeat(4)
            )
        })
        .collect();
    format!("<conversation_summary format_version=\"1\">\n{body}</conversation_summary>")
}

#[test]
fn cp_6_at_the_line_the_session_compacts_by_itself() {
    let server = ProviderServer::start(4096, |request, _| {
        if request.body["tools"].is_null() {
            return Reply::text(&summary("A long story was told."));
        }
        Reply::text(&"word ".repeat(12_000))
    })
    .unwrap();
    let user = User::with_provider(&server, "anthropic");
    assert_eq!(user.turn("Tell a long story.").status, 0);
    for _ in 0..6 {
        let ran = user.next("Go on.");
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    }
    let shown = user.run(&["session", "show", "last", "--json"]).json();
    let checkpoints = shown["checkpoints"].as_array().unwrap();
    assert!(!checkpoints.is_empty() && checkpoints[0]["about"]["trigger"] == "threshold");
    let verified = user.run(&["session", "replay", "last", "--verify"]);
    assert_eq!(verified.status, 0, "{}", verified.stdout);
    let diff = user.run(&["session", "diff", "last"]);
    assert_eq!(diff.status, 0, "{}{}", diff.stdout, diff.stderr);
}

#[test]
fn sr_25_the_same_call_three_times_in_a_row_is_a_loop() {
    let server = ProviderServer::start(64, |_, n| {
        Reply::call(&format!("c{n}"), "update_plan", PLAN)
    })
    .unwrap();
    let user = User::with_provider(&server, "openai");
    let ran = user.run(&["run", "go", "--json"]);
    assert_eq!((ran.status, server.requests().len()), (1, 3));
    assert!(
        ran.stdout.contains("\"code\":\"doom_loop\""),
        "{}",
        ran.stdout
    );
    let messages = user.messages();
    assert_eq!(
        messages.last().unwrap()["item"]["message"]["content"][0]["status"],
        "error"
    );
    assert_eq!(user.next("stop that").status, 1, "the script goes on");
}

#[test]
fn sr_25_a_turn_has_so_many_model_calls_and_no_more() {
    let server = ProviderServer::start(64, |_, n| {
        let plan = format!(r#"{{"plan": [{{"step": "{n}", "status": "pending"}}]}}"#);
        Reply::call("c", "update_plan", &plan)
    })
    .unwrap();
    let user = User::with_provider(&server, "anthropic");
    let ran = user.run(&["run", "go", "--json", "--max-model-calls", "4"]);
    assert_eq!((ran.status, server.requests().len()), (1, 4));
    assert!(ran.stdout.contains("\"code\":\"max_model_calls\""));
    user.verify();
}

#[test]
fn c3_calls_that_cannot_run_have_results_that_say_why() {
    let server = ProviderServer::start(64, |_, n| match n {
        0 => Reply::call("a", "no_such_tool", "{}"),
        1 => Reply::call("b", "update_plan", r#"{"plan": [{"step"#),
        2 => Reply::call("c", "update_plan", r#"{"plan": "x"}"#),
        3 => Reply {
            is_cut: true,
            ..Reply::call("d", "update_plan", PLAN)
        },
        _ => Reply::text("enough"),
    })
    .unwrap();
    let user = User::with_provider(&server, "openai");
    let ran = user.turn("go");
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let requests = server.requests();
    for (n, said) in [
        (1, "tool_not_found"),
        (2, "not run"),
        (3, "invalid_arguments"),
        (4, "not run"),
    ] {
        assert!(
            requests[n].said().contains(said),
            "{n}: {}",
            requests[n].said()
        );
    }
}

#[test]
fn sr_20_a_request_that_is_made_twice_has_one_turn() {
    let server = ProviderServer::start(64, |_, n| Reply::text(&format!("answer {n}"))).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.run(&["run", "go", "--request-id", "r1"]).status, 0);
    let again = user.run(&["run", "go", "--session", "last", "--request-id", "r1"]);
    assert_eq!(
        (again.status, server.requests().len()),
        (0, 1),
        "{}",
        again.stderr
    );
    assert_eq!(
        user.run(&["run", " \n ", "--session", "last", "--json"])
            .error()
            .1,
        "empty_input"
    );
}

#[test]
fn sr_20_a_chosen_skill_is_kept_as_it_was_when_the_turn_began() {
    let server = ProviderServer::start(64, |_, _| Reply::text("ok")).unwrap();
    let user = User::with_provider(&server, "anthropic");
    let skill = user.home().join(".agents/skills/pdf");
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\ndescription: d\n---\nFirst way.",
    )
    .unwrap();
    assert_eq!(user.run(&["run", "go", "--skill", "pdf"]).status, 0);
    fs::write(
        skill.join("SKILL.md"),
        "---\ndescription: d\n---\nOther way.",
    )
    .unwrap();
    assert_eq!(user.next("on").status, 0);
    let said = server.requests()[1].said();
    assert!(
        said.contains("First way.") && !said.contains("Other way."),
        "{said}"
    );
    assert_eq!(kinds(&user.messages())[0], "skill_instruction");
    let gone = user.run(&[
        "run",
        "go",
        "--json",
        "--session",
        "last",
        "--skill",
        "none",
    ]);
    assert_eq!(gone.error().1, "skill_unavailable");
    fs::write(
        skill.join("SKILL.md"),
        format!("---\ndescription: d\n---\n{}", "long ".repeat(8_000)),
    )
    .unwrap();
    let long = user.run(&["run", "go", "--json", "--session", "last", "--skill", "pdf"]);
    assert_eq!(long.error().1, "skill_too_large");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn c4_a_signal_cancels_the_turn_and_leaves_the_session_whole() {
    let server = ProviderServer::start(16, |_, n| Reply {
        pause: if n == 0 { 200 } else { 0 },
        ..Reply::text(&"slow ".repeat(100))
    })
    .unwrap();
    let user = User::with_provider(&server, "anthropic");
    let child = user
        .command(&["run", "go"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while server.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let started = Instant::now();
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(130));
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    let shown = user.run(&["session", "show", "last", "--json"]).json();
    assert_eq!(shown["turns"][0]["status"], "cancelled");
    assert_eq!(user.next("again").status, 0);
}

#[test]
fn d6_a_session_has_one_writer_and_the_other_is_told_at_once() {
    let server = ProviderServer::start(16, |_, n| Reply {
        pause: if n == 1 { 100 } else { 0 },
        ..Reply::text(&"slow ".repeat(20))
    })
    .unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.turn("go").status, 0);
    let mut slow = user
        .command(&["run", "--session", "last", "slow"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while server.requests().len() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let other = user.run(&["run", "--session", "last", "--json", "me too"]);
    assert_eq!(other.error().1, "session_busy");
    // Readers never wait, and another session of the workspace is free.
    assert_eq!(user.run(&["session", "list", "--json"]).status, 0);
    assert_eq!(user.turn("another one").status, 0);
    assert_eq!(slow.wait().unwrap().code(), Some(0));
}

#[test]
fn x2_no_secret_is_ever_written_or_printed() {
    let server = ProviderServer::start(64, |_, n| match n {
        0 => Reply::fault(Fault::Status(
            400,
            vec![],
            r#"{"error":{"message":"bad key test-key here"}}"#.to_owned(),
        )),
        _ => Reply::text("ok"),
    })
    .unwrap();
    let user = User::with_provider(&server, "openai");
    let recording = user.work().join("traffic.jsonl");
    let failed = user.run(&[
        "run",
        "go",
        "--json",
        "--record",
        recording.to_str().unwrap(),
    ]);
    assert_eq!(failed.status, 1);
    let second = user.work().join("second.jsonl");
    let fine = user.run(&["run", "go", "--record", second.to_str().unwrap()]);
    assert_eq!(fine.status, 0, "{}", fine.stderr);
    for said in [&failed.stdout, &failed.stderr, &fine.stdout, &fine.stderr] {
        assert!(!said.contains("test-key"), "{said}");
    }
    assert!(
        failed.stdout.contains("{secret:api-key}"),
        "{}",
        failed.stdout
    );
    let mut files = vec![user.work()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let bytes = fs::read(&path).unwrap();
            assert!(
                !bytes.windows(8).any(|w| w == b"test-key"),
                "{}",
                path.display()
            );
        }
    }
    // What was recorded answers without the network.
    drop(server);
    let replayed = user.run(&["run", "go", "--replay", second.to_str().unwrap()]);
    assert_eq!(replayed.status, 0, "{}", replayed.stderr);
    assert!(replayed.stdout.contains("ok"));
}

#[test]
fn ce_22_inspect_shows_the_next_request_of_a_session() {
    let server = ProviderServer::start(64, |_, _| Reply::text("ok")).unwrap();
    let user = User::with_provider(&server, "anthropic");
    user.write("AGENTS.md", "Be brief.");
    assert_eq!(user.turn("go").status, 0);
    let inspected = user
        .run(&[
            "inspect",
            "--session",
            "last",
            "--message",
            "more",
            "--json",
        ])
        .json();
    assert_eq!(user.next("more").status, 0);
    let verified = user.run(&["session", "replay", "last", "--json"]);
    let last: Value = serde_json::from_str(verified.stdout.lines().last().unwrap()).unwrap();
    let shown = serde_json::to_string(&inspected["prepared"]["request"]).unwrap();
    assert_eq!(
        shown.len() as u64,
        last["bytes"].as_u64().unwrap(),
        "{shown}"
    );
}

#[test]
fn a_session_can_be_exported_cleared_and_brought_back() {
    let server = ProviderServer::start(64, |_, n| Reply::text(&format!("answer {n}"))).unwrap();
    let user = User::with_provider(&server, "openai");
    assert_eq!(user.turn("first").status, 0);
    let exported = user.run(&["session", "export", "last"]);
    user.write("session.jsonl", &exported.stdout);
    assert_eq!(user.run(&["session", "clear", "last"]).status, 0);
    assert_eq!(user.next("second").status, 0);
    assert!(!server.requests()[1].said().contains("answer 0"));
    assert_eq!(
        user.run(&["session", "import", "session.jsonl", "--id", "copy"])
            .status,
        0
    );
    assert_eq!(user.run(&["run", "--session", "copy", "third"]).status, 0);
    assert!(server.requests()[2].said().contains("answer 0"));
    let again = user.run(&[
        "session",
        "import",
        "session.jsonl",
        "--id",
        "copy",
        "--json",
    ]);
    assert_eq!(again.error().1, "session_exists");
    let unknown = user.run(&["session", "show", "nothing", "--json"]);
    assert_eq!(unknown.error().1, "unknown_session");
    user.verify();
}

#[test]
fn d11_a_workspace_that_cannot_be_written_is_an_error_that_says_so() {
    let server = ProviderServer::start(64, |_, _| Reply::text("ok")).unwrap();
    let user = User::with_provider(&server, "openai");
    user.write(".sectile", "a file where a directory should be");
    let ran = user.run(&["run", "go", "--json"]);
    assert_eq!((ran.status, ran.error().1.as_str()), (1, "store_foreign"));
    assert!(server.requests().is_empty());
}

#[test]
fn no_provider_no_model_and_no_key_are_errors_that_say_what_to_do() {
    let user = User::new();
    let error = |args: &[&str]| user.run(args).error();
    assert_eq!(error(&["run", "go", "--json"]).1, "no_provider");
    assert_eq!(
        error(&["run", "go", "--json", "--provider", "nobody"]).1,
        "unknown_provider"
    );
    assert_eq!(
        error(&["run", "go", "--json", "--provider", "ollama"]).1,
        "no_model"
    );
    let mut command = user.command(&[
        "run",
        "go",
        "--json",
        "--provider",
        "anthropic",
        "--model",
        "m",
    ]);
    let output = command.env_remove("ANTHROPIC_API_KEY").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("ANTHROPIC_API_KEY"), "{said}");
}
