//! Files that are damaged, not ours, or made to harm.

use crate::common::{append, call, checkpoint, open, run, turn};
use sectile_store::{
    Append, AuditFilter, AuditLog, CheckpointKind, PluginValues, SessionId, SessionStore,
    SqliteStore, TurnStatus,
};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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
    let (workspace, store, id) = open();
    std::os::unix::fs::symlink(outside.path(), workspace.path().join(".sectile/locks")).unwrap();
    let code = store.lease(&id).err().map(|e| e.code());
    assert_eq!(code, Some("store_foreign"));
    // What leads to the workspace is the operator's.
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(workspace.path(), &link).unwrap();
    assert!(SqliteStore::open(&link).is_ok());
    fs::remove_file(link).unwrap();
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

/// Every code that damage may lead to.
const SAID: [&str; 12] = [
    "store_corrupt",
    "store_foreign",
    "store_newer",
    "store_io",
    // The damage is in an id, or in a number.
    "unknown_session",
    "unknown_turn",
    "unknown_checkpoint",
    "turn_exists",
    "turn_ended",
    "session_active",
    "invalid_checkpoint",
    "store_too_large",
];

/// Reads and writes everything, and gives the codes of what failed.
fn use_all(workspace: &Path) -> Vec<&'static str> {
    let id: SessionId = "s".parse().unwrap();
    let plugin = "x/a".parse().unwrap();
    let store = match SqliteStore::open(workspace) {
        Ok(store) => store,
        Err(error) => return vec![error.code()],
    };
    let mut results = vec![
        store.check().map(drop),
        store.sessions(0, 9).map(drop),
        store.load(&id).map(drop),
        store.messages(&id, 3, 9, 9).map(drop),
        store.conversation_at(&id, Some(1), 9).map(drop),
        store.turns(&id, 0, 99).map(drop),
        store.turn_of_request(&id, "r-t3").map(drop),
        store.checkpoints(&id).map(drop),
        store.calls(&id, 0, 99).map(drop),
        store.last_call(&id).map(drop),
        store.frame(&call(1).frame_digest).map(drop),
        store.export(&id, &mut |_| Ok(())),
        store.value(&plugin, "k").map(drop),
        store.keys(&plugin, "").map(drop),
        store.audit(&AuditFilter::default(), 0, 9).map(drop),
        store.interrupt_abandoned().map(drop),
        store.set_value(&plugin, "k", b"new", 9999),
    ];
    let turn = turn("new");
    let writer = store.lease(&id);
    results.push(writer.and_then(|writer| {
        writer.start_turn(&turn)?;
        writer.append(&turn.id, &append(&["new"]))?;
        writer.install(Some(&turn.id), &checkpoint(CheckpointKind::Summary, 9, &[]))?;
        writer.finish_turn(&turn.id, TurnStatus::Completed, &json!({}))
    }));
    results
        .into_iter()
        .filter_map(|result| result.err().map(|e| e.code()))
        .collect()
}

/// A store with something of everything in it; its files as bytes.
fn full_store() -> (TempDir, Vec<(PathBuf, Vec<u8>)>) {
    let (dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    for n in 0..10 {
        let turn = turn(&format!("t{n}"));
        writer.start_turn(&turn).unwrap();
        let step = Append {
            plan: Some(json!({ "n": n })),
            call: Some(call(n)),
            ..append(&[&format!("m{n}")])
        };
        writer.append(&turn.id, &step).unwrap();
        let summary = checkpoint(CheckpointKind::Summary, n, &[(n + 1, n + 1)]);
        writer.install(Some(&turn.id), &summary).unwrap();
        writer
            .finish_turn(&turn.id, TurnStatus::Completed, &json!({}))
            .unwrap();
    }
    store
        .set_value(&"x/a".parse().unwrap(), "k", &[1; 9000], 9999)
        .unwrap();
    // As a kill leaves them: what is in the log is not yet in the file.
    let directory = dir.path().join(".sectile");
    let files = ["sectile.db", "sectile.db-wal"].map(|name| directory.join(name));
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    let crashed = files.clone().map(read);
    drop((writer, store));
    let closed = files.into_iter().take(1).map(read);
    let all = closed.chain(crashed).collect();
    (dir, all)
}

fn put(path: &Path, bytes: &[u8]) {
    for beside in ["sectile.db-wal", "sectile.db-shm"] {
        let _ = fs::remove_file(path.with_file_name(beside));
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn d7_a_flipped_byte_is_said_or_harmless_and_nothing_panics() {
    let (dir, files) = full_store();
    let (path, good) = &files[0];
    let mut noticed = 0;
    for n in 0..1000_usize {
        let mut bytes = good.clone();
        // Headers of pages are where it hurts: every other flip is in one.
        let at = match n % 2 {
            0 => n * 7919 % bytes.len(),
            _ => n * 31 % (bytes.len() / 4096) * 4096 + n % 100,
        };
        bytes[at] ^= 1 << (n % 8) | u8::from(n % 3 == 0);
        put(path, &bytes);
        let codes = use_all(dir.path());
        assert!(
            codes.iter().all(|code| SAID.contains(code)),
            "{at}: {codes:?}"
        );
        noticed += usize::from(!codes.is_empty());
    }
    assert!(noticed > 100, "only {noticed}");
    put(path, good);
    assert_eq!(use_all(dir.path()), [""; 0]);
}

#[test]
fn d7_a_damaged_log_costs_its_end_at_most() {
    let (dir, files) = full_store();
    let ((path, base), (log_path, log)) = (&files[1], &files[2]);
    for n in 0..200_usize {
        let mut log = log.clone();
        match n % 4 {
            0 => log.truncate(n * 7919 % log.len()),
            _ => {
                let at = n * 7919 % log.len();
                log[at] ^= 0x55;
            }
        }
        put(path, base);
        fs::write(log_path, &log).unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(store.check().unwrap(), None, "{n}");
    }
}

#[test]
fn d7_a_cut_file_is_said_or_empty() {
    let (dir, files) = full_store();
    let (path, good) = &files[0];
    for length in (0..good.len()).step_by(777) {
        put(path, &good[..length]);
        let codes = use_all(dir.path());
        // Without a byte it is a new store, where there is no session.
        assert!(!codes.is_empty(), "{length}");
        assert!(
            codes.iter().all(|code| SAID.contains(code)),
            "{length}: {codes:?}"
        );
    }
}
