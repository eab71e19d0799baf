//! Every document in `tests/cases/engine` gives what it says it gives.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use sectile_engine::{ContextDocument, EngineError, PreparedDocument};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn every_case_gives_what_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/engine");
    let mut run = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let case: Value =
            serde_json::from_str(&fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        let document = ContextDocument::parse(&case["input"].to_string());
        let given = match document.and_then(|d| d.prepare()) {
            Ok(call) => success(&call.into()),
            Err(error) => failure(&error),
        };
        assert_eq!(given, expected(&case["expect"]), "{}", case["case"]);
        run += 1;
    }
    assert!(run >= 39, "only {run} cases in {}", folder.display());
}

fn success(prepared: &PreparedDocument) -> Value {
    let mut report = json!(prepared.report);
    report
        .as_object_mut()
        .unwrap()
        .remove("reordered_tool_results");
    json!({
        "messages": prepared.request.messages,
        "report": report,
        "effective_input_tokens": prepared.limits.effective_input_tokens,
        "auto_compact_token_limit": prepared.limits.auto_compact_token_limit,
        "compact_rule": prepared.limits.compact_rule,
    })
}

fn failure(error: &EngineError) -> Value {
    json!({"error": error.code(), "fields": error.fields()})
}

fn expected(expect: &Value) -> Value {
    let mut expect = expect.clone();
    let fields = expect.as_object_mut().unwrap();
    if let Some(code) = fields.remove("error") {
        // A case names the fields it cares about.
        return json!({"error": code, "fields": fields});
    }
    fields["report"]
        .as_object_mut()
        .unwrap()
        .remove("reordered_tool_results");
    expect
}
