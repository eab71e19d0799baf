//! Disks that fail, are full, or cannot be written. The faults need tools of the
//! system; where one is missing, its test says so and ends.

use crate::child::{command, said, say};
use crate::common::{message, open, run, turn};
use sectile_model::Role;
use sectile_store::{
    Append, NewMessage, NewSession, SessionId, SessionStore, SessionWriter, SqliteStore,
    StoreError, TurnId,
};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

fn id() -> SessionId {
    "s".parse().unwrap()
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).output();
    let works = status.is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: `{program}` does not work here");
    }
    works
}

/// Appends answers one by one, goes on after errors, and says what became of each.
pub(crate) fn go_on_after_errors(workspace: &Path) {
    let store = match SqliteStore::open(workspace) {
        Ok(store) => store,
        Err(error) => return say(&format!("failed {}", error.code())),
    };
    let writer = store.lease(&id()).unwrap();
    for n in 0..20 {
        match answer(&*writer, &format!("n{n}"), 10) {
            Ok(()) => say(&format!("stored n{n}")),
            Err(error) => say(&format!("failed {}", error.code())),
        }
    }
}

fn answer(writer: &dyn SessionWriter, id: &str, bytes: usize) -> Result<(), StoreError> {
    let turn: TurnId = "t".parse().unwrap();
    let text = sectile_model::BlockKind::Text {
        text: "a".repeat(bytes),
    };
    let answer = NewMessage {
        message: std::sync::Arc::new(sectile_model::Message {
            role: Role::Assistant,
            content: vec![text.into()],
        }),
        ..message(id, Role::Assistant)
    };
    let messages = vec![answer];
    writer.append(
        &turn,
        &Append {
            messages,
            ..Append::default()
        },
    )?;
    Ok(())
}

/// The ids of the answers that are stored, which are without a gap.
fn stored(store: &SqliteStore) -> Vec<String> {
    assert_eq!(store.check().unwrap(), None);
    let messages = store.messages(&id(), 1, u64::MAX, u64::MAX).unwrap();
    for (sequence, message) in (2..).zip(&messages) {
        assert_eq!(message.item.origin.sequence(), Some(sequence));
    }
    let ids = messages
        .iter()
        .map(|m| m.item.origin.message_id().unwrap().to_owned());
    ids.collect()
}

fn acknowledged(words: &[String]) -> Vec<&str> {
    let stored = words.iter().filter_map(|word| word.strip_prefix("stored "));
    stored.collect()
}

#[test]
fn d3_what_the_disk_did_not_take_is_not_acknowledged() {
    if !works("strace", &["-f", "-o", "/dev/null", "true"]) {
        return;
    }
    let mut failures = 0;
    for n in 1..=12 {
        for fault in [format!("when={n}"), format!("when={n}+3")] {
            let (dir, store, id) = open();
            store.lease(&id).unwrap().start_turn(&turn("t")).unwrap();
            drop(store);
            let fault = format!("inject=fsync,fdatasync:error=EIO:{fault}");
            let strace = [
                "strace",
                "-f",
                "-o",
                "/dev/null",
                "-e",
                "trace=fsync,fdatasync",
                "-e",
                &fault,
            ];
            let mut child = command(&strace, "faulty", dir.path()).spawn().unwrap();
            let words = said(&mut child);
            assert!(child.wait().unwrap().success(), "{fault}: {words:?}");
            let store = SqliteStore::open(dir.path()).unwrap();
            assert_eq!(stored(&store), acknowledged(&words), "{fault}");
            let codes = words.iter().filter_map(|word| word.strip_prefix("failed "));
            for code in codes {
                assert_eq!(code, "store_io", "{fault}");
                failures += 1;
            }
        }
    }
    assert!(failures > 50, "only {failures} failures");
}

/// Writes until the disk is full, and goes on when there is room again.
pub(crate) fn fill_the_disk(workspace: &Path) {
    let ballast = workspace.join("ballast");
    fs::write(&ballast, vec![0; 64 << 10]).unwrap();
    let store = match SqliteStore::open(workspace) {
        Ok(store) => store,
        Err(error) => return say(&format!("failed {}", error.code())),
    };
    let filled = fill(&store);
    if let Err(error) = &filled {
        say(&format!("failed {}", error.code()));
    }
    fs::remove_file(&ballast).unwrap();
    if store.session(&id()).is_err() {
        return;
    }
    let before = stored(&store);
    let writer = store.lease(&id()).unwrap();
    let _ = writer.start_turn(&turn("t")).unwrap();
    answer(&*writer, "after", 100).unwrap();
    drop((writer, store));
    let store = SqliteStore::open(workspace).unwrap();
    assert_eq!(stored(&store), [before, vec!["after".to_owned()]].concat());
    say("went on");
}

fn fill(store: &SqliteStore) -> Result<(), StoreError> {
    store.create(&NewSession {
        id: id(),
        created_ms: 0,
        parent: None,
        about: json!({}),
    })?;
    let writer = store.lease(&id())?;
    writer.start_turn(&turn("t"))?;
    let mut acknowledged = Vec::new();
    for n in 0.. {
        let answered = answer(&*writer, &format!("n{n}"), 5000);
        assert_eq!(answered.is_ok(), stored(store).len() > acknowledged.len());
        answered?;
        acknowledged.push(n);
    }
    Ok(())
}

#[test]
fn d4_a_full_disk_is_said_and_the_store_goes_on_when_there_is_room() {
    if !works("unshare", &["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]) {
        return;
    }
    let workspace = tempfile::tempdir().unwrap();
    let (mut full, mut went_on) = (0, 0);
    for kib in (160..420).step_by(12) {
        let script = format!(
            "mount -t tmpfs -o size={kib}k tmpfs {} && exec \"$0\" \"$@\"",
            workspace.path().display()
        );
        let wrapper = ["unshare", "-rm", "sh", "-c", &script];
        let mut child = command(&wrapper, "fill", workspace.path()).spawn().unwrap();
        let words = said(&mut child);
        assert!(child.wait().unwrap().success(), "{kib} KiB: {words:?}");
        for word in &words {
            match &**word {
                "failed store_full" => full += 1,
                // The index of the readers is a file of its own.
                "failed store_io" => {}
                "went on" => went_on += 1,
                other => panic!("{kib} KiB: {other}"),
            }
        }
    }
    assert!(full > 10 && went_on > 10, "{full} {went_on}");
}

pub(crate) fn read_what_cannot_be_written(workspace: &Path) {
    let store = SqliteStore::open(workspace).unwrap();
    let code = |result: Result<(), StoreError>| result.err().map_or("stored", |e| e.code());
    say(&format!(
        "sequence {}",
        store.load(&id()).unwrap().last_sequence
    ));
    let session = NewSession {
        id: "new".parse().unwrap(),
        created_ms: 0,
        parent: None,
        about: json!({}),
    };
    say(code(store.create(&session)));
    say(code(store.lease(&id()).map(drop)));
}

pub(crate) fn open_where_nothing_can_be_made(workspace: &Path) {
    assert!(SqliteStore::open_existing(workspace).unwrap().is_none());
    let error = SqliteStore::open(workspace).err().unwrap();
    say(error.code());
}

/// Has a shell see `path` as it is on a disk that cannot be written.
fn remount(path: &Path) -> String {
    let path = path.display();
    format!("mount --bind {path} {path} && mount -o remount,bind,ro {path}")
}

/// What a process in `role` says that cannot write below `workspace`.
fn read_only(role: &str, workspace: &Path) -> Vec<String> {
    let script = format!("{} && exec \"$0\" \"$@\"", remount(workspace));
    let wrapper = ["unshare", "-rm", "sh", "-c", &script];
    let mut child = command(&wrapper, role, workspace).spawn().unwrap();
    let words = said(&mut child);
    assert!(child.wait().unwrap().success(), "{words:?}");
    words
}

#[test]
fn d11_what_cannot_be_written_is_read() {
    let empty = tempfile::tempdir().unwrap();
    if !works("unshare", &["-rm", "sh", "-c", &remount(empty.path())]) {
        return;
    }
    let refused = |sequence: u64| {
        let sequence = format!("sequence {sequence}");
        vec![
            sequence,
            "store_read_only".to_owned(),
            "store_read_only".to_owned(),
        ]
    };
    let (dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    // While somebody else writes, there are changes beside the file.
    assert_eq!(read_only("read only", dir.path()), refused(2));
    run(&*writer, "b");
    assert_eq!(read_only("read only", dir.path()), refused(4));
    drop((writer, store));
    assert_eq!(read_only("read only", dir.path()), refused(4));
    assert_eq!(
        read_only("nothing there", empty.path()),
        ["store_read_only"]
    );
}
