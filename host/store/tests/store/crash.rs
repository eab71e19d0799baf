//! Processes that are killed at any instant: what was acknowledged is there,
//! and what was begun is there in full or not at all.

use crate::child::{said, say, start};
use crate::common::{append, call, checkpoint, message, turn};
use sectile_model::{Item, PluginId, Role};
use sectile_store::{
    Append, AuditFilter, AuditLog, AuditRow, CheckpointKind, NewSession, PluginValues, SessionId,
    SessionStore, SessionWriter, SqliteStore, StartedTurn, TurnStatus,
};
use serde_json::json;
use std::path::Path;
use std::thread;
use std::time::Duration;

const KILLS: u64 = 200;

fn id() -> SessionId {
    "s".parse().unwrap()
}

fn plugin() -> PluginId {
    "x/a".parse().unwrap()
}

fn session(id: SessionId) -> NewSession {
    NewSession {
        id,
        created_ms: 0,
        parent: None,
        about: json!({}),
    }
}

/// Does everything that writes, over and over, and says what was acknowledged.
pub(crate) fn everything(workspace: &Path) {
    let store = SqliteStore::open(workspace).unwrap();
    store.interrupt_abandoned().unwrap();
    if store.session(&id()).is_err() {
        store.create(&session(id())).unwrap();
    }
    let writer = store.lease(&id()).unwrap();
    let first = writer.load().unwrap().last_sequence + 1;
    say("ready");
    for n in first.. {
        whole_turn(&*writer, n);
        beside_turns(&store, n);
    }
}

fn whole_turn(writer: &dyn SessionWriter, n: u64) {
    let turn = turn(&format!("t{n}"));
    let StartedTurn::Started(items) = writer.start_turn(&turn).unwrap() else {
        panic!("turn {n} runs already")
    };
    let said_of = |item: &Item| {
        let sequence = item.origin.sequence().unwrap();
        say(&format!(
            "message {sequence} {}",
            item.origin.message_id().unwrap()
        ));
        sequence
    };
    said_of(&items[0]);
    let ids = [format!("t{n}:asks"), format!("t{n}:done")];
    let step = Append {
        messages: ids.iter().map(|id| message(id, Role::Assistant)).collect(),
        plan: Some(json!({ "n": n })),
        found_tools: Some(vec![format!("t{n}")]),
        call: Some(call(n)),
    };
    let items = writer.append(&turn.id, &step).unwrap();
    let last = said_of(&items[1]);
    writer.advance_watermark(last).unwrap();
    say(&format!("watermark {last}"));
    let summary = checkpoint(CheckpointKind::Summary, last - 1, &[(last, last)]);
    let installed = writer.install(Some(&turn.id), &summary).unwrap();
    say(&format!("checkpoint {}", installed.number));
    let answer = append(&[&format!("t{n}:answer")]);
    said_of(&writer.append(&turn.id, &answer).unwrap()[0]);
    let outcome = json!({ "n": n });
    writer
        .finish_turn(&turn.id, TurnStatus::Completed, &outcome)
        .unwrap();
    say(&format!("turn {}", turn.id));
}

fn beside_turns(store: &SqliteStore, n: u64) {
    let value = n.to_string();
    store
        .set_value(&plugin(), "n", value.as_bytes(), 4096)
        .unwrap();
    say(&format!("value {n}"));
    let row = AuditRow {
        time_ms: 0,
        plugin: plugin(),
        digest: None,
        session: None,
        what: value,
        outcome: String::new(),
    };
    store.record(&[row]).unwrap();
    say(&format!("audit {n}"));
    let other: SessionId = format!("other{n}").parse().unwrap();
    store.create(&session(other.clone())).unwrap();
    say(&format!("session {other}"));
}

/// Whether what was acknowledged with `words` is there.
fn is_there(store: &SqliteStore, words: &[&str]) -> bool {
    let number = |text: &str| text.parse::<u64>().unwrap();
    match words {
        ["ready"] => store.session(&id()).is_ok(),
        ["message", sequence, id_of] => {
            let through = number(sequence);
            let found = store.messages(&id(), through - 1, through, 1).unwrap();
            found[0].item.origin.message_id() == Some(*id_of)
        }
        ["watermark", to] => {
            let loaded = store.load(&id()).unwrap().conversation;
            loaded.pruned_through_sequence >= Some(number(to))
        }
        ["checkpoint", n] => store.checkpoints(&id()).unwrap().len() as u64 >= number(n),
        ["turn", turn] => {
            let turn = store.turn(&id(), &turn.parse().unwrap()).unwrap();
            turn.status == TurnStatus::Completed && turn.outcome.is_some()
        }
        ["value", n] => {
            let value = store.value(&plugin(), "n").unwrap().unwrap();
            number(&String::from_utf8(value).unwrap()) >= number(n)
        }
        ["audit", n] => {
            let rows = store.audit(&AuditFilter::default(), 0, u64::MAX).unwrap();
            rows.iter().any(|(_, row)| row.what == *n)
        }
        ["session", copy] => store.session(&copy.parse().unwrap()).is_ok(),
        other => panic!("{other:?}"),
    }
}

/// Whatever was begun is whole.
fn is_whole(store: &SqliteStore) {
    assert_eq!(store.check().unwrap(), None);
    let messages = store.messages(&id(), 0, u64::MAX, u64::MAX).unwrap();
    let ids: Vec<_> = messages
        .iter()
        .map(|m| m.item.origin.message_id().unwrap())
        .collect();
    for (sequence, message) in (1..).zip(&messages) {
        assert_eq!(message.item.origin.sequence(), Some(sequence));
    }
    let count = |end: &str| ids.iter().filter(|id| id.ends_with(end)).count();
    let turns = store.turns(&id(), 0, u64::MAX).unwrap();
    let calls = store.calls(&id(), 0, u64::MAX).unwrap();
    assert_eq!(count(":user"), turns.len());
    assert_eq!(count(":asks"), count(":done"));
    assert_eq!(count(":asks"), calls.len());
}

#[test]
fn d1_what_was_acknowledged_survives_kill_at_any_instant() {
    let workspace = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        let mut child = start("everything", workspace.path());
        // Any instant: from before the file is opened to many turns later.
        thread::sleep(Duration::from_micros(kill * 7919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let words = said(&mut child);
        acknowledged += words.len();
        let store = SqliteStore::open(workspace.path()).unwrap();
        for word in &words {
            let words: Vec<_> = word.split(' ').collect();
            assert!(is_there(&store, &words), "kill {kill}: {word} is not there");
        }
        if kill % 10 == 9 && store.session(&id()).is_ok() {
            is_whole(&store);
        }
    }
    assert!(acknowledged > 100, "only {acknowledged} steps");
}

#[test]
fn d9_a_store_whose_making_was_killed_is_made_by_the_next() {
    for kill in 0..40_u64 {
        let workspace = tempfile::tempdir().unwrap();
        let mut child = start("open", workspace.path());
        thread::sleep(Duration::from_micros(3000 + kill * 500));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = SqliteStore::open(workspace.path()).unwrap();
        assert_eq!(store.check().unwrap(), None);
        assert_eq!(store.sessions(0, 9).unwrap(), []);
    }
}
