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
    let unknown = Manifest::from_toml(&FULL.replace("clock = true", "clok = true")).unwrap_err();
    assert!(unknown.to_string().contains("line 36"), "{unknown}");
}

#[test]
fn duplicate_sections_are_refused() {
    let section = "\n[[section]]\nid = \"acme/other\"\ntag = \"git_status\"\nmax_tokens = 1\n";
    let error = Manifest::from_toml(&format!("{FULL}{section}")).unwrap_err();
    assert!(
        error.to_string().contains("two sections have this tag"),
        "{error}"
    );
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
