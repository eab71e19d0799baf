//! Dependencies point one way: a new arrow between crates is a decision, and
//! this is where it is made.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};

/// What each crate may depend on, inside the workspace.
const ARROWS: &[(&str, &[&str])] = &[
    ("sectile-model", &[]),
    ("sectile-engine", &["sectile-model"]),
    ("sectile-prompt", &["sectile-model", "sectile-engine"]),
    ("sectile-chat", &["sectile-model"]),
    ("sectile-store", &["sectile-model"]),
    ("sectile-transport", &["sectile-model"]),
    ("sectile-manifest", &["sectile-model"]),
    ("sectile-sandbox", &["sectile-model"]),
    (
        "sectile-registry",
        &["sectile-model", "sectile-manifest", "sectile-sandbox"],
    ),
    (
        "sectile-session",
        &[
            "sectile-model",
            "sectile-engine",
            "sectile-prompt",
            "sectile-manifest",
            "sectile-sandbox",
            "sectile-registry",
            "sectile-chat",
            "sectile-store",
            "sectile-transport",
            "sectile-bundle",
        ],
    ),
    (
        "sectile-mcp",
        &[
            "sectile-model",
            "sectile-prompt",
            "sectile-sandbox",
            "sectile-session",
        ],
    ),
    (
        "sectile",
        &[
            "sectile-model",
            "sectile-engine",
            "sectile-manifest",
            "sectile-mcp",
            "sectile-prompt",
            "sectile-sandbox",
            "sectile-registry",
            "sectile-session",
            "sectile-store",
            "sectile-transport",
        ],
    ),
    ("sectile-bundle", &[]),
    ("sectile-plugin-build", &["sectile-manifest"]),
    ("sectile-sdk", &[]),
    ("sectile-wire", &["sectile-sdk"]),
    ("sectile-wire-testing", &["sectile-sdk"]),
    ("sectile-plugin-anthropic", &["sectile-sdk", "sectile-wire"]),
    ("sectile-plugin-project", &["sectile-sdk"]),
    ("sectile-plugin-skills", &["sectile-sdk"]),
    ("sectile-plugin-runtime", &["sectile-sdk"]),
    ("sectile-paths", &["sectile-sdk"]),
    ("sectile-plugin-files", &["sectile-sdk", "sectile-paths"]),
    ("sectile-plugin-edit", &["sectile-sdk", "sectile-paths"]),
    ("sectile-plugin-search", &["sectile-sdk", "sectile-paths"]),
    ("sectile-plugin-todo", &["sectile-sdk"]),
    (
        "sectile-plugin-openai-chat",
        &["sectile-sdk", "sectile-wire"],
    ),
    ("sectile-example-git-branch", &["sectile-sdk"]),
    ("sectile-test-guests", &[]),
    ("sectile-test-provider-guest", &["sectile-sdk"]),
    ("sectile-test-tool-guest", &["sectile-sdk"]),
    ("sectile-tests", &["sectile-manifest"]),
];

/// What the pure crates may not reach, not even through others (CE-1).
const IMPURE: [&str; 8] = [
    "tokio",
    "wasmtime",
    "rusqlite",
    "cap-std",
    "reqwest",
    "hyper",
    "rustix",
    "getrandom",
];
const PURE: [&str; 3] = ["sectile-model", "sectile-engine", "sectile-prompt"];

fn metadata() -> cargo_metadata::Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new()
        .manifest_path(manifest)
        .exec()
        .unwrap()
}

#[test]
fn every_arrow_between_crates_is_one_that_was_decided() {
    let metadata = metadata();
    let members: BTreeSet<_> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.to_string())
        .collect();
    let mut allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for package in metadata.workspace_packages() {
        let allowed = allowed
            .remove(package.name.as_str())
            .unwrap_or_else(|| panic!("{} has no place yet", package.name));
        let ours = package
            .dependencies
            .iter()
            .filter(|d| d.kind == DependencyKind::Normal && members.contains(&d.name));
        for dependency in ours {
            assert!(
                allowed.contains(&dependency.name.as_str()),
                "{} must not depend on {}",
                package.name,
                dependency.name
            );
        }
    }
    assert!(allowed.is_empty(), "these crates are gone: {allowed:?}");
}

#[test]
fn ce_1_the_pure_crates_reach_nothing_that_reads_waits_or_guesses() {
    let metadata = metadata();
    let resolve = metadata.resolve.as_ref().unwrap();
    let name = |id| metadata[id].name.to_string();
    for pure in PURE {
        let start = resolve
            .nodes
            .iter()
            .find(|node| name(&node.id) == pure)
            .unwrap();
        let (mut queue, mut seen) = (vec![&start.id], BTreeSet::new());
        while let Some(id) = queue.pop() {
            let node = resolve.nodes.iter().find(|node| &node.id == id).unwrap();
            for dependency in &node.deps {
                let is_normal = dependency
                    .dep_kinds
                    .iter()
                    .any(|kind| kind.kind == DependencyKind::Normal);
                if is_normal && seen.insert(name(&dependency.pkg)) {
                    queue.push(&dependency.pkg);
                }
            }
        }
        for impure in IMPURE {
            assert!(!seen.contains(impure), "{pure} reaches {impure}");
        }
    }
}
