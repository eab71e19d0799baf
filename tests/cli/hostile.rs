//! Repositories and components that mean harm.

use crate::User;
use rustix::fs::{CWD, FileType, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

#[test]
fn s18_a_foreign_repository_runs_nothing_and_is_not_written_to() {
    let user = User::new();
    user.write(
        "evil.wasm",
        sectile_tests::attack_plugin("loop", "").unwrap(),
    );
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"acme/attacks\"\npath = \"evil.wasm\"\n",
    );
    user.write("sectile.lock", "");
    user.write(".sectile/grants.json", "{\"workspaces\": {}}");
    let before: Vec<_> = fs::read_dir(user.work())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    let ran = user.run(&["inspect"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let after: Vec<_> = fs::read_dir(user.work())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(before, after);
}

#[test]
fn s18_files_of_a_repository_that_are_no_files_are_errors_and_no_hangs() {
    let user = User::new();
    let path = user.work().join("sectile.toml");
    mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(
        user.run(&["inspect", "--json"])
            .error()
            .2
            .contains("not a regular file")
    );
    fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert_eq!(user.run(&["inspect", "--json"]).error().0, 1);
    fs::remove_file(&path).unwrap();
    for bad in [
        "profile = ",
        "profile = \"none\"",
        "unknown = 1",
        "[[plugin]]\nid = \"a/b\"\npath = \"../x\"",
    ] {
        user.write("sectile.toml", bad);
        assert_eq!(user.run(&["inspect", "--json"]).status, 1, "{bad}");
    }
    user.write("sectile.toml", "x".repeat(2 << 20));
    assert!(
        user.run(&["inspect", "--json"])
            .error()
            .2
            .contains("larger than")
    );
}

#[test]
fn s18_a_plugin_that_is_missing_linked_or_not_its_own_is_left_out_with_a_warning() {
    let user = User::new();
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"acme/attacks\"\npath = \"p.wasm\"\n",
    );
    assert!(user.run(&["inspect"]).stderr.contains("does not exist"));
    symlink("/etc/passwd", user.work().join("p.wasm")).unwrap();
    assert!(
        user.run(&["inspect"])
            .stderr
            .contains("a plugin is left out")
    );
    fs::remove_file(user.work().join("p.wasm")).unwrap();
    user.write("p.wasm", sectile_tests::ATTACKS);
    assert!(
        user.run(&["inspect"])
            .stderr
            .contains("carries no manifest")
    );
    user.write(
        "p.wasm",
        sectile_tests::plugin("acme/other", "a/b", "tag", "").unwrap(),
    );
    assert!(
        user.run(&["inspect"])
            .stderr
            .contains("its manifest says acme/other")
    );
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"sectile/fake\"\npath = \"p.wasm\"\n",
    );
    user.write(
        "p.wasm",
        sectile_tests::plugin("sectile/fake", "a/b", "tag", "").unwrap(),
    );
    assert!(
        user.run(&["inspect"])
            .stderr
            .contains("is for bundled plugins")
    );
}

fn run_component(user: &User, bytes: impl AsRef<[u8]>) -> (i32, String, String) {
    user.write("x.wasm", bytes);
    let path = user.work().join("x.wasm");
    user.run(&[
        "plugin",
        "run",
        "--json",
        "--component",
        path.to_str().unwrap(),
    ])
    .error()
}

fn with_manifest(wat: &str) -> Vec<u8> {
    let manifest = "[plugin]\nid = \"acme/x\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\ndescription = \"x\"\n\
                    [[section]]\nid = \"a/b\"\ntag = \"tag\"\nmax_tokens = 1\n";
    sectile_tests::with_manifest(&wat::parse_str(wat).unwrap(), manifest).unwrap()
}

#[test]
fn b8_b9_components_that_do_not_fit_say_why() {
    let user = User::new();
    assert_eq!(
        run_component(&user, wat::parse_str("(module)").unwrap()).1,
        "core_module"
    );
    assert_eq!(run_component(&user, b"not wasm").1, "not_a_component");
    assert_eq!(
        run_component(&user, sectile_tests::ATTACKS).1,
        "no_manifest"
    );
    assert_eq!(
        run_component(&user, with_manifest("(component)")).1,
        "missing_export"
    );
    let (status, code, message) = run_component(
        &user,
        with_manifest("(component (import \"wasi:sockets/tcp@0.2.0\" (instance)))"),
    );
    assert_eq!((status, code.as_str()), (4, "unknown_import"));
    assert!(message.contains("wasi:sockets/tcp@0.2.0"));
    let table = with_manifest("(component (core module (table 4000000 funcref)))");
    assert_eq!(run_component(&user, table).1, "compile_refused");
}

#[test]
fn pl_19_b1_a_compile_bomb_is_refused_in_bounded_time() {
    let user = User::new();
    let many = with_manifest(&format!(
        "(component (core module {}))",
        "(func)".repeat(100_000)
    ));
    assert_eq!(run_component(&user, many).1, "compile_refused");
    // Under every ceiling, and yet more than its compiler may take.
    let body = "(local i64 i64) ".to_owned()
        + &"(local.set 0 (i64.mul (local.get 0) (i64.add (local.get 1) (i64.const 12345))))"
            .repeat(400);
    let heavy = with_manifest(&format!(
        "(component (core module {}))",
        format!("(func {body})").repeat(1_500)
    ));
    user.write("heavy.wasm", &heavy);
    let started = Instant::now();
    let (status, code, _) = run_component(&user, &heavy);
    // On a machine fast enough to compile it in time, it is refused for want of a section instead.
    assert!(
        status == 4 && code == "compile_stopped" || code == "missing_export",
        "{code}"
    );
    assert!(started.elapsed() < Duration::from_secs(60));
}
