//! Components that are not what they should be (rows B).

use crate::sandbox;
use sectile_sandbox::{
    CacheLocation, CompileLimits, Compiler, Imports, Sandbox, SandboxConfig, SandboxError,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn load(bytes: &[u8]) -> SandboxError {
    match sandbox().load(bytes, Imports::default()) {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error,
    }
}

fn load_wat(text: &str) -> SandboxError {
    load(&wat::parse_str(text).unwrap())
}

#[test]
fn b8_an_unknown_import_is_named() {
    let error = load_wat("(component (import \"acme:secrets/all@1.0.0\" (instance)))");
    assert_eq!(
        error,
        SandboxError::UnknownImport {
            name: "acme:secrets/all@1.0.0".into()
        }
    );
}

#[test]
fn x9_b8_network_interfaces_are_unknown_imports() {
    for import in ["wasi:sockets/tcp@0.2.0", "wasi:http/outgoing-handler@0.2.0"] {
        let error = load_wat(&format!("(component (import \"{import}\" (instance)))"));
        assert_eq!(error.code(), "unknown_import", "{import}");
    }
}

#[test]
fn pl_2_values_are_imported_only_where_they_are_granted() {
    let error = load_wat("(component (import \"sectile:plugin/kv@0.1.0\" (instance)))");
    assert_eq!(error.code(), "import_not_granted");
}

#[test]
fn b8_a_known_import_with_other_types_does_not_fit() {
    let error = load_wat(
        "(component (import \"sectile:plugin/host@0.1.0\" (instance (export \"config\" (func (result u32))))))",
    );
    assert_eq!(error.code(), "incompatible_import");
}

#[test]
fn b9_a_module_and_a_component_without_sections_are_told_apart() {
    assert_eq!(load_wat("(module)"), SandboxError::CoreModule);
    let empty = sandbox()
        .load(&wat::parse_str("(component)").unwrap(), Imports::default())
        .unwrap()
        .plugin;
    assert!(empty.exports().is_empty());
    assert_eq!(empty.section().err().unwrap().code(), "missing_export");
}

#[test]
fn b13_random_and_truncated_bytes_are_refused() {
    let whole = sectile_tests::ATTACKS;
    for bytes in [
        b"".as_slice(),
        b"\x7fELF",
        &[0xff; 4096],
        &whole[..whole.len() / 2],
        &whole[..100],
    ] {
        assert_eq!(load(bytes).code(), "not_a_component");
    }
}

#[test]
fn b13_a_component_with_flipped_bytes_never_panics_the_host() {
    let whole = sectile_tests::ATTACKS;
    for n in 0..24 {
        let mut bytes = whole.to_vec();
        let at = whole.len() / 24 * n;
        bytes[at] ^= 0x55;
        let _ = sandbox().load(&bytes, Imports::default());
    }
}

#[test]
fn b5_b14_deep_nesting_and_unlisted_features_are_clean_errors() {
    let deep = format!("{}{}", "(component ".repeat(80), ")".repeat(80));
    assert_eq!(load_wat(&deep).code(), "compile_refused");
    for module in [
        "(memory i64 1)",
        "(memory 1) (memory 1)",
        "(func (result v128) (i8x16.relaxed_swizzle (v128.const i64x2 0 0) (v128.const i64x2 0 0)))",
        "(memory 1 1 shared)",
        "(type (struct))",
    ] {
        let error = load_wat(&format!("(component (core module {module}))"));
        assert_eq!(error.code(), "invalid_component", "{module}");
    }
}

fn cached(dir: &std::path::Path) -> Sandbox {
    let config = SandboxConfig {
        compiler: Compiler::InProcess,
        cache: Some(CacheLocation {
            dir: dir.join("cache"),
            key_file: dir.join("data/key"),
        }),
        compile_limits: CompileLimits::default(),
    };
    let (sandbox, problem) = Sandbox::new(config).unwrap();
    assert!(problem.is_none(), "{problem:?}");
    sandbox
}

#[test]
fn b10_pl_13_a_changed_cache_entry_is_thrown_away_and_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let component = wat::parse_str("(component (core module (func)))").unwrap();
    let from_cache = |sandbox: &Sandbox| {
        let loaded = sandbox.load(&component, Imports::default()).unwrap();
        (loaded.from_cache, loaded.warnings.len())
    };
    assert_eq!(from_cache(&cached(dir.path())), (false, 0));
    assert_eq!(from_cache(&cached(dir.path())), (true, 0));
    let entry = fs::read_dir(dir.path().join("cache"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let good = fs::read(&entry).unwrap();
    let step = good.len() / 200 + 1;
    for at in (0..good.len()).step_by(step) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&entry, &bad).unwrap();
        assert_eq!(from_cache(&cached(dir.path())), (false, 1), "byte {at}");
        assert_eq!(fs::read(&entry).unwrap().len(), good.len());
    }
    fs::write(&entry, &good[..10]).unwrap();
    assert_eq!(from_cache(&cached(dir.path())), (false, 1));
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        from_cache(&cached(dir.path())),
        (false, 1),
        "writable by others"
    );
    fs::remove_file(dir.path().join("data/key")).unwrap();
    assert_eq!(
        from_cache(&cached(dir.path())),
        (false, 1),
        "another installation's key"
    );
    assert_eq!(
        fs::metadata(dir.path().join("cache"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    assert_eq!(
        fs::metadata(dir.path().join("data/key"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
}
