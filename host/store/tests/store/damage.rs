//! Files that are damaged, not ours, or made to harm.

use crate::common::{open, run};
use sectile_store::{SessionStore, SqliteStore};
use std::fs;

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
