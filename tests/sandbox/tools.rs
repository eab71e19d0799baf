//! Tools in the sandbox: what they may say, keep and use.

use super::sandbox;
use sectile_model::ResultBlock;
use sectile_sandbox::{
    Call, CancelToken, FailureKind, Imports, KeyValues, Limits, Outcome, PluginFailure, Progress,
    ProgressSink, SandboxError, Services, ToolAnswer, ToolPlugin,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

const KV: Imports = Imports { kv: true };

fn guest() -> ToolPlugin {
    static GUEST: OnceLock<ToolPlugin> = OnceLock::new();
    let load = || {
        let loaded = sandbox().load(sectile_tests::TOOLS, KV).unwrap();
        loaded.plugin.tool().unwrap()
    };
    GUEST.get_or_init(load).clone()
}

fn run(name: &str, input: Value, call: &Call) -> Outcome<ToolAnswer> {
    guest().call(name, &input, "call:1", "s-1", call)
}

fn text(outcome: Outcome<ToolAnswer>) -> String {
    match outcome.result.unwrap().content.first() {
        Some(ResultBlock::Text { text }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, Default)]
struct Kept(Mutex<Option<Vec<u8>>>);

impl KeyValues for Kept {
    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, PluginFailure> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set(&self, _: &str, value: &[u8]) -> Result<(), PluginFailure> {
        *self.0.lock().unwrap() = Some(value.to_vec());
        Ok(())
    }

    fn delete(&self, _: &str) -> Result<(), PluginFailure> {
        Ok(())
    }

    fn keys(&self, _: &str) -> Result<Vec<String>, PluginFailure> {
        Ok(Vec::new())
    }
}

#[derive(Debug, Default)]
struct Shown(Mutex<Vec<Progress>>);

impl ProgressSink for Shown {
    fn show(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

#[test]
fn pl_2_values_are_only_for_those_who_asked_for_them() {
    let refused = sandbox()
        .load(sectile_tests::TOOLS, Imports::default())
        .err()
        .unwrap();
    assert_eq!(refused.code(), "import_not_granted");
    assert!(refused.to_string().contains("sectile:plugin/kv"));
}

#[test]
fn pl_20_definitions_come_with_their_schemas_and_effects() {
    let specs = guest().definitions(&Call::default()).result.unwrap();
    let echo = &specs[0];
    assert_eq!(echo.name, "echo");
    assert_eq!(echo.input_schema["additionalProperties"], false);
    assert!(echo.effects.read_only && !specs[1].effects.read_only);
    let count = specs.iter().find(|spec| spec.name == "count").unwrap();
    assert_eq!(
        count.output_schema.as_ref().unwrap()["required"][0],
        "count"
    );
}

#[test]
fn pl_21_a_call_gets_its_arguments_and_gives_its_answer() {
    let said = run("echo", json!({"text": "naïve 漢字"}), &Call::default());
    assert_eq!(text(said), "naïve 漢字");
}

#[test]
fn pl_21_values_outlive_the_store_of_a_call() {
    let call = Call {
        services: Services {
            values: Some(Arc::new(Kept::default())),
            ..Services::default()
        },
        ..Call::default()
    };
    for expected in ["1", "2", "3"] {
        assert_eq!(text(run("count", json!({}), &call)), expected);
    }
    let none = run("count", json!({}), &Call::default())
        .result
        .unwrap_err();
    assert_eq!(none.code(), "unavailable");
}

#[test]
fn pl_26_what_a_tool_prints_is_logged_and_nothing_else() {
    let outcome = run("print", json!({}), &Call::default());
    let lines: Vec<_> = outcome.report.log.iter().map(|l| l.text.clone()).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains('\u{1b}')));
    assert_eq!(text(outcome), "printed");
}

#[test]
fn pl_20_progress_is_bounded_and_one_line_each() {
    let shown = Arc::new(Shown::default());
    let call = Call {
        services: Services {
            progress: Some(Arc::clone(&shown) as Arc<dyn ProgressSink>),
            ..Services::default()
        },
        ..Call::default()
    };
    assert_eq!(text(run("advance", json!({}), &call)), "there");
    let shown = shown.0.lock().unwrap();
    assert_eq!(shown.len(), 1_000);
    assert_eq!(
        (shown[7].message.as_str(), shown[7].done),
        ("on\\nit", Some(7))
    );
}

#[test]
fn tl_7_a_tool_that_loops_is_cancelled_within_100_ms() {
    let cancel = CancelToken::new();
    let call = Call {
        cancel: cancel.clone(),
        limits: Limits {
            time: Duration::from_secs(30),
            ..Limits::default()
        },
        ..Call::default()
    };
    thread::scope(|scope| {
        let running = scope.spawn(|| run("spin", json!({}), &call).result);
        thread::sleep(Duration::from_millis(50));
        let asked = Instant::now();
        cancel.cancel();
        let ended = running.join().unwrap();
        assert_eq!(ended.unwrap_err(), SandboxError::Cancelled);
        // The promise is 100 ms; a loaded machine gets the benefit of the doubt.
        assert!(
            asked.elapsed() < Duration::from_secs(2),
            "{:?}",
            asked.elapsed()
        );
    });
}

#[test]
fn pl_22_a_trap_is_told_in_one_plain_line() {
    let error = run("trap", json!({}), &Call::default()).result.unwrap_err();
    assert_eq!(error.code(), "trap");
    assert!(!error.to_string().contains('\n'));
    let declined = run("decline", json!({}), &Call::default())
        .result
        .unwrap_err();
    let SandboxError::Plugin(failure) = declined else {
        panic!("{declined:?}");
    };
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(failure.message, "no\\n\\u{1b}[2Jgrant");
}

#[test]
fn c3_a_tool_that_is_not_there_is_an_error_of_the_plugin() {
    let error = run("missing", json!({}), &Call::default())
        .result
        .unwrap_err();
    assert_eq!(error.code(), "invalid_input");
}
