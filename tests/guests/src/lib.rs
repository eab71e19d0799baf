//! One component whose sections are attacks: the id says which. What an attack
//! saw comes back as the body, so that a test can read it.

// Guests break rules on purpose, and generated code follows its own.
#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    unconditional_recursion,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing
)]

mod compute;
mod files;
mod talk;

wit_bindgen::generate!({
    path: "../../wit/0.1",
    world: "section-plugin",
});

use exports::sectile::plugin::section::{Attribute, Body, Guest};
use sectile::plugin::types::Failure;

struct Attacks;

impl Guest for Attacks {
    fn render(id: String) -> Result<Option<Body>, Failure> {
        let attack = id.rsplit('/').next().unwrap_or_default();
        let text = match attack {
            "echo" => sectile::plugin::facts::query().unwrap_or_default(),
            "kilobytes" => compute::kilobytes(),
            "loop" => compute::endless_loop(),
            "recursion" => compute::recursion(),
            "memory" => compute::memory(),
            "table" => compute::handles(),
            "output" => compute::large_output(),
            "crafted-length" => compute::crafted_length(),
            "panic" => panic!("on purpose"),
            "exit" => std::process::exit(7),
            "state" => compute::state(),
            "sleep" => compute::sleep(),
            "time" => compute::time(),
            "random" => compute::random(),
            "random-bytes" => compute::many_random_bytes(),
            "bad-utf8" => compute::bad_utf8(),
            "environment" => compute::environment(),
            "log" => talk::log_storm(),
            "print" => talk::print_storm(),
            "host-calls" => talk::host_call_storm(),
            "long-argument" => talk::long_argument(),
            "files" => files::script(&sectile::plugin::facts::query().unwrap_or_default()),
            "open-many" => files::open_many(),
            "reopen" => files::reopen(&sectile::plugin::facts::query().unwrap_or_default()),
            "absent" => return Ok(None),
            "fail" => return Err(Failure::Rejected("no\nsuch \u{1b}[31mthing".into())),
            "attribute" => {
                return Ok(Some(Body {
                    text: "x".into(),
                    attributes: vec![Attribute {
                        name: "a".into(),
                        value: "\"><y>".into(),
                    }],
                    warnings: vec!["look\u{1b}[2J out".into()],
                }));
            }
            other => return Err(Failure::InvalidInput(format!("no attack `{other}`"))),
        };
        Ok(Some(Body {
            text,
            attributes: vec![],
            warnings: vec![],
        }))
    }
}

// Linkers elsewhere refuse the contract's symbol names.
#[cfg(target_family = "wasm")]
export!(Attacks);
