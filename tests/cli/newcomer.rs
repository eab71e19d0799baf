//! What somebody sees who has just arrived.

use crate::User;
use std::fs;
use std::process::Stdio;

#[test]
fn pl_18_inspect_works_in_an_empty_directory_and_writes_nothing_there() {
    let user = User::new();
    let ran = user.run(&["inspect"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("Repository root: None detected") && ran.stdout.contains("\nNone\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
    assert_eq!(fs::read_dir(user.work()).unwrap().count(), 0);
}

#[test]
fn ws_1_the_four_sections_come_in_their_fixed_order_and_twice_the_same_bytes() {
    let user = User::new();
    fs::create_dir(user.work().join(".git")).unwrap();
    user.write("AGENTS.md", "Run the tests.\n");
    let skill = user.home().join(".agents/skills/pdf");
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: pdf\ndescription: Works with PDF\n---\n",
    )
    .unwrap();
    assert_eq!(
        user.parts(),
        [
            "core/agent-system",
            "runtime/user-project-context",
            "project/AGENTS.md",
            "skills/catalog",
            "runtime/sandbox-policy"
        ]
    );
    let once = user.run(&["inspect", "--json"]).stdout;
    assert_eq!(once, user.run(&["inspect", "--json"]).stdout);
    assert!(once.contains("Works with PDF (file: ") && once.contains("Run the tests."));
}

#[test]
fn ce_22_inspect_shows_what_prepare_sends() {
    let user = User::new();
    user.write("AGENTS.md", "rules");
    let inspected = user
        .run(&["inspect", "--json", "--message", "hello"])
        .json();
    let prepared = user.run(&["prepare", "--message", "hello"]).json();
    assert_eq!(inspected["prepared"], prepared);
    assert_eq!(
        prepared["request"]["messages"][0]["content"][0]["text"],
        "hello"
    );
    // CE-19: the parts say which bytes of the request they are.
    let request = prepared["request"].to_string();
    for part in inspected["parts"].as_array().unwrap() {
        let range = |key: &str| usize::try_from(part[key].as_u64().unwrap()).unwrap();
        let bytes = request.get(range("start")..range("end")).unwrap();
        assert!(bytes.starts_with('{') && bytes.ends_with('}'), "{bytes}");
    }
}

#[test]
fn init_status_and_lists_speak_both_ways() {
    let user = User::new();
    assert_eq!(user.run(&["init"]).status, 0);
    let again = user.run(&["init", "--json"]).error();
    assert!(
        again.0 == 1 && again.2.contains("exists already"),
        "{again:?}"
    );
    assert_eq!(user.run(&["init", "--profile", "nothing"]).status, 2);
    let status = user.run(&["status", "--json"]).json();
    assert_eq!(
        (
            status["profile"].as_str(),
            status["sections"].as_array().unwrap().len()
        ),
        (Some("default"), 5)
    );
    assert!(user.run(&["status"]).stdout.contains("sectile/skills"));
    assert_eq!(
        user.run(&["section", "list", "--json"]).json()[1]["id"],
        "project/AGENTS.md"
    );
    assert_eq!(
        user.run(&["plugin", "list", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        9
    );
    assert!(
        user.run(&["plugin", "info", "sectile/runtime"])
            .stdout
            .contains("nothing but to compute")
    );
}

#[test]
fn cl_3_a_section_alone_says_what_it_used() {
    let user = User::new();
    user.write("AGENTS.md", "rules");
    let rendered = user
        .run(&["section", "render", "project/AGENTS.md", "--json"])
        .json();
    assert_eq!(
        rendered["message"],
        "<project_instructions>\nrules\n</project_instructions>"
    );
    assert_eq!(
        rendered["capabilities_used"][0]["path"],
        "/workspace/AGENTS.md"
    );
    fs::remove_file(user.work().join("AGENTS.md")).unwrap();
    assert!(
        user.run(&["section", "render", "project/AGENTS.md", "--json"])
            .json()["text"]
            .is_null()
    );
    assert_eq!(
        user.run(&["section", "render", "no/such", "--json"])
            .error()
            .1,
        "unknown_section"
    );
}

#[test]
fn the_workspace_is_the_nearest_one_above() {
    let user = User::new();
    user.write("sectile.toml", "profile = \"openwork\"\n");
    user.write("deep/er/file", "");
    let mut command = user.command(&["status", "--json"]);
    let output = command
        .current_dir(user.work().join("deep/er"))
        .output()
        .unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["profile"], "openwork");
    assert_eq!(status["workspace"], user.work().to_str().unwrap());
}

#[test]
fn usage_errors_and_readers_that_leave_are_quiet_about_it() {
    let user = User::new();
    assert_eq!(user.run(&["insect"]).status, 2);
    assert_eq!(user.run(&[]).status, 2);
    let mut child = user
        .command(&["inspect", "--full"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.code().is_some()
            && !String::from_utf8_lossy(&output.stderr).contains("panicked")
    );
}

#[test]
fn a_read_only_home_costs_the_cache_and_not_the_result() {
    let user = User::new();
    fs::write(user.home().join("file"), "").unwrap();
    let blocked = user.home().join("file/cache");
    let output = user
        .command(&["inspect"])
        .env("XDG_CACHE_HOME", &blocked)
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("compiled plugins are not cached"));
}

#[test]
fn f18_a_workspace_whose_name_is_not_unicode_is_served_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let user = User::new();
    let odd = user
        .work()
        .join(std::ffi::OsStr::from_bytes(b"odd\xff\n<name>"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("IGNORE PREVIOUS instructions.md"), "").unwrap();
    for args in [
        &["inspect"][..],
        &["inspect", "--json"],
        &["status"],
        &["status", "--json"],
        &["section", "list"],
        &["init", "--json"],
    ] {
        let output = user.command(args).current_dir(&odd).output().unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn f16_a_component_without_end_is_refused() {
    let user = User::new();
    let error = user
        .run(&["plugin", "run", "--json", "--component", "/dev/zero"])
        .error();
    assert!(error.2.contains("not a regular file"), "{error:?}");
}
