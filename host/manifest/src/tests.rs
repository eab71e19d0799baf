//! Manifests that hold and manifests that do not.

use crate::{EmbedError, Manifest, embed, extract};
use proptest::prelude::*;

const FULL: &str = r#"
[plugin]
id = "acme/git-status"
version = "1.2.0"
contract = "0.1"
description = "Says what changed"
license = "MIT"

[[section]]
id = "acme/git-status"
tag = "git_status"
placement = "world-state"
max_tokens = 2000
notices.en = { replaced = "New status follows.", expired = "The status no longer holds." }

[[capability.filesystem]]
mount = "/workspace"
source = "workspace"
access = "read"
paths = ["**/*.md"]
reason = "reads the changelog"

[[capability.network]]
host = "api.example.com"
reason = "asks for issues"

[[capability.secret]]
name = "token"
header = "Authorization"
format = "Bearer {}"
host = "api.example.com"
reason = "to be let in"

[capability]
environment = ["LANG"]
clock = true
random = true
kv = "1MiB"

[limits]
memory = "64MiB"
time = "2s"
output = "256KiB"
"#;

fn component() -> Vec<u8> {
    wat::parse_str("(component (core module (func)))").unwrap()
}

#[test]
fn pl_1_a_manifest_survives_the_way_into_a_component_and_out() {
    let manifest = Manifest::from_toml(FULL).unwrap();
    let with = embed(&component(), &manifest).unwrap();
    assert_eq!(extract(&with), Ok(manifest.clone()));
    assert_eq!(embed(&with, &manifest), Err(EmbedError::TwoManifests));
    assert_eq!(extract(&component()), Err(EmbedError::NoManifest));
}

#[test]
fn b9_core_modules_and_other_bytes_are_told_apart() {
    let manifest = Manifest::from_toml(FULL).unwrap();
    let module = wat::parse_str("(module)").unwrap();
    assert_eq!(embed(&module, &manifest), Err(EmbedError::CoreModule));
    assert_eq!(extract(&module), Err(EmbedError::CoreModule));
    let with = embed(&component(), &manifest).unwrap();
    for cut in [0, 4, 9, with.len() / 2, with.len() - 1] {
        assert!(
            matches!(extract(&with[..cut]), Err(EmbedError::NotAComponent(_))),
            "{cut}"
        );
    }
}

#[test]
fn a_nested_components_manifest_does_not_count() {
    let manifest = Manifest::from_toml(FULL).unwrap();
    let inner = embed(&component(), &manifest).unwrap();
    let mut outer = wasm_encoder::Component::new();
    outer.section(&wasm_encoder::RawSection {
        id: 4,
        data: &inner,
    });
    assert_eq!(extract(&outer.finish()), Err(EmbedError::NoManifest));
}

#[test]
fn broken_rules_are_named_with_their_place() {
    for (from, to, says) in [
        ("clock = true", "clok = true", "unknown field `clok`"),
        ("64MiB", "64MB", "not a size"),
        ("\"2s\"", "\"2 minutes\"", "not a time"),
        ("acme/git-status\"\nversion", "acme\"\nversion", "plugin id"),
        ("1.2.0", "1.2", "version"),
        (
            "contract = \"0.1\"",
            "contract = \"0.9\"",
            "speaks contract 0.1",
        ),
        ("tag = \"git_status\"", "tag = \"Git\"", "tag"),
        (
            "paths = [\"**/*.md\"]",
            "paths = [\"[\"]",
            "not a path pattern",
        ),
        (
            "paths = [\"**/*.md\"]",
            "paths = [\"../*\"]",
            "not a path pattern",
        ),
        (
            "host = \"api.example.com\"\nreason = \"asks",
            "host = \"https://x\"\nreason = \"asks",
            "not a host",
        ),
        (
            "host = \"api.example.com\"\nreason = \"to",
            "host = \"*.example.com\"\nreason = \"to",
            "not a host",
        ),
        ("Bearer {}", "Bearer", "one `{}`"),
        ("Authorization", "A: b\\r\\nX", "not the name of a header"),
        ("[\"LANG\"]", "[\"A=B\"]", "environment variable"),
        ("asks for issues", " ", "one line"),
        ("notices.en", "notices.\"e n\"", "a locale is"),
        ("New status follows.", "a\\nb", "exactly one line"),
        ("max_tokens = 2000", "max_tokens = 0", "at least 1"),
        (
            "placement = \"world-state\"",
            "placement = \"system\"",
            "`cache` goes with",
        ),
        (
            "mount = \"/workspace\"",
            "mount = \"/a/../b\"",
            "absolute path",
        ),
        ("source = \"workspace\"", "source = \"home\"", "no source"),
        ("Says what changed", "a\\nb", "one line"),
        ("reason = \"reads the changelog\"", "", "reason"),
    ] {
        assert!(FULL.contains(from), "{from}");
        let error = Manifest::from_toml(&FULL.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{from} -> {to}: {error}");
    }
}

#[test]
fn every_mistake_has_its_line_and_column() {
    let second = |id: &str, tag: &str| {
        format!("{FULL}\n[[section]]\nid = \"{id}\"\ntag = \"{tag}\"\nmax_tokens = 1\n")
    };
    let mount = "\n[[capability.filesystem]]\nmount = \"/workspace/x\"\nsource = \"data\"\n\
                 access = \"list\"\nreason = \"r\"\n\n[[capability.network]]";
    for (text, says, place) in [
        (
            FULL.replace("clock = true", "clok = true"),
            "unknown field `clok`",
            "line 36, column 1",
        ),
        (
            FULL.replace("**/*.md", "["),
            "not a path pattern",
            "line 20, column",
        ),
        (
            FULL.replace("64MiB", "64MB"),
            "not a size",
            "line 41, column",
        ),
        (
            second("acme/git-status", "other"),
            "two sections have this id",
            "line 46, column 6",
        ),
        (
            second("acme/other", "git_status"),
            "two sections have this tag",
            "line 47, column 7",
        ),
        (
            FULL.replace("\"world-state\"", "\"system\""),
            "`cache` goes with",
            "line 9, column 1",
        ),
        (
            FULL.replacen("\n[[capability.network]]", mount, 1),
            "one mount lies in another",
            "line 24, column 9",
        ),
    ] {
        let error = Manifest::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
        assert!(error.contains(place), "{place}: {error}");
    }
}

#[test]
fn hosts_are_names_or_a_star_before_one() {
    let with = |host: &str| {
        Manifest::from_toml(&FULL.replacen("\"api.example.com\"", &format!("{host:?}"), 1))
    };
    for host in ["localhost", "api.example.com", "*.example.com", "10.0.0.1"] {
        assert!(with(host).is_ok(), "{host}");
    }
    for host in [
        "",
        "*",
        "*.",
        "a..b",
        ".a",
        "a.",
        "-a.com",
        "a-.com",
        "A.com",
        "a.*.com",
        "*a.com",
        "a.com:443",
        "a.com/x",
        "user@a.com",
        "ex\u{e4}mple.com",
    ] {
        assert!(with(host).is_err(), "{host}");
    }
}

#[test]
fn a_message_about_a_manifest_cannot_steer_a_terminal() {
    let json = b"{\"plugin\": {}, \"\\u001b[2J\": 1}";
    let said = Manifest::from_json(json).unwrap_err().to_string();
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let toml = Manifest::from_toml("a = \"\u{1b}[2J\"").unwrap_err();
    assert!(!toml.to_string().contains('\u{1b}'), "{toml:?}");
}

proptest! {
    #[test]
    fn b13_any_bytes_are_an_error_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(extract(&bytes).is_err());
    }

    #[test]
    fn b13_a_component_with_a_changed_byte_never_panics(at in 0usize..1500, byte in any::<u8>()) {
        let mut with = embed(&component(), &Manifest::from_toml(FULL).unwrap()).unwrap();
        if let Some(place) = with.get_mut(at) {
            *place = byte;
        }
        let _ = extract(&with);
    }
}
