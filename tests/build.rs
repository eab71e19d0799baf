//! Builds the hostile guests and the examples.

use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), String> {
    let packages = [
        "sectile-test-guests",
        "sectile-test-provider-guest",
        "sectile-test-tool-guest",
        "sectile-example-git-branch",
    ];
    let built = sectile_plugin_build::build(
        &packages,
        "plugin",
        &[
            "tests/guests",
            "tests/provider-guest",
            "tests/tool-guest",
            "examples",
            "sdk/rust",
            "wit",
        ],
    )?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (package, component) in packages.iter().zip(built) {
        let copy = out.join(format!("{package}.wasm"));
        fs::copy(&component, copy).map_err(|e| format!("{}: {e}", component.display()))?;
    }
    Ok(())
}
