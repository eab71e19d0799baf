//! Components for tests: the attacks of `tests/guests`, with and without a manifest.

pub mod provider;

use sectile_manifest::{EmbedError, Manifest, embed};

/// The component whose sections are attacks; it carries no manifest.
pub const ATTACKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sectile-test-guests.wasm"));

/// An adapter of a provider that misbehaves; it carries no manifest.
pub const HOSTILE_PROVIDER: &[u8] = include_bytes!(concat!(
    env!("OUT_DIR"),
    "/sectile-test-provider-guest.wasm"
));

/// Tools that are attacks; it carries no manifest.
pub const TOOLS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sectile-test-tool-guest.wasm"));

/// The component of `examples/git-branch`; it carries no manifest yet.
pub const GIT_BRANCH: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/sectile-example-git-branch.wasm"));

/// A plugin `acme/attacks` that renders the attack `name` as its one section,
/// with `more` of a manifest behind it.
///
/// # Errors
/// [`EmbedError`] when `more` does not fit the rest.
pub fn attack_plugin(name: &str, more: &str) -> Result<Vec<u8>, EmbedError> {
    plugin("acme/attacks", &format!("attack/{name}"), "attack", more)
}

/// The attacks as the plugin `id` with one section.
///
/// # Errors
/// [`EmbedError`] when the manifest breaks a rule.
pub fn plugin(id: &str, section: &str, tag: &str, more: &str) -> Result<Vec<u8>, EmbedError> {
    let toml = format!(
        "[plugin]\nid = \"{id}\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\ndescription = \"An attack\"\n\n\
         [[section]]\nid = \"{section}\"\ntag = \"{tag}\"\nmax_tokens = 10000\n\n{more}"
    );
    with_manifest(ATTACKS, &toml)
}

/// The names of the tools of [`TOOLS`].
pub const TOOL_NAMES: [&str; 10] = [
    "echo", "spin", "big", "print", "count", "lie", "advance", "peek", "trap", "decline",
];

/// The tools as the plugin `id`, with the tools `names` in its manifest and `more`
/// behind it.
///
/// # Errors
/// [`EmbedError`] when the manifest breaks a rule.
pub fn tool_plugin(id: &str, names: &[&str], more: &str) -> Result<Vec<u8>, EmbedError> {
    let named = |name: &&str| format!("[[tool]]\nname = \"{name}\"\n");
    let tools: String = names.iter().map(named).collect();
    let toml = format!(
        "[plugin]\nid = \"{id}\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\ndescription = \"Tools\"\n\n\
         {tools}\n[capability]\nkv = \"4KiB\"\n\n{more}"
    );
    with_manifest(TOOLS, &toml)
}

/// `component` with the manifest that `toml` says.
///
/// # Errors
/// [`EmbedError`].
pub fn with_manifest(component: &[u8], toml: &str) -> Result<Vec<u8>, EmbedError> {
    embed(component, &Manifest::from_toml(toml)?)
}
