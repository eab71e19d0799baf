//! The World State of a session, on real files and through real components:
//! the acceptance list of the rules.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use sectile_prompt::SampleId;
use sectile_registry::Dirs;
use sectile_sandbox::Compiler;
use sectile_session::{Composition, Host, HostOptions, InMemoryConversation, SessionError};
use std::fs;
use std::path::PathBuf;

/// A workspace, and the one session in it.
struct Session {
    dir: tempfile::TempDir,
    host: Host,
    conversation: InMemoryConversation,
    calls: u32,
}

impl Session {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        let shared = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let host = Host::open(HostOptions {
            workspace: Some(work),
            profile: None,
            compiler: Compiler::InProcess,
            dirs: Dirs {
                home: dir.path().join("home"),
                config: dir.path().join("config"),
                data: shared.join("session-data"),
                cache: shared.join("session-cache"),
            },
            tools: Vec::new(),
        });
        Self {
            host: host.unwrap(),
            dir,
            conversation: InMemoryConversation::default(),
            calls: 0,
        }
    }

    fn agents(&self) -> PathBuf {
        self.dir.path().join("work/AGENTS.md")
    }

    fn compose(&mut self) -> Result<Composition, SessionError> {
        self.calls += 1;
        let id = SampleId {
            turn: "1".into(),
            model_call: self.calls,
            sample: 1,
        };
        self.host.compose(&mut self.conversation, None, &id)
    }

    /// The texts that the next model call adds to the conversation.
    fn sent(&mut self) -> Vec<String> {
        let before = self.conversation.conversation().items.len();
        self.compose().unwrap();
        let items = &self.conversation.conversation().items[before..];
        items
            .iter()
            .map(|item| item.message.content[0].text().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn the_first_sample_sends_what_is_there_and_an_unchanged_world_sends_nothing() {
    let mut session = Session::new();
    fs::write(session.agents(), "rules").unwrap();
    let first = session.sent();
    let begins: Vec<_> = first
        .iter()
        .map(|text| text.split(['>', ' ']).next().unwrap())
        .collect();
    assert_eq!(
        begins,
        [
            "<user_project_context",
            "<project_instructions",
            "<sandbox_policy"
        ]
    );
    assert!(session.sent().is_empty());
}

#[test]
fn an_edit_between_two_model_calls_is_sent_with_its_notice_and_only_once() {
    let mut session = Session::new();
    fs::write(session.agents(), "one").unwrap();
    session.sent();
    fs::write(session.agents(), "two").unwrap();
    let sent = session.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    let (notice, body) = sent[0].split_once("\n\n").unwrap();
    assert!(
        notice.contains("replace all AGENTS.md instructions given earlier"),
        "{notice}"
    );
    assert_eq!(body, "<project_instructions>\ntwo\n</project_instructions>");
    assert!(session.sent().is_empty());
}

#[test]
fn deleting_the_file_is_said_once_and_its_return_as_a_replacement() {
    let mut session = Session::new();
    fs::write(session.agents(), "one").unwrap();
    session.sent();
    fs::remove_file(session.agents()).unwrap();
    let sent = session.sent();
    // The layout lost an entry too.
    assert_eq!(sent.len(), 2);
    assert_eq!(
        sent[1],
        "The AGENTS.md instructions given earlier no longer apply."
    );
    assert!(session.sent().is_empty());
    fs::write(session.agents(), "one").unwrap();
    assert!(session.sent()[1].contains("replace all AGENTS.md"));
}

#[test]
fn ws_9_after_a_restart_what_is_there_is_sent_once_more_with_its_notice() {
    let mut session = Session::new();
    fs::write(session.agents(), "one").unwrap();
    session.sent();
    session.conversation.restart();
    let sent = session.sent();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|text| text.contains("\n\n<")), "{sent:?}");
    assert!(session.sent().is_empty());
}

#[test]
fn ws_3_ws_5_a_failing_section_sends_nothing_and_forgets_nothing() {
    let mut session = Session::new();
    fs::write(session.agents(), "one").unwrap();
    session.sent();
    let before = session.conversation.conversation().clone();
    fs::write(session.agents(), b"\xff").unwrap();
    let error = session.compose().unwrap_err();
    assert_eq!(error.code(), "project_instruction_error");
    assert_eq!(session.conversation.conversation(), &before);
    fs::write(session.agents(), "one").unwrap();
    assert!(session.sent().is_empty());
}

#[test]
fn ws_7_a_user_who_types_a_marker_changes_nothing() {
    let mut session = Session::new();
    fs::write(session.agents(), "one").unwrap();
    session
        .conversation
        .ask("<project_instructions>\none\n</project_instructions>");
    assert!(
        session
            .sent()
            .iter()
            .any(|text| text == "<project_instructions>\none\n</project_instructions>")
    );
}

#[test]
fn ce_3_a_grown_conversation_keeps_its_beginning_byte_for_byte() {
    let mut session = Session::new();
    let first = session.compose().unwrap().call.request;
    fs::write(session.agents(), "new").unwrap();
    session.conversation.ask("go on");
    let second = session.compose().unwrap().call.request;
    assert!(second.messages.len() > first.messages.len());
    assert_eq!(second.messages[..first.messages.len()], first.messages[..]);
    assert_eq!(second.system, first.system);
}

#[test]
fn ws_10a_what_no_longer_holds_is_measured_and_a_noisy_section_is_named() {
    let mut session = Session::new();
    for n in 0..23 {
        fs::write(session.agents(), n.to_string()).unwrap();
        session.compose().unwrap();
    }
    let composed = session.compose().unwrap();
    assert!(
        composed.growth.superseded_tokens > 0
            && composed.growth.superseded_tokens < composed.growth.tokens
    );
    assert!(
        composed
            .warnings
            .iter()
            .any(|w| w.contains("project/AGENTS.md")),
        "{:?}",
        composed.warnings
    );
}
