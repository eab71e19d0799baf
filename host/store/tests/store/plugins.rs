//! What plugins keep and did.

use sectile_model::{Digest, PluginId};
use sectile_store::{
    AuditFilter, AuditLog, AuditRow, PluginValues, QueuedAudit, SessionId, SqliteStore, StoreError,
};
use std::sync::Arc;
use tempfile::TempDir;

fn open() -> (TempDir, SqliteStore) {
    let workspace = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(workspace.path()).unwrap();
    (workspace, store)
}

fn plugin(id: &str) -> PluginId {
    id.parse().unwrap()
}

#[test]
fn a_plugin_finds_its_own_values_again_and_no_others() {
    let (dir, store) = open();
    let (a, b) = (plugin("x/a"), plugin("x/b"));
    let set = |plugin, key, value: &[u8]| store.set_value(plugin, key, value, 4096).unwrap();
    for (key, value) in [
        ("k", &b"1"[..]),
        ("k\0z", b"2"),
        ("ka", b"3"),
        ("é", b""),
        ("l", b"5"),
    ] {
        set(&a, key, value);
    }
    set(&b, "k", b"of b");
    set(&a, "k", b"\0\xff");
    store.remove_value(&a, "l").unwrap();
    store.remove_value(&a, "never there").unwrap();
    drop(store);
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(
        store.value(&a, "k").unwrap().as_deref(),
        Some(&b"\0\xff"[..])
    );
    assert_eq!(store.value(&b, "k").unwrap().as_deref(), Some(&b"of b"[..]));
    assert_eq!(store.value(&a, "é").unwrap().as_deref(), Some(&b""[..]));
    assert_eq!(store.value(&a, "l").unwrap(), None);
    assert_eq!(store.keys(&a, "").unwrap(), ["k", "k\0z", "ka", "é"]);
    assert_eq!(store.keys(&a, "k").unwrap(), ["k", "k\0z", "ka"]);
    assert_eq!(store.keys(&b, "ka").unwrap(), [""; 0]);
}

#[test]
fn f20_what_a_plugin_keeps_fits_its_quota_and_nothing_is_free() {
    let (_dir, store) = open();
    let a = plugin("x/a");
    let set = |key: &str, bytes: usize| {
        let set = store.set_value(&a, key, &vec![0; bytes], 1024);
        set.err().map(|e| e.code())
    };
    assert_eq!(set("k", 1024 - 64), Some("quota_exceeded"));
    assert_eq!(set("k", 1024 - 65), None);
    // Its own old value makes room for the new one.
    assert_eq!(set("k", 1024 - 65), None);
    assert_eq!(set("", 0), Some("quota_exceeded"));
    assert_eq!(store.value(&a, "k").unwrap().unwrap().len(), 1024 - 65);
    assert_eq!(set("k", 0), None);
    let more = (0..100).filter(|n| set(&format!("{n:02}"), 0).is_none());
    assert_eq!(more.count(), (1024 - 65) / 66);
    // A key is counted whole, whatever is in it.
    assert_eq!(
        set(&format!("k{}", "\0".repeat(200)), 0),
        Some("quota_exceeded")
    );
    assert!(store.set_value(&plugin("x/b"), "k", b"1", 1024).is_ok());
}

#[test]
fn pl_33_the_audit_log_is_read_by_plugin_and_session_in_its_order() {
    let (_dir, store) = open();
    let session = |id: &str| -> SessionId { id.parse().unwrap() };
    let row = |n: u64| AuditRow {
        // The clock goes back; the order stays (D10).
        time_ms: 1000 - n,
        plugin: plugin(["x/a", "x/b"][usize::try_from(n % 2).unwrap()]),
        digest: n.is_multiple_of(5).then(|| Digest::from_bytes([7; 32])),
        session: n.is_multiple_of(3).then(|| session("s")),
        what: format!("read file{n}"),
        outcome: "granted".to_owned(),
    };
    let rows: Vec<_> = (0..30).map(row).collect();
    store.record(&rows[..10]).unwrap();
    store.record(&rows[10..]).unwrap();
    for filter in [
        (None, None),
        (Some(plugin("x/a")), None),
        (None, Some(session("s"))),
        (Some(plugin("x/b")), Some(session("s"))),
        (Some(plugin("x/c")), None),
    ] {
        let (plugin, session) = filter;
        let holds = |row: &&AuditRow| {
            plugin.as_ref().is_none_or(|p| row.plugin == *p)
                && (session.is_none() || row.session == session)
        };
        let expected: Vec<_> = rows.iter().filter(holds).cloned().collect();
        let filter = AuditFilter {
            plugin: plugin.clone(),
            session: session.clone(),
        };
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = store.audit(&filter, after, 4).unwrap();
            let Some((last, _)) = page.last() else { break };
            assert!(page.len() <= 4 && *last > after);
            after = *last;
            found.extend(page.into_iter().map(|(_, row)| row));
        }
        assert_eq!(found, expected);
    }
}

fn numbered(n: u64) -> AuditRow {
    AuditRow {
        time_ms: 0,
        plugin: plugin("x/a"),
        digest: None,
        session: None,
        what: format!("call {n}"),
        outcome: "ok".to_owned(),
    }
}

#[test]
fn pl_33_rows_that_wait_are_written_in_their_order_before_they_are_read_or_dropped() {
    let (_dir, store) = open();
    let store = Arc::new(store);
    let queue = QueuedAudit::new(Arc::clone(&store) as Arc<dyn AuditLog>);
    let all = AuditFilter::default();
    let written = |log: &dyn AuditLog| -> Vec<AuditRow> {
        let rows = log.audit(&all, 0, 10_000).unwrap();
        rows.into_iter().map(|(_, row)| row).collect()
    };
    let rows: Vec<_> = (0..3_000).map(numbered).collect();
    for row in &rows[..2_000] {
        queue.record(std::slice::from_ref(row)).unwrap();
    }
    assert_eq!(written(&queue), rows[..2_000]);
    for row in &rows[2_000..] {
        queue.record(std::slice::from_ref(row)).unwrap();
    }
    drop(queue);
    assert_eq!(written(&*store), rows);
}

#[test]
fn pl_33_that_rows_were_not_written_is_said_with_the_next() {
    struct Full;
    impl AuditLog for Full {
        fn record(&self, _: &[AuditRow]) -> Result<(), StoreError> {
            Err(StoreError::Full { path: "x".into() })
        }

        fn audit(
            &self,
            _: &AuditFilter,
            _: u64,
            _: u64,
        ) -> Result<Vec<(u64, AuditRow)>, StoreError> {
            Ok(Vec::new())
        }
    }
    let queue = QueuedAudit::new(Arc::new(Full));
    let first = queue.record(&[numbered(1)]);
    // Whoever reads waits for the writer, and is told instead of the next call.
    let mut told = first
        .err()
        .or(queue.audit(&AuditFilter::default(), 0, 1).err());
    told = told.or(queue.record(&[numbered(2)]).err());
    assert_eq!(told.map(|error| error.code()), Some("store_full"));
}
