use super::*;
use crate::record::{
    Append, CheckpointKind, NewCheckpoint, NewMessage, NewTurn, StartedTurn, TurnStatus,
};
use sectile_model::{BlockKind, Item, Message, MessageKind, Role};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

fn open() -> (TempDir, SqliteStore, SessionId) {
    let workspace = tempfile::tempdir().unwrap();
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

fn message(id: &str, role: Role) -> NewMessage {
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

fn turn(id: &str) -> NewTurn {
    NewTurn {
        id: id.parse().unwrap(),
        client_request_id: format!("r-{id}"),
        input: vec![message(&format!("{id}:user"), Role::User)],
    }
}

fn append(ids: &[&str]) -> Append {
    Append {
        messages: ids.iter().map(|id| message(id, Role::Assistant)).collect(),
        ..Append::default()
    }
}

fn sequences(items: &[Item]) -> Vec<u64> {
    items
        .iter()
        .map(|item| item.origin.sequence().unwrap_or(0))
        .collect()
}

/// A whole turn of one answer.
fn run(writer: &dyn SessionWriter, id: &str) {
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

#[test]
fn sr_20_a_request_has_one_turn_and_turns_are_never_queued() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let StartedTurn::Started(items) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(sequences(&items), [1]);
    let StartedTurn::Existing(known) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(
        (known.id.as_str(), known.status),
        ("a", TurnStatus::Running)
    );
    assert_eq!(
        writer.start_turn(&turn("b")).unwrap(),
        StartedTurn::Busy("a".parse().unwrap())
    );
    writer
        .finish_turn(
            &"a".parse().unwrap(),
            TurnStatus::Completed,
            &json!({"t": 1}),
        )
        .unwrap();
    assert!(matches!(
        writer.start_turn(&turn("b")).unwrap(),
        StartedTurn::Started(_)
    ));
    let StartedTurn::Existing(known) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(
        (known.status, known.outcome),
        (TurnStatus::Completed, Some(json!({"t": 1})))
    );
    assert_eq!(store.load(&id).unwrap().last_sequence, 2);
}

#[test]
fn sr_20_a_turn_is_found_by_its_id_and_by_its_request() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    let known = store.turn(&id, &"a".parse().unwrap()).unwrap();
    assert_eq!(
        store.turn_of_request(&id, "r-a").unwrap(),
        Some(known.clone())
    );
    assert_eq!(store.turn_of_request(&id, "r-b").unwrap(), None);
    assert_eq!(
        store
            .turn(&id, &"b".parse().unwrap())
            .err()
            .map(|e| e.code()),
        Some("unknown_turn")
    );
    let taken = NewTurn {
        client_request_id: "another".to_owned(),
        ..turn("a")
    };
    assert_eq!(
        writer.start_turn(&taken).err().map(|e| e.code()),
        Some("turn_exists")
    );
}

#[test]
fn cp_5_a_checkpoint_is_made_in_the_running_turn_or_in_none() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    writer.start_turn(&turn("b")).unwrap();
    let install = |turn: Option<&str>| {
        let turn = turn.map(|turn| turn.parse().unwrap());
        let installed = writer.install(
            turn.as_ref(),
            &checkpoint(CheckpointKind::Summary, 2, &[(3, 3)]),
        );
        installed.err().map_or("installed", |e| e.code())
    };
    assert_eq!(install(None), "session_active");
    assert_eq!(install(Some("a")), "turn_ended");
    assert_eq!(install(Some("c")), "unknown_turn");
    assert_eq!(install(Some("b")), "installed");
    let too_far = checkpoint(CheckpointKind::Summary, 9, &[]);
    let refused = writer.install(Some(&"b".parse().unwrap()), &too_far);
    assert_eq!(refused.err().map(|e| e.code()), Some("invalid_checkpoint"));
    assert_eq!(store.checkpoints(&id).unwrap().len(), 1);
}

#[test]
fn ws_2_a_message_is_stored_once_however_often_it_is_written() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    let turn = "a".parse().unwrap();
    let first = writer.append(&turn, &append(&["x", "y"])).unwrap();
    let again = writer.append(&turn, &append(&["x", "z", "y"])).unwrap();
    assert_eq!(
        (sequences(&first), sequences(&again)),
        (vec![2, 3], vec![2, 4, 3])
    );
    assert_eq!(
        sequences(&store.load(&id).unwrap().conversation.items),
        [1, 2, 3, 4]
    );
}

#[test]
fn sr_11_one_writer_at_a_time_and_readers_never_wait() {
    let (dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let other = SqliteStore::open(dir.path()).unwrap();
    for store in [&store, &other] {
        assert_eq!(
            store.lease(&id).err().map(|e| e.code()),
            Some("session_busy")
        );
    }
    writer.start_turn(&turn("a")).unwrap();
    assert_eq!(other.load(&id).unwrap().last_sequence, 1);
    drop(writer);
    assert!(other.lease(&id).is_ok());
}

#[test]
fn sr_28_only_turns_of_the_dead_are_interrupted() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    assert_eq!(store.interrupt_abandoned().unwrap(), []);
    drop(writer);
    assert_eq!(store.interrupt_abandoned().unwrap().len(), 1);
    let turns = store.turns(&id, 0, 10).unwrap();
    assert_eq!(turns[0].status, TurnStatus::Interrupted);
    let writer = store.lease(&id).unwrap();
    let refused = writer.append(&"a".parse().unwrap(), &append(&["x"]));
    assert_eq!(refused.err().map(|e| e.code()), Some("turn_ended"));
}

#[test]
fn sr_50_the_plan_belongs_to_its_turn() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    let plan = Append {
        plan: Some(json!({"plan": []})),
        ..append(&["x"])
    };
    writer.append(&"a".parse().unwrap(), &plan).unwrap();
    assert_eq!(writer.load().unwrap().plan, plan.plan);
    writer
        .finish_turn(&"a".parse().unwrap(), TurnStatus::Completed, &json!({}))
        .unwrap();
    writer.start_turn(&turn("b")).unwrap();
    assert_eq!(writer.load().unwrap().plan, None);
}

fn checkpoint(kind: CheckpointKind, through: u64, visible: &[(u64, u64)]) -> NewCheckpoint {
    NewCheckpoint {
        kind,
        head: vec![],
        through_sequence: through,
        visible: visible.to_vec(),
        about: json!({}),
    }
}

#[test]
fn cp_1_a_checkpoint_hides_and_a_rewind_shows_again_and_nothing_is_deleted() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let seen = || sequences(&writer.load().unwrap().conversation.items);
    for turn in ["a", "b", "c"] {
        run(&*writer, turn);
    }
    let first = writer
        .install(None, &checkpoint(CheckpointKind::Summary, 4, &[(5, 6)]))
        .unwrap();
    assert_eq!((first.number, first.made_after, seen()), (1, 6, vec![5, 6]));
    run(&*writer, "d");
    assert_eq!(seen(), [5, 6, 7, 8]);
    writer
        .install(None, &checkpoint(CheckpointKind::Clear, 8, &[]))
        .unwrap();
    assert!(seen().is_empty());
    run(&*writer, "e");
    writer
        .install(None, &checkpoint(CheckpointKind::Rewind, 4, &[(5, 6)]))
        .unwrap();
    run(&*writer, "f");
    assert_eq!(seen(), [5, 6, 11, 12]);
    assert_eq!(store.messages(&id, 0, 99, 99).unwrap().len(), 12);
    let at = |checkpoint, through| {
        sequences(
            &store
                .conversation_at(&id, checkpoint, through)
                .unwrap()
                .items,
        )
    };
    assert_eq!(
        (at(None, 3), at(Some(1), 5), at(Some(1), 8)),
        (vec![1, 2, 3], vec![5], vec![5, 6, 7, 8])
    );
    assert!(store.conversation_at(&id, Some(9), 1).is_err());
}

#[test]
fn cp_6_the_watermark_only_grows() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    for (to, stands) in [(5, 5), (3, 5), (9, 9)] {
        writer.advance_watermark(to).unwrap();
        assert_eq!(
            store
                .load(&id)
                .unwrap()
                .conversation
                .pruned_through_sequence,
            Some(stands)
        );
    }
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
        ..append(&["b:answer"])
    };
    let b: TurnId = "b".parse().unwrap();
    writer.append(&b, &answer).unwrap();
    writer
        .finish_turn(&b, TurnStatus::Failed, &json!({"code": "x"}))
        .unwrap();
    let export = |id: &SessionId| {
        let mut lines = Vec::new();
        store
            .export(id, &mut |line| {
                lines.push(line);
                Ok(())
            })
            .unwrap();
        lines
    };
    let lines = export(&id);
    let copy: SessionId = "copy".parse().unwrap();
    store
        .import(&copy, &mut lines.iter().cloned().map(Ok))
        .unwrap();
    assert_eq!(export(&copy), lines);
    assert_eq!(store.load(&copy).unwrap(), store.load(&id).unwrap());
    assert_eq!(store.load(&copy).unwrap().plan, answer.plan);
    // Whatever line is missing or twice, all or nothing is there.
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

#[test]
fn c8_no_query_reads_the_whole_of_a_large_table() {
    let (_dir, store, _) = open();
    for sql in [
        "SELECT * FROM messages WHERE session = 's' AND sequence > 5 AND sequence <= 9 ORDER BY sequence LIMIT 3",
        "SELECT * FROM messages WHERE session = 's' AND id = 'x'",
        "SELECT coalesce(max(sequence), 0) FROM messages WHERE session = 's'",
        "SELECT * FROM turns WHERE session = 's' AND client_request_id = 'x'",
        "SELECT id FROM turns WHERE session = 's' AND status = 'running' LIMIT 1",
        "SELECT * FROM turns WHERE session = 's' AND number > 3 ORDER BY number LIMIT 3",
        "SELECT plan FROM turns WHERE session = 's' ORDER BY number DESC LIMIT 1",
        "SELECT * FROM checkpoints WHERE session = 's' ORDER BY number DESC LIMIT 1",
        "SELECT * FROM model_calls WHERE session = 's' AND number > 3 ORDER BY number LIMIT 3",
    ] {
        let plan = store.0.read(|tx| {
            let mut statement = tx.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let rows = statement.query_map([], |row| row.get::<_, String>(3))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?.join("; "))
        });
        let plan = plan.unwrap();
        assert!(
            plan.contains("SEARCH") && !plan.contains("SCAN") && !plan.contains("TEMP B-TREE"),
            "{sql}: {plan}"
        );
    }
}

#[test]
fn d7_what_is_not_our_database_is_refused_and_left_as_it_is() {
    let (dir, store, _) = open();
    drop(store);
    let path = dir.path().join(".sectile/sectile.db");
    let good = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        for file in ["sectile.db-wal", "sectile.db-shm"] {
            let _ = fs::remove_file(path.with_file_name(file));
        }
        fs::write(&path, bytes).unwrap();
        let code = SqliteStore::open(dir.path()).err().map(|e| e.code());
        assert_eq!(fs::read(&path).unwrap(), bytes, "{code:?}");
        code
    };
    assert_eq!(
        refused(b"this is a text and no database, whatever its name says"),
        Some("store_foreign")
    );
    let mut newer = good.clone();
    newer[63] = 99;
    assert_eq!(refused(&newer), Some("store_newer"));
    let mut other = good.clone();
    other[68] ^= 1;
    assert_eq!(refused(&other), Some("store_foreign"));
    assert!(matches!(
        refused(&good[..4096 + 100]),
        Some("store_corrupt" | "store_io")
    ));
}

#[test]
fn d8_a_file_with_anything_that_runs_by_itself_is_refused() {
    for extra in [
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM messages; END",
        "CREATE VIEW v AS SELECT * FROM messages",
        "CREATE TABLE more (x)",
        "ALTER TABLE frames ADD COLUMN g TEXT GENERATED ALWAYS AS (text || 'x') VIRTUAL",
        "CREATE INDEX i ON messages (abs(sequence))",
        "DROP INDEX running_turns",
    ] {
        let (dir, store, _) = open();
        drop(store);
        let path = dir.path().join(".sectile/sectile.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(extra)
            .unwrap();
        let code = SqliteStore::open(dir.path()).err().map(|e| e.code());
        assert_eq!(code, Some("store_foreign"), "{extra}");
    }
}

#[test]
fn d7_garbage_in_a_row_is_said_and_nothing_panics() {
    let (dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    drop((writer, store));
    let path = dir.path().join(".sectile/sectile.db");
    for change in [
        "UPDATE messages SET message = '{'",
        "UPDATE messages SET message = '{\"role\":\"user\",\"content\":[]}', kind = 'x'",
        "UPDATE messages SET sequence = -1 WHERE sequence = 1",
        "UPDATE turns SET status = 'x'",
        "UPDATE sessions SET about = 'x'",
    ] {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let store = SqliteStore::open(dir.path()).unwrap();
        let all = [
            store.load(&id).err(),
            store.turns(&id, 0, 9).err(),
            store.messages(&id, 0, 99, 99).err(),
        ];
        let codes: Vec<_> = all.into_iter().flatten().map(|e| e.code()).collect();
        assert!(
            codes.iter().all(|code| *code == "store_corrupt"),
            "{change}: {codes:?}"
        );
    }
}

#[test]
fn a_link_in_the_place_of_the_store_is_refused() {
    let (outside, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), workspace.path().join(".sectile")).unwrap();
    let code = SqliteStore::open(workspace.path()).err().map(|e| e.code());
    assert_eq!(code, Some("store_foreign"));
    let workspace = tempfile::tempdir().unwrap();
    fs::create_dir(workspace.path().join(".sectile")).unwrap();
    std::os::unix::fs::symlink(
        outside.path().join("x"),
        workspace.path().join(".sectile/sectile.db"),
    )
    .unwrap();
    assert!(SqliteStore::open(workspace.path()).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_made_where_only_reading_was_meant() {
    let workspace = tempfile::tempdir().unwrap();
    assert!(
        SqliteStore::open_existing(workspace.path())
            .unwrap()
            .is_none()
    );
    assert_eq!(fs::read_dir(workspace.path()).unwrap().count(), 0);
}
