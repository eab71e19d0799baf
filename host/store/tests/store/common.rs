//! What the tests have in common: a store, things to put into it, and other
//! processes that use it.

use sectile_model::{BlockKind, Digest, Item, Message, MessageKind, Role, Usage};
use sectile_store::{
    Append, CallRecord, CheckpointKind, NewCheckpoint, NewMessage, NewSession, NewTurn, SessionId,
    SessionStore, SessionWriter, SqliteStore, StartedTurn, TurnStatus,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tempfile::TempDir;

/// A store with the session `s`, in memory where the system has such a place:
/// a test that does not kill needs no disk.
pub(crate) fn open() -> (TempDir, SqliteStore, SessionId) {
    let workspace = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let store = SqliteStore::open(workspace.path()).unwrap();
    let id: SessionId = "s".parse().unwrap();
    store
        .create(&NewSession {
            id: id.clone(),
            created_ms: 1,
            parent: None,
            about: json!({"p": 1}),
        })
        .unwrap();
    (workspace, store, id)
}

pub(crate) fn message(id: &str, role: Role) -> NewMessage {
    let text = BlockKind::Text {
        text: format!("text of {id}"),
    };
    NewMessage {
        id: id.to_owned(),
        kind: MessageKind::Normal,
        message: Arc::new(Message {
            role,
            content: vec![text.into()],
        }),
        source: None,
    }
}

pub(crate) fn turn(id: &str) -> NewTurn {
    NewTurn {
        id: id.parse().unwrap(),
        client_request_id: format!("r-{id}"),
        input: vec![message(&format!("{id}:user"), Role::User)],
    }
}

pub(crate) fn append(ids: &[&str]) -> Append {
    Append {
        messages: ids.iter().map(|id| message(id, Role::Assistant)).collect(),
        ..Append::default()
    }
}

pub(crate) fn sequences(items: &[Item]) -> Vec<u64> {
    items
        .iter()
        .map(|item| item.origin.sequence().unwrap_or(0))
        .collect()
}

/// A whole turn of one answer.
pub(crate) fn run(writer: &dyn SessionWriter, id: &str) {
    let turn = turn(id);
    assert!(matches!(
        writer.start_turn(&turn),
        Ok(StartedTurn::Started(_))
    ));
    writer
        .append(&turn.id, &append(&[&format!("{id}:answer")]))
        .unwrap();
    writer
        .finish_turn(&turn.id, TurnStatus::Completed, &json!({"ok": 1}))
        .unwrap();
}

pub(crate) fn checkpoint(
    kind: CheckpointKind,
    through: u64,
    visible: &[(u64, u64)],
) -> NewCheckpoint {
    NewCheckpoint {
        kind,
        head: vec![],
        through_sequence: through,
        visible: visible.to_vec(),
        about: json!({}),
    }
}

/// The record of a model call.
pub(crate) fn call(through_sequence: u64) -> CallRecord {
    let frame = "the frame";
    let digest = Digest::from_bytes(Sha256::digest(frame).into());
    CallRecord {
        model_call: 1,
        through_sequence,
        checkpoint: None,
        pruned_through_sequence: None,
        frame: frame.into(),
        frame_digest: digest,
        request_digest: digest,
        request_bytes: 3,
        provider: "p".to_owned(),
        adapter_digest: digest,
        body_digest: digest,
        usage: Usage::default(),
        finish: "stop".to_owned(),
    }
}
