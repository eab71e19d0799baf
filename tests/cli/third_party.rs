//! A plugin of somebody else, from proposal to use (PL-10 to PL-13).

use crate::User;
use std::fs;

const READS: &str = "[[capability.filesystem]]\nmount = \"/workspace\"\nsource = \"workspace\"\naccess = \"read\"\nreason = \"to look\"\n";

fn propose(user: &User, attack: &str, manifest: &str, options: &str) {
    user.write(
        "plugin.wasm",
        sectile_tests::attack_plugin(attack, manifest).unwrap(),
    );
    user.write(
        "sectile.toml",
        format!("[[plugin]]\nid = \"acme/attacks\"\npath = \"plugin.wasm\"\n{options}"),
    );
}

fn approve(user: &User) {
    let ran = user.run(&["plugin", "approve", "acme/attacks", "--yes"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn pl_12_a_proposed_plugin_does_not_run_until_it_is_approved() {
    let user = User::new();
    propose(&user, "kilobytes", "", "");
    assert!(!user.parts().contains(&"attack/kilobytes".to_owned()));
    assert!(
        user.run(&["inspect"])
            .stderr
            .contains("never approved in this workspace")
    );
    let (status, code, message) = user
        .run(&["section", "render", "attack/kilobytes", "--json"])
        .error();
    assert_eq!((status, code.as_str()), (3, "approval_required"));
    assert!(message.contains("sectile plugin approve acme/attacks"));
    let headless = user
        .run(&["plugin", "approve", "acme/attacks", "--json"])
        .error();
    assert!(
        headless.0 == 3 && headless.2.contains("--yes"),
        "{headless:?}"
    );
    approve(&user);
    // Behind the sections of the profile (WS-1).
    assert_eq!(user.parts().last().unwrap(), "attack/kilobytes");
}

#[test]
fn pl_11_pl_13_other_bytes_or_a_larger_request_need_another_approval() {
    let user = User::new();
    propose(&user, "kilobytes", "", "");
    approve(&user);
    propose(&user, "kilobytes", READS, "");
    let info = user
        .run(&["plugin", "info", "acme/attacks", "--json"])
        .json();
    assert_eq!(info["state"], "approval_required");
    assert!(info["problem"].as_str().unwrap().contains("sectile.lock"));
    assert_eq!(info["in_words"][0], "read files in the workspace: to look");
    fs::remove_file(user.work().join("sectile.lock")).unwrap();
    let info = user
        .run(&["plugin", "info", "acme/attacks", "--json"])
        .json();
    assert!(
        info["problem"]
            .as_str()
            .unwrap()
            .contains("this one is new"),
        "{info}"
    );
    approve(&user);
    assert!(user.parts().contains(&"attack/kilobytes".to_owned()));
}

#[test]
fn pl_12_an_approval_holds_for_its_workspace_only() {
    let (one, two) = (User::new(), User::new());
    propose(&one, "kilobytes", "", "");
    approve(&one);
    for file in ["plugin.wasm", "sectile.toml", "sectile.lock"] {
        fs::copy(one.work().join(file), two.work().join(file)).unwrap();
    }
    assert!(!two.parts().contains(&"attack/kilobytes".to_owned()));
}

#[test]
fn ws_5_a_plugin_that_loops_or_traps_fails_the_turn_with_its_code() {
    for (attack, limits, status, says) in [
        (
            "loop",
            "[limits]\ntime = \"300ms\"\n",
            4,
            "time limit of 300 ms",
        ),
        ("memory", "", 4, "memory limit of 64 MiB"),
        ("output", "", 4, "output limit"),
        ("panic", "", 1, "trapped"),
        ("fail", "", 1, "no\\nsuch \\u{1b}[31mthing"),
    ] {
        let user = User::new();
        propose(&user, attack, limits, "");
        approve(&user);
        let error = user.run(&["inspect", "--json"]).error();
        assert_eq!(
            (error.0, error.1),
            (status, format!("section_error:attack/{attack}")),
            "{}",
            error.2
        );
        assert!(error.2.contains(says), "{}", error.2);
    }
}

#[test]
fn ws_5_on_error_omit_leaves_the_rest_and_says_so() {
    let user = User::new();
    propose(&user, "panic", "", "on_error = \"omit\"\n");
    approve(&user);
    let inspected = user.run(&["inspect", "--json"]).json();
    assert!(
        inspected["warnings"]
            .to_string()
            .contains("counts as unchanged"),
        "{}",
        inspected["warnings"]
    );
    assert!(!user.parts().contains(&"attack/panic".to_owned()));
}

#[test]
fn pl_12a_a_capability_that_cannot_be_enforced_is_an_error() {
    let user = User::new();
    propose(
        &user,
        "echo",
        "[[capability.network]]\nhost = \"api.example.com\"\nreason = \"x\"\n",
        "",
    );
    approve(&user);
    let (status, _, message) = user
        .run(&["section", "render", "attack/echo", "--json"])
        .error();
    assert!(
        status == 4 && message.contains("cannot enforce"),
        "{message}"
    );
}

#[test]
fn ws_11_a_tag_of_a_built_in_is_refused_with_both_names() {
    let user = User::new();
    let component =
        sectile_tests::plugin("acme/attacks", "attack/echo", "project_instructions", "").unwrap();
    user.write("plugin.wasm", component);
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"acme/attacks\"\npath = \"plugin.wasm\"\n",
    );
    approve(&user);
    let (status, code, message) = user.run(&["inspect", "--json"]).error();
    assert_eq!((status, code.as_str()), (1, "duplicate_tag"));
    assert!(
        message.contains("sectile/project") && message.contains("acme/attacks"),
        "{message}"
    );
}

#[test]
fn cl_5_a_component_runs_alone_with_the_grants_of_the_command_line() {
    let user = User::new();
    user.write(
        "one.wasm",
        sectile_tests::attack_plugin("files", READS).unwrap(),
    );
    user.write("file", "content");
    let component = user.work().join("one.wasm");
    let run = |grants: &[&str]| {
        let mut args = vec![
            "plugin",
            "run",
            "--json",
            "--component",
            component.to_str().unwrap(),
            "--query",
            "read file\nread ../x",
        ];
        args.extend(grants);
        user.run(&args)
    };
    // What the manifest asks for grants nothing here.
    assert_eq!(run(&[]).error().1, "trap");
    let granted = run(&["--grant", "read:.=/workspace"]).json();
    assert_eq!(
        granted["text"],
        "read file => content\nread ../x => not-permitted\n"
    );
    assert_eq!(granted["capabilities_used"][0]["path"], "/workspace/file");
    assert!(
        granted["refusals"][0]
            .as_str()
            .unwrap()
            .contains("leads out")
    );
    assert_eq!(run(&["--grant", "everything"]).status, 2);
}

#[test]
fn pl_42_the_example_goes_from_the_compiler_to_the_context_window() {
    let user = User::new();
    user.write("component.wasm", sectile_tests::GIT_BRANCH);
    let manifest = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/git-branch/plugin.toml"
    );
    let packed = user.run(&[
        "plugin",
        "pack",
        "component.wasm",
        "--manifest",
        manifest,
        "-o",
        "git-branch.wasm",
    ]);
    assert_eq!(packed.status, 0, "{}", packed.stderr);
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"example/git-branch\"\npath = \"git-branch.wasm\"\n",
    );
    assert_eq!(
        user.run(&["plugin", "approve", "example/git-branch", "--yes"])
            .status,
        0
    );
    assert!(!user.parts().contains(&"example/git-branch".to_owned()));
    user.write(".git/HEAD", "ref: refs/heads/topic\n");
    let rendered = user
        .run(&["section", "render", "example/git-branch", "--json"])
        .json();
    assert_eq!(
        rendered["message"],
        "<git_branch>\nThe branch topic is checked out.\n</git_branch>"
    );
    assert_eq!(
        user.run(&[
            "plugin",
            "pack",
            "git-branch.wasm",
            "--manifest",
            manifest,
            "-o",
            "x"
        ])
        .status,
        2
    );
}

#[test]
fn ws_14_a_section_of_the_system_context_has_its_place_and_its_ceiling() {
    let with_cap = |max_tokens: u32| {
        let user = User::new();
        let manifest = format!(
            "[plugin]\nid = \"acme/attacks\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\ndescription = \"x\"\n\
             [[section]]\nid = \"attack/kilobytes\"\ntag = \"attack\"\nplacement = \"system\"\ncache = \"none\"\n\
             max_tokens = {max_tokens}\n"
        );
        user.write(
            "plugin.wasm",
            sectile_tests::with_manifest(sectile_tests::ATTACKS, &manifest).unwrap(),
        );
        user.write(
            "sectile.toml",
            "[[plugin]]\nid = \"acme/attacks\"\npath = \"plugin.wasm\"\n",
        );
        approve(&user);
        user
    };
    let prepared = with_cap(1_000).run(&["prepare", "--message", "hi"]).json();
    let part = &prepared["request"]["system"][1];
    assert_eq!(part["key"], "attack/kilobytes");
    assert!(
        part["content"]
            .as_str()
            .unwrap()
            .starts_with("<attack>\n0123456789")
    );
    let (status, code, message) = with_cap(10).run(&["inspect", "--json"]).error();
    assert_eq!(
        (status, code.as_str()),
        (1, "section_error:attack/kilobytes")
    );
    assert!(message.contains("may have 10"), "{message}");
}
