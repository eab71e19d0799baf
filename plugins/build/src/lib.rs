//! Builds crates of this workspace into components, for build scripts.
//!
//! A cargo of its own works in a target directory of its own, so it neither
//! waits for the outer one nor disturbs it, and its output is kept: what did
//! not change is not built again.

use sectile_manifest::{Manifest, embed};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";

/// Why a component was not built; for the eyes of whoever runs the build.
pub type BuildError = String;

/// Builds `packages` with cargo profile `profile` and gives their components,
/// in the same order. Tells the outer cargo to run again when `watched`
/// folders, relative to the workspace, change.
///
/// # Errors
/// What went wrong and what to do about it.
pub fn build(
    packages: &[&str],
    profile: &str,
    watched: &[&str],
) -> Result<Vec<PathBuf>, BuildError> {
    let workspace = workspace()?;
    for path in watched.iter().chain(&["Cargo.toml", "Cargo.lock"]) {
        println_cargo(&format!(
            "rerun-if-changed={}",
            workspace.join(path).display()
        ));
    }
    ensure_target()?;
    let target_dir = target_dir()?;
    let mut cargo = clean(&variable("CARGO")?);
    cargo
        .current_dir(&workspace)
        .env("RUSTC", rustc())
        .env("CARGO_ENCODED_RUSTFLAGS", flags(&workspace))
        // The outer cargo has just brought the lock file up to date.
        .args(["build", "--locked", "--target", TARGET])
        .args(["--profile", profile, "--target-dir"])
        .arg(&target_dir);
    for package in packages {
        cargo.args(["--package", package]);
    }
    run(&mut cargo, "build the WebAssembly components")?;
    let built = target_dir.join(TARGET).join(profile);
    Ok(packages
        .iter()
        .map(|package| built.join(format!("{}.wasm", package.replace('-', "_"))))
        .collect())
}

/// The component at `component` with the manifest at `plugin_toml` in it.
///
/// # Errors
/// What is wrong with either.
pub fn with_manifest(component: &Path, plugin_toml: &Path) -> Result<Vec<u8>, BuildError> {
    let text =
        fs::read_to_string(plugin_toml).map_err(|e| format!("{}: {e}", plugin_toml.display()))?;
    let manifest =
        Manifest::from_toml(&text).map_err(|e| format!("{}: {e}", plugin_toml.display()))?;
    let bytes = fs::read(component).map_err(|e| format!("{}: {e}", component.display()))?;
    embed(&bytes, &manifest).map_err(|e| format!("{}: {e}", component.display()))
}

/// The folder of the workspace: the nearest above the package being built with a lock file.
///
/// # Errors
/// When this is not a build script's process.
pub fn workspace() -> Result<PathBuf, BuildError> {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let found = package
        .ancestors()
        .find(|dir| dir.join("Cargo.lock").is_file());
    found
        .map(Path::to_owned)
        .ok_or_else(|| format!("no Cargo.lock in {} or above it", package.display()))
}

/// A folder beside the outer build's profiles, shared by all build scripts.
fn target_dir() -> Result<PathBuf, BuildError> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = out
        .ancestors()
        .nth(4)
        .ok_or_else(|| format!("OUT_DIR is {}", out.display()))?;
    Ok(target.join("components"))
}

/// Flags that keep the paths of this machine out of panic messages, so that
/// the same sources give the same bytes wherever they are built; and vectors,
/// which every host has and searching lives on.
fn flags(workspace: &Path) -> OsString {
    let cargo_home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let named = [
        cargo_home.map(|path| (path, "/cargo")),
        Some((workspace.to_owned(), "/workspace")),
    ];
    let mut flags = OsString::from("-Ctarget-feature=+simd128");
    for (path, name) in named.into_iter().flatten() {
        flags.push("\u{1f}--remap-path-prefix=");
        flags.push(path);
        flags.push(format!("={name}"));
    }
    flags
}

fn ensure_target() -> Result<(), BuildError> {
    let asked = clean(&rustc())
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let libdir = asked.map_err(|e| format!("rustc does not start: {e}"))?;
    if Path::new(String::from_utf8_lossy(&libdir.stdout).trim()).is_dir() {
        return Ok(());
    }
    let mut rustup = clean(&OsString::from("rustup"));
    run(rustup.args(["target", "add", TARGET]), "add the target").map_err(|why| {
        format!(
            "the Rust target {TARGET} is not installed, and adding it failed ({why}); \
             run `rustup target add {TARGET}`, or install it the way this compiler was installed"
        )
    })
}

/// The compiler of the outer build.
fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

fn variable(name: &str) -> Result<OsString, BuildError> {
    env::var_os(name).ok_or_else(|| format!("{name} is not set; this runs in build scripts only"))
}

/// A command without what the outer cargo says about the outer build.
fn clean(program: &OsString) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let outer = name.starts_with("CARGO")
            && name != "CARGO_HOME"
            && !name.starts_with("CARGO_NET")
            && !name.starts_with("CARGO_HTTP")
            && !name.starts_with("CARGO_REGISTR");
        let flags = [
            "RUSTFLAGS",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTDOCFLAGS",
            "TARGET",
            "HOST",
            "OUT_DIR",
            "PROFILE",
        ];
        if outer || flags.contains(&name.as_ref()) {
            command.env_remove(name.as_ref());
        }
    }
    command
}

fn run(command: &mut Command, what: &str) -> Result<(), BuildError> {
    let output = command
        .output()
        .map_err(|e| format!("cannot {what}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cannot {what}: {}\n{said}", output.status))
}

#[expect(clippy::print_stdout, reason = "how a build script talks to cargo")]
fn println_cargo(line: &str) {
    println!("cargo:{line}");
}
