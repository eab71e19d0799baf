//! Guests against the file system (rows F).

use crate::{Access, LimitKind, exceeded, mount, outcomes, script, text};
use rustix::fs::{CWD, FileType, mknodat};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

fn workspace() -> tempfile::TempDir {
    let outer = tempfile::tempdir().unwrap();
    let inside = outer.path().join("workspace");
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    fs::write(inside.join("file"), "content").unwrap();
    fs::write(inside.join("sub/deep"), "deep").unwrap();
    outer
}

fn inside(outer: &tempfile::TempDir) -> std::path::PathBuf {
    outer.path().join("workspace")
}

fn read_only(path: &Path) -> Vec<sectile_sandbox::GrantedDirectory> {
    vec![mount(path, Access::Read, &[])]
}

fn read_write(path: &Path) -> Vec<sectile_sandbox::GrantedDirectory> {
    vec![mount(path, Access::ReadWrite, &[])]
}

#[test]
fn f1_f2_no_spelling_leads_out() {
    let outer = workspace();
    for path in [
        "../secret",
        "sub/../../secret",
        "sub/../../workspace/../secret",
        "/etc/passwd",
        "//etc/passwd",
        "./../secret",
        "/proc/self/root/etc/passwd",
        "..",
        "sub/../..",
        "../workspace/file",
    ] {
        let got = outcomes(
            read_only(&inside(&outer)),
            &format!("read {path}\nstat {path}\nopen+directory {path}"),
        );
        assert_eq!(got, ["not-permitted"; 3], "{path}");
    }
    assert_eq!(
        outcomes(
            read_only(&inside(&outer)),
            "read sub/../file\nread ./sub/./deep\nread sub//deep"
        ),
        ["content", "deep", "deep"]
    );
}

#[test]
fn f1_the_operator_sees_every_refusal() {
    let outer = workspace();
    let report = script(read_only(&inside(&outer)), "read ../secret\nread .env").report;
    assert!(
        report.refusals.iter().any(|r| r.why.contains("leads out")),
        "{report:?}"
    );
}

#[test]
fn f3_links_that_lead_out_are_refused_and_those_that_stay_are_followed() {
    let outer = workspace();
    let dir = inside(&outer);
    symlink("../secret", dir.join("out")).unwrap();
    symlink("/etc/passwd", dir.join("absolute")).unwrap();
    symlink("out", dir.join("chain")).unwrap();
    symlink("..", dir.join("up")).unwrap();
    symlink("sub/deep", dir.join("in")).unwrap();
    symlink("in", dir.join("in-chain")).unwrap();
    symlink("loop-b", dir.join("loop-a")).unwrap();
    symlink("loop-a", dir.join("loop-b")).unwrap();
    let got = outcomes(
        read_only(&dir),
        "read out\nread absolute\nread chain\nread up/secret\nread in\nread in-chain\nread loop-a\nopen in\nreadlink absolute\nreadlink in",
    );
    assert_eq!(
        got,
        [
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "deep",
            "deep",
            "loop",
            "loop",
            "not-permitted",
            "sub/deep"
        ]
    );
}

#[test]
fn f4_a_guest_makes_no_symbolic_link() {
    let outer = workspace();
    let got = outcomes(
        read_write(&inside(&outer)),
        "symlink file new\nsymlink /etc/passwd new2\nsymlink ../secret new3",
    );
    assert_eq!(got, ["not-permitted"; 3]);
    assert!(inside(&outer).join("new").symlink_metadata().is_err());
}

#[test]
fn f5_trailing_slashes_lead_nowhere_new() {
    let outer = workspace();
    let dir = inside(&outer);
    symlink("../secret", dir.join("out")).unwrap();
    symlink("..", dir.join("up")).unwrap();
    symlink("file", dir.join("in")).unwrap();
    for path in ["out/", "out//", "out/.", "up/", "up//", "up/."] {
        let got = outcomes(
            read_only(&dir),
            &format!("open {path}\nopen+follow {path}\nstat {path}"),
        );
        assert_eq!(got, ["not-permitted"; 3], "{path}");
    }
    assert_eq!(
        outcomes(
            read_only(&dir),
            "open file/\nopen+follow in/\nopen file/.\ntype sub/"
        ),
        [
            "not-directory",
            "not-directory",
            "not-directory",
            "DescriptorType::Directory"
        ]
    );
}

#[test]
fn f6_nothing_moves_from_one_grant_to_another() {
    let (source, target) = (workspace(), workspace());
    let directories = || {
        vec![
            mount(&inside(&source), Access::Read, &[]),
            mount(&inside(&target), Access::ReadWrite, &[]),
        ]
    };
    let got = outcomes(
        directories(),
        "link 0:file 1:stolen\nrename 0:file 1:stolen\nlink 1:file 0:new\nrename 1:file 0:new",
    );
    assert_eq!(got, ["not-permitted"; 4]);
    let both = vec![
        mount(&inside(&source), Access::ReadWrite, &[]),
        mount(&inside(&target), Access::ReadWrite, &[]),
    ];
    assert_eq!(
        outcomes(both, "link 0:file 1:stolen\nrename 0:file 1:stolen"),
        ["cross-device"; 2]
    );
    assert_eq!(
        fs::read_to_string(inside(&source).join("file")).unwrap(),
        "content"
    );
}

#[test]
fn f7_f8_a_read_only_grant_changes_nothing_whatever_the_flags() {
    let outer = workspace();
    let dir = inside(&outer);
    let flags = [
        "write",
        "create",
        "truncate",
        "exclusive",
        "directory",
        "mutate",
        "follow",
    ];
    for bits in 0..1u32 << flags.len() {
        let asked: String = flags
            .iter()
            .enumerate()
            .filter(|(n, _)| bits >> n & 1 == 1)
            .map(|(_, f)| format!("+{f}"))
            .collect();
        let changes = ["write", "create", "truncate", "exclusive", "mutate"]
            .iter()
            .any(|f| asked.contains(f));
        let got = outcomes(
            read_only(&dir),
            &format!("open{asked} file\nopen{asked} new"),
        );
        if changes {
            assert_eq!(got, ["not-permitted"; 2], "{asked}");
        }
    }
    let got = outcomes(
        read_only(&dir),
        "set-size file\nset-times file\nmkdir new\nrmdir sub\nunlink file\nrename file new\nlink file new\nsymlink file new\nwrite file",
    );
    assert!(
        got.iter()
            .all(|outcome| ["not-permitted", "bad-descriptor", "unsupported"]
                .contains(&outcome.as_str())),
        "{got:?}"
    );
    assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "content");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
}

#[test]
fn f12_f26_denied_names_are_denied_in_every_case_and_by_every_way() {
    let outer = workspace();
    let dir = inside(&outer);
    for path in [
        ".env",
        ".ENV",
        "sub/.Env.local",
        ".ssh/id",
        "key.pem",
        "id_rsa",
        ".git/hooks/pre-commit",
    ] {
        fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
        fs::write(dir.join(path), "secret").unwrap();
    }
    symlink(".env", dir.join("innocent")).unwrap();
    symlink(".ssh", dir.join("folder")).unwrap();
    let got = outcomes(
        read_write(&dir),
        "read .env\nread .ENV\nread sub/.Env.local\nread sub/../.env\nread innocent\nread folder/id\nread key.pem\nread id_rsa\n\
         rename .env allowed\nlink .env allowed\nrename file .env\nrename .ssh open\nread .git/hooks/pre-commit\nwrite .git/hooks/pre-commit\n\
         open+write+create .git/config\nopen+write+create .sectile/x\nopen+directory .ssh\nunlink .env",
    );
    assert!(
        got.iter()
            .all(|outcome| outcome == "not-permitted" || outcome == "no-entry"),
        "{got:?}"
    );
    assert!(
        got.iter().filter(|outcome| *outcome == "no-entry").count() <= 1,
        "{got:?}"
    );
    assert!(dir.join(".env").exists() && !dir.join("allowed").exists());
}

#[test]
fn pl_14_allow_globs_hold_on_the_true_path_and_against_renames() {
    let outer = workspace();
    let dir = inside(&outer);
    fs::write(dir.join("notes.md"), "notes").unwrap();
    symlink("file", dir.join("link.md")).unwrap();
    let granted = || vec![mount(&dir, Access::ReadWrite, &["**/*.md"])];
    let got = outcomes(
        granted(),
        "read notes.md\nread file\nread link.md\nrename file file.md\nlink file file.md\nrename sub sub.md\nopen+directory sub",
    );
    assert_eq!(
        got,
        [
            "notes",
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "opened"
        ]
    );
}

#[test]
fn pl_14_a_list_grant_lists_and_opens_nothing() {
    let outer = workspace();
    let got = outcomes(
        vec![mount(&inside(&outer), Access::List, &[])],
        "list .\nread file\nlist sub",
    );
    assert_eq!(
        got[0],
        "2 file:DescriptorType::RegularFile sub:DescriptorType::Directory"
    );
    assert_eq!(got[1], "not-permitted");
    assert!(got[2].starts_with("1 deep"));
}

#[test]
fn f14_pipes_and_sockets_are_refused_without_waiting() {
    let outer = workspace();
    let dir = inside(&outer);
    mknodat(CWD, dir.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
    let got = outcomes(
        read_write(&dir),
        "read pipe\nopen+write pipe\nread socket\nopen+directory pipe\nstat pipe",
    );
    assert_eq!(
        got[..4],
        [
            "not-permitted",
            "not-permitted",
            "not-permitted",
            "not-directory"
        ]
    );
    assert!(got[4].contains("Fifo"), "{got:?}");
    // A device needs a privilege to make; where it can be made, it is refused too.
    if mknodat(
        CWD,
        dir.join("device"),
        FileType::CharacterDevice,
        0o600.into(),
        rustix::fs::makedev(1, 5),
    )
    .is_ok()
    {
        assert_eq!(outcomes(read_only(&dir), "read device"), ["not-permitted"]);
    }
}

#[test]
fn f13_kernel_file_systems_are_never_granted() {
    let rules = sectile_sandbox::PathRules::new(
        Access::Read,
        &[],
        sectile_sandbox::DenyList::built_in(&[]).unwrap(),
    )
    .unwrap();
    let error = sectile_sandbox::Mount::open("workspace", "/workspace", Path::new("/proc"), rules)
        .unwrap_err();
    assert!(error.to_string().contains("kernel file system"), "{error}");
}

#[test]
fn f15_a_sparse_terabyte_reads_no_more_than_its_budget() {
    let outer = workspace();
    let file = fs::File::create(inside(&outer).join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut call = crate::asking(&"read huge\n".repeat(100));
    call.limits.read_bytes = 1 << 20;
    call.capabilities = std::sync::Arc::new(sectile_sandbox::Capabilities {
        directories: read_only(&inside(&outer)),
        ..Default::default()
    });
    assert_eq!(
        exceeded(&crate::attack("files", &call)),
        LimitKind::ReadBytes
    );
}

#[test]
fn f17_a_hundred_thousand_names_are_listed_within_the_limits() {
    let outer = workspace();
    let many = inside(&outer).join("many");
    fs::create_dir(&many).unwrap();
    for n in 0..100_000 {
        fs::write(many.join(format!("{n:06}")), "").unwrap();
    }
    let outcome = script(read_only(&inside(&outer)), "list many");
    assert!(text(outcome).contains("=> 100000 000000:"));
}

#[test]
fn f18_names_that_are_not_unicode_are_listed_and_harm_nobody() {
    let outer = workspace();
    let dir = inside(&outer);
    fs::write(dir.join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    fs::write(dir.join("new\nline"), "x").unwrap();
    fs::write(dir.join("x".repeat(255)), "x").unwrap();
    let listed = text(script(read_only(&dir), "list ."));
    assert!(
        listed.contains("bad\u{fffd}:") && listed.contains("new\nline:"),
        "{listed}"
    );
    assert_eq!(outcomes(read_only(&dir), "read bad\u{fffd}"), ["no-entry"]);
}

#[test]
fn f23_open_files_are_bounded() {
    let outer = workspace();
    let call = sectile_sandbox::Call {
        capabilities: std::sync::Arc::new(sectile_sandbox::Capabilities {
            directories: read_only(&inside(&outer)),
            ..Default::default()
        }),
        ..Default::default()
    };
    assert_eq!(
        exceeded(&crate::attack("open-many", &call)),
        LimitKind::Handles
    );
}

#[test]
fn a_read_write_grant_does_what_it_says() {
    let outer = workspace();
    let dir = inside(&outer);
    let got = outcomes(
        read_write(&dir),
        "open+write+create+exclusive new\nwrite new\nread new\nrename new sub/moved\nread sub/moved\nlink sub/moved linked\nunlink sub/moved\n\
         mkdir folder/\nrmdir folder\nopen+write+create+exclusive linked\nopen+write+truncate linked\nread linked",
    );
    assert_eq!(
        got,
        [
            "opened", "5", "guest", "ok", "guest", "ok", "ok", "ok", "ok", "exist", "opened", ""
        ]
    );
}

#[test]
fn f20_written_bytes_are_bounded_before_they_fill_the_disk() {
    let outer = workspace();
    let mut call = crate::asking(&"write file\n".repeat(100));
    call.limits.written_bytes = 100;
    call.capabilities = std::sync::Arc::new(sectile_sandbox::Capabilities {
        directories: read_write(&inside(&outer)),
        ..Default::default()
    });
    assert_eq!(
        exceeded(&crate::attack("files", &call)),
        LimitKind::WrittenBytes
    );
}
