//! `sectile engine prepare` on documents.

use crate::User;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn documents_and_errors_leave_as_json() {
    let user = User::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/engine");
    for name in ["displaced-hoist", "duplicate-key", "prune-at-8193"] {
        let case: Value =
            serde_json::from_str(&fs::read_to_string(folder.join(format!("{name}.json"))).unwrap())
                .unwrap();
        let ran = user.run_with(&["engine", "prepare"], &case["input"].to_string());
        let given: Value = serde_json::from_str(&ran.stdout).unwrap();
        match case["expect"]["error"].as_str() {
            Some(code) => {
                assert_eq!(
                    (ran.status, given["error"]["code"].as_str()),
                    (1, Some(code))
                );
                assert_eq!(given["error"]["key"], case["expect"]["key"]);
            }
            None => assert_eq!(given["request"]["messages"], case["expect"]["messages"]),
        }
    }
}

#[test]
fn broken_documents_are_told_with_their_place() {
    let user = User::new();
    let error = |stdin: &str| user.run_with(&["engine", "prepare"], stdin).error();
    assert_eq!(error("").1, "invalid_document");
    assert_eq!(error(&"[".repeat(200_000)).1, "invalid_document");
    assert_eq!(
        error(r#"{"format": "sectile.context/9"}"#).1,
        "unknown_format"
    );
    let (status, code, message) = error("{\n  \"format\": \"sectile.context/1\",\n  \"x\": 1}");
    assert!(
        status == 1 && code == "invalid_document" && message.contains("line 3"),
        "{message}"
    );
}
