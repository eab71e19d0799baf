//! The program as people use it: real workspaces, real components, real files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skips"
)]

mod deferred;
mod documents;
mod hostile;
mod instructions;
mod mcp;
mod mcp_http;
mod model_server;
mod newcomer;
mod survival;
mod third_party;
mod tools;
mod turns;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A user with a home directory and a workspace. Compiled plugins are shared by
/// all tests, as they are by all workspaces of a user.
struct User {
    dir: tempfile::TempDir,
}

struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

impl User {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home")).unwrap();
        fs::create_dir_all(dir.path().join("work")).unwrap();
        Self { dir }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work").canonicalize().unwrap()
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_sectile"));
        command
            .args(args)
            .current_dir(self.work())
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join(".config"))
            .env("XDG_DATA_HOME", shared.join("data"))
            .env("XDG_CACHE_HOME", shared.join("cache"))
            .env("NO_COLOR", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], stdin: &str) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input closes the pipe; that is its right.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The parts of `inspect` but its tools, by name.
    fn parts(&self) -> Vec<String> {
        let inspected = self.run(&["inspect", "--json"]).json();
        inspected["parts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|p| p["region"] != "tool")
            .map(|p| p["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Ran {
    fn json(&self) -> Value {
        assert_eq!(self.status, 0, "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Status, code and message of a run that failed with `--json`.
    fn error(&self) -> (i32, String, String) {
        let error: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|_| panic!("{}{}", self.stdout, self.stderr));
        let text = |key: &str| error["error"][key].as_str().unwrap().to_owned();
        (self.status, text("code"), text("message"))
    }
}
