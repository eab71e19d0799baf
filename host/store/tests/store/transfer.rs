//! Sessions as lines, and back.

use crate::common::{append, checkpoint, open, run, turn};
use sectile_store::{
    Append, CheckpointKind, SessionId, SessionStore, SqliteStore, TurnId, TurnStatus,
};
use serde_json::{Value, json};

fn export(store: &SqliteStore, id: &SessionId) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut each = |line| {
        lines.push(line);
        Ok(())
    };
    store.export(id, &mut each).unwrap();
    lines
}

#[test]
fn an_exported_session_comes_back_as_it_was() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    writer
        .install(None, &checkpoint(CheckpointKind::Summary, 1, &[(2, 2)]))
        .unwrap();
    writer.advance_watermark(2).unwrap();
    writer.start_turn(&turn("b")).unwrap();
    let answer = Append {
        plan: Some(json!({"plan": [1]})),
        found_tools: Some(vec!["b".to_owned(), "a".to_owned()]),
        ..append(&["b:answer"])
    };
    let b: TurnId = "b".parse().unwrap();
    writer.append(&b, &answer).unwrap();
    writer
        .finish_turn(&b, TurnStatus::Failed, &json!({"code": "x"}))
        .unwrap();
    let lines = export(&store, &id);
    let copy: SessionId = "copy".parse().unwrap();
    store
        .import(&copy, &mut lines.iter().cloned().map(Ok))
        .unwrap();
    assert_eq!(export(&store, &copy), lines);
    assert_eq!(store.load(&copy).unwrap(), store.load(&id).unwrap());
    let copied = store.load(&copy).unwrap();
    assert_eq!(copied.plan, answer.plan);
    assert_eq!(Some(copied.found_tools), answer.found_tools);
}

#[test]
fn an_import_takes_all_lines_or_nothing() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    for n in 1..=2 {
        run(&*writer, &format!("t{n}"));
        let summary = checkpoint(CheckpointKind::Summary, n, &[]);
        writer.install(None, &summary).unwrap();
    }
    let lines = export(&store, &id);
    for n in 0..lines.len() {
        for (kind, broken) in [("a", without(&lines, n)), ("b", twice(&lines, n))] {
            let id: SessionId = format!("{kind}{n}").parse().unwrap();
            let refused = store.import(&id, &mut broken.into_iter().map(Ok));
            assert_eq!(
                refused.err().map(|e| e.code()),
                Some("invalid_import"),
                "{id}"
            );
            assert_eq!(
                store.session(&id).err().map(|e| e.code()),
                Some("unknown_session")
            );
        }
    }
}

fn without(lines: &[Value], n: usize) -> Vec<Value> {
    let mut lines = lines.to_vec();
    lines.remove(n);
    lines
}

fn twice(lines: &[Value], n: usize) -> Vec<Value> {
    let mut lines = lines.to_vec();
    lines.insert(n, lines[n].clone());
    lines
}
