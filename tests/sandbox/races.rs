//! The world changes while a guest looks (F9).

use crate::{Access, Call, Capabilities, asking, attack, mount, text};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Swaps two names until told to stop, while a guest reads `path` 20 000 times;
/// gives everything the guest saw.
fn read_while_swapping(dir: &Path, a: &str, b: &str, path: &str) -> Vec<String> {
    let stop = AtomicBool::new(false);
    let call = Call {
        capabilities: Arc::new(Capabilities {
            directories: vec![mount(dir, Access::Read, &[])],
            ..Capabilities::default()
        }),
        limits: sectile_sandbox::Limits {
            time: std::time::Duration::from_secs(60),
            host_calls: u64::MAX,
            ..Default::default()
        },
        ..asking(path)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, dir.join(a), CWD, dir.join(b), RenameFlags::EXCHANGE).unwrap();
            }
        });
        let seen = text(attack("reopen", &call));
        stop.store(true, Ordering::Relaxed);
        seen.lines().map(str::to_owned).collect()
    })
}

#[test]
fn f9_a_file_swapped_for_a_link_never_shows_what_lies_outside() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("workspace");
    fs::create_dir(&dir).unwrap();
    fs::write(outer.path().join("canary"), "LEAKED").unwrap();
    fs::write(dir.join("file"), "inside").unwrap();
    symlink("../canary", dir.join("link")).unwrap();
    let seen = read_while_swapping(&dir, "file", "link", "file");
    assert!(seen.contains(&"inside".to_owned()), "{seen:?}");
    assert!(!seen.iter().any(|line| line.contains("LEAKED")), "{seen:?}");
}

#[test]
fn f9_a_directory_swapped_for_a_link_never_shows_what_lies_outside() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("workspace");
    fs::create_dir_all(dir.join("folder")).unwrap();
    fs::create_dir(outer.path().join("elsewhere")).unwrap();
    fs::write(outer.path().join("elsewhere/file"), "LEAKED").unwrap();
    fs::write(dir.join("folder/file"), "inside").unwrap();
    symlink("../elsewhere", dir.join("link")).unwrap();
    let seen = read_while_swapping(&dir, "folder", "link", "folder/file");
    assert!(seen.contains(&"inside".to_owned()), "{seen:?}");
    assert!(!seen.iter().any(|line| line.contains("LEAKED")), "{seen:?}");
}

#[test]
fn f12_a_denied_file_swapped_in_is_never_read() {
    let outer = tempfile::tempdir().unwrap();
    fs::create_dir(outer.path().join(".ssh")).unwrap();
    fs::create_dir(outer.path().join("folder")).unwrap();
    fs::write(outer.path().join(".ssh/file"), "LEAKED").unwrap();
    fs::write(outer.path().join("folder/file"), "inside").unwrap();
    symlink(".ssh", outer.path().join("link")).unwrap();
    let seen = read_while_swapping(outer.path(), "folder", "link", "folder/file");
    assert!(!seen.iter().any(|line| line.contains("LEAKED")), "{seen:?}");
}
