//! Hostile guests in the real sandbox. Tests are named after the rows of the
//! attack catalogue that they stand for.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod binaries;
mod capabilities;
mod computation;
mod concurrency;
mod files;
mod providers;
mod races;
mod tools;

use sectile_sandbox::{
    Access, Call, Capabilities, CompileLimits, Compiler, DenyList, Facts, GrantedDirectory,
    Imports, LimitKind, Mount, Outcome, PathRules, Sandbox, SandboxConfig, SandboxError,
    SectionBody, SectionPlugin,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};

fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let config = SandboxConfig {
            compiler: Compiler::InProcess,
            cache: None,
            compile_limits: CompileLimits::default(),
        };
        Sandbox::new(config).unwrap().0
    })
}

fn guest() -> SectionPlugin {
    static GUEST: OnceLock<SectionPlugin> = OnceLock::new();
    let load = || {
        sandbox()
            .load(sectile_tests::ATTACKS, Imports::default())
            .unwrap()
            .plugin
            .section()
            .unwrap()
    };
    GUEST.get_or_init(load).clone()
}

fn attack(name: &str, call: &Call) -> Outcome<Option<SectionBody>> {
    guest().render(&format!("attack/{name}"), call)
}

fn text(outcome: Outcome<Option<SectionBody>>) -> String {
    outcome.result.unwrap().expect("the section is there").text
}

fn exceeded(outcome: &Outcome<Option<SectionBody>>) -> LimitKind {
    match &outcome.result {
        Err(SandboxError::LimitExceeded { which, .. }) => *which,
        other => panic!("{other:?}"),
    }
}

fn asking(query: &str) -> Call {
    Call {
        facts: Arc::new(Facts {
            query: Some(query.to_owned()),
            ..Facts::default()
        }),
        ..Call::default()
    }
}

fn mount(path: &Path, access: Access, allow: &[&str]) -> GrantedDirectory {
    let allow: Vec<_> = allow.iter().map(|glob| (*glob).to_owned()).collect();
    let rules = PathRules::new(access, &allow, DenyList::built_in(&[]).unwrap()).unwrap();
    GrantedDirectory::Open(Arc::new(
        Mount::open("workspace", "/workspace", path, rules).unwrap(),
    ))
}

/// Runs a script of file operations (see `tests/guests/src/files.rs`) in `directories`.
fn script(directories: Vec<GrantedDirectory>, lines: &str) -> Outcome<Option<SectionBody>> {
    let call = Call {
        capabilities: Arc::new(Capabilities {
            directories,
            ..Capabilities::default()
        }),
        ..asking(lines)
    };
    attack("files", &call)
}

/// The outcomes of a script, line by line.
fn outcomes(directories: Vec<GrantedDirectory>, lines: &str) -> Vec<String> {
    let text = text(script(directories, lines));
    let outcome = |line: &str| {
        line.split_once(" => ")
            .map_or(line, |(_, outcome)| outcome)
            .to_owned()
    };
    text.lines().map(outcome).collect()
}
