//! Builds the bundled plugins and puts their manifests into them.

use sectile_plugin_build::{build, with_manifest, workspace};
use std::path::PathBuf;
use std::{env, fs};

const PLUGINS: [&str; 9] = [
    "project",
    "skills",
    "runtime",
    "files",
    "edit",
    "search",
    "todo",
    "anthropic",
    "openai-chat",
];

fn main() -> Result<(), String> {
    let packages = PLUGINS.map(|name| format!("sectile-plugin-{name}"));
    let packages: Vec<_> = packages.iter().map(String::as_str).collect();
    let watched = [
        "plugins/project",
        "plugins/skills",
        "plugins/runtime",
        "plugins/files",
        "plugins/edit",
        "plugins/search",
        "plugins/todo",
        "plugins/paths",
        "plugins/anthropic",
        "plugins/openai-chat",
        "plugins/wire",
        "sdk/rust",
        "wit",
    ];
    let components = build(&packages, "plugin", &watched)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (name, component) in PLUGINS.iter().zip(components) {
        let bytes = with_manifest(
            &component,
            &workspace()?.join("plugins").join(name).join("plugin.toml"),
        )?;
        let file = out.join(format!("{name}.wasm"));
        fs::write(&file, bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}
