//! Exchanges with real services, which others recorded (PV-12). They are no
//! part of the project: tests that need them pass over their absence.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One exchange.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its file, for messages.
    pub name: String,
    /// The service.
    pub service: String,
    /// The request's body.
    pub request: Value,
    /// The answer's status.
    pub status: u16,
    /// The answer's type.
    pub content_type: String,
    /// The answer's body.
    pub body: String,
}

/// The exchanges of `protocol` and `kind`: `stream`, `whole` or `error`. They
/// are where `SECTILE_PROVIDER_CASES` points, else beside the workspace.
#[must_use]
pub fn recorded(protocol: &str, kind: &str) -> Vec<Recorded> {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/cases/providers"
    );
    let root = env::var_os("SECTILE_PROVIDER_CASES").map_or_else(|| beside.into(), PathBuf::from);
    let folder = root.join(protocol).join(kind);
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("passed over: no recorded answers in {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Recorded {
    let text = fs::read_to_string(file).unwrap();
    let case: Value = serde_json::from_str(&text).unwrap();
    let headers = case["headers"].as_array().unwrap().iter();
    let content_type = headers
        .filter(|h| h[0].as_str().unwrap().eq_ignore_ascii_case("content-type"))
        .map(|h| h[1].as_str().unwrap().to_owned())
        .next();
    Recorded {
        name: file.file_name().unwrap().to_string_lossy().into_owned(),
        service: case["recorded_from"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        request: case["request"].clone(),
        status: u16::try_from(case["status"].as_u64().unwrap()).unwrap(),
        content_type: content_type.unwrap_or_default(),
        body: case["body"].as_str().unwrap().to_owned(),
    }
}
