//! Other processes: this test's own program, started again in a role.

use crate::{crash, faults, processes};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "SECTILE_STORE_TEST_ROLE";
const WORKSPACE: &str = "SECTILE_STORE_TEST_WORKSPACE";

/// What the other processes run; by itself it does nothing.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let workspace = std::env::var_os(WORKSPACE).unwrap();
    let workspace = Path::new(&workspace);
    match &*role {
        "everything" => crash::everything(workspace),
        "open" => processes::only_open(workspace),
        "share" => processes::share(workspace),
        "faulty" => faults::go_on_after_errors(workspace),
        "fill" => faults::fill_the_disk(workspace),
        "read only" => faults::read_what_cannot_be_written(workspace),
        "nothing there" => faults::open_where_nothing_can_be_made(workspace),
        other => panic!("no role {other}"),
    }
}

/// This program in `role`, behind `wrapper` and its arguments.
pub(crate) fn command(wrapper: &[&str], role: &str, workspace: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words = wrapper
        .iter()
        .map(std::ffi::OsStr::new)
        .chain([program.as_os_str()]);
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .args(["--exact", "child::child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(WORKSPACE, workspace)
        .stdout(Stdio::piped());
    command
}

/// Starts a process.
pub(crate) fn start(role: &str, workspace: &Path) -> Child {
    command(&[], role, workspace).spawn().unwrap()
}

/// Says something to the parent; when this returns, the parent can read it.
pub(crate) fn say(word: &str) {
    // The test's name stands on the same line before the first.
    let mut parent = io::stdout().lock();
    write!(parent, "\n@{word}\n").unwrap();
    parent.flush().unwrap();
}

/// What a process said, when it has ended.
pub(crate) fn said(child: &mut Child) -> Vec<String> {
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    // A word that a kill cut was not said.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let words = whole.lines().filter_map(|line| line.strip_prefix('@'));
    words.map(str::to_owned).collect()
}
