//! Several processes on one store.

use crate::child::{said, say, start};
use crate::common::{call, open, run, turn};
use rusqlite::Connection;
use sectile_store::{
    CallRecord, NewSession, SessionId, SessionStore, SqliteStore, StartedTurn, StoreError,
    TurnStatus,
};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PROCESSES: usize = 8;
const TURNS: u64 = 20;
/// The schema as it was first released, with one session in it.
const VERSION_1: &str = include_str!("version-1.sql");

fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

fn create(store: &SqliteStore, id: &str) {
    let session = NewSession {
        id: session(id),
        created_ms: 0,
        parent: None,
        about: json!({}),
    };
    store.create(&session).unwrap();
}

/// Starts processes in `role`, lets them end, and gives what each said.
fn all(role: &str, workspace: &Path) -> Vec<Vec<String>> {
    let mut children: Vec<_> = (0..PROCESSES).map(|_| start(role, workspace)).collect();
    let ended = children.iter_mut().map(|child| {
        let words = said(child);
        assert!(child.wait().unwrap().success(), "{words:?}");
        words
    });
    ended.collect()
}

pub(crate) fn only_open(workspace: &Path) {
    let store = SqliteStore::open(workspace).unwrap();
    say(&format!("sessions {}", store.sessions(0, 9).unwrap().len()));
}

/// Has turns in a session of its own and, when nobody else has it, in a shared one.
pub(crate) fn share(workspace: &Path) {
    let store = SqliteStore::open(workspace).unwrap();
    let own = format!("own{}", std::process::id());
    create(&store, &own);
    let writer = store.lease(&session(&own)).unwrap();
    for n in 0..TURNS {
        run(&*writer, &format!("t{n}"));
        match store.lease(&session("shared")) {
            Ok(shared) => {
                run(&*shared, &format!("{own}-{n}"));
                say("shared");
            }
            Err(StoreError::SessionBusy(_)) => say("busy"),
            Err(error) => panic!("{error}"),
        }
    }
    say(&format!("own {own}"));
}

#[test]
fn d6_many_processes_share_a_store_and_one_at_a_time_a_session() {
    let (dir, store, _) = open();
    create(&store, "shared");
    let words: Vec<_> = all("share", dir.path()).concat();
    let count = |word: &str| words.iter().filter(|said| *said == word).count() as u64;
    assert_eq!(count("shared") + count("busy"), PROCESSES as u64 * TURNS);
    let turns = store.turns(&session("shared"), 0, u64::MAX).unwrap();
    assert_eq!(turns.len() as u64, count("shared"));
    for (number, turn) in (1..).zip(turns) {
        assert_eq!((turn.number, turn.status), (number, TurnStatus::Completed));
    }
    let owned = words.iter().filter_map(|word| word.strip_prefix("own "));
    for own in owned {
        assert_eq!(store.load(&session(own)).unwrap().last_sequence, TURNS * 2);
    }
    assert_eq!(store.check().unwrap(), None);
}

#[test]
fn d6_a_lease_ends_with_its_writer_also_while_processes_are_started() {
    let (_dir, store, id) = open();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Between its beginning and its program, a process has all our files.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = Command::new("true").status();
            }
        });
        let leases = (0..2000).map(|_| store.lease(&id).map(drop));
        let failed = leases.filter_map(Result::err).next();
        done.store(true, Ordering::Relaxed);
        assert!(failed.is_none(), "{failed:?}");
    });
}

#[test]
fn d5_a_writer_waits_for_another_but_not_for_ever() {
    let (dir, store, _) = open();
    let other = Connection::open(dir.path().join(".sectile/sectile.db")).unwrap();
    let release = |after| {
        thread::sleep(Duration::from_millis(after));
        other.execute_batch("ROLLBACK").unwrap();
    };
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| create(&store, "waited"));
        release(300);
        waits.join().unwrap();
    });
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let refused = NewSession {
        id: session("refused"),
        created_ms: 0,
        parent: None,
        about: json!({}),
    };
    let refused = store.create(&refused).err().map(|e| e.code());
    assert_eq!(refused, Some("store_busy"));
    assert!((4..20).contains(&begun.elapsed().as_secs()));
    // Reading never waits (SR-11), and writing goes on afterwards.
    assert_eq!(store.sessions(0, 9).unwrap().len(), 2);
    release(0);
    create(&store, "later");
}

#[test]
fn d5_a_long_reader_stops_nobody_and_its_leftovers_are_reclaimed() {
    let (dir, store, id) = open();
    let file = dir.path().join(".sectile/sectile.db");
    let reader = Connection::open(&file).unwrap();
    let count = || -> i64 {
        let sql = "SELECT count(*) FROM messages";
        reader.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(), 0);
    let writer = store.lease(&id).unwrap();
    for n in 0..200 {
        run(&*writer, &format!("a{n}"));
    }
    assert_eq!(count(), 0);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), 400);
    let log = file.with_file_name("sectile.db-wal");
    let grown = log.metadata().unwrap().len();
    for n in 0..400 {
        run(&*writer, &format!("b{n}"));
    }
    assert!(log.metadata().unwrap().len() <= grown + (8 << 20));
    drop((reader, writer, store));
    assert!(
        !log.exists(),
        "the last to close puts everything into the file"
    );
}

#[test]
fn d9_many_processes_make_one_store_and_bring_one_forward() {
    for _ in 0..5 {
        let new = tempfile::tempdir().unwrap();
        assert_eq!(
            all("open", new.path()).concat(),
            vec!["sessions 0"; PROCESSES]
        );
        let old = version_1();
        assert_eq!(
            all("open", old.path()).concat(),
            vec!["sessions 1"; PROCESSES]
        );
    }
}

fn version_1() -> tempfile::TempDir {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::create_dir(workspace.path().join(".sectile")).unwrap();
    let file = workspace.path().join(".sectile/sectile.db");
    Connection::open(file)
        .unwrap()
        .execute_batch(VERSION_1)
        .unwrap();
    workspace
}

#[test]
fn d9_a_store_of_the_first_schema_goes_on() {
    let workspace = version_1();
    let store = SqliteStore::open(workspace.path()).unwrap();
    let id = session("old");
    assert_eq!(store.interrupt_abandoned().unwrap().len(), 1);
    let writer = store.lease(&id).unwrap();
    let loaded = writer.load().unwrap();
    assert_eq!(
        (loaded.last_sequence, loaded.conversation.items.len()),
        (2, 1)
    );
    assert_eq!(loaded.conversation.pruned_through_sequence, Some(1));
    assert_eq!(loaded.plan, Some(json!({"plan": []})));
    let recorded = CallRecord {
        frame: "".into(),
        ..call(1)
    };
    assert_eq!(store.calls(&id, 0, 9).unwrap()[0].1, recorded);
    assert_eq!(store.frame(&recorded.frame_digest).unwrap(), "the frame");
    let StartedTurn::Started(items) = writer.start_turn(&turn("t2")).unwrap() else {
        panic!()
    };
    assert_eq!(items[0].origin.sequence(), Some(3));
}

#[test]
fn d10_order_is_of_the_store_and_not_of_the_clock() {
    let (_dir, store, first) = open();
    for (n, created_ms) in [(1, 5000), (2, 10), (3, u64::MAX), (4, 0)] {
        let id = session(&format!("c{n}"));
        let about = json!({});
        let parent = Some(first.clone());
        store
            .create(&NewSession {
                id,
                created_ms,
                parent,
                about,
            })
            .unwrap();
    }
    let ids = |skip, limit| -> Vec<String> {
        let page = store.sessions(skip, limit).unwrap();
        page.into_iter().map(|s| s.session.id.to_string()).collect()
    };
    assert_eq!(ids(0, 9), ["c4", "c3", "c2", "c1", "s"]);
    assert_eq!(ids(1, 2), ["c3", "c2"]);
    assert_eq!(store.session(&session("c3")).unwrap().parent, Some(first));
}
