//! Turns against a real model server on loopback, in both protocols (PV-12).
//! It is installed by `tests/model-server/start`, and skipped where it cannot be.

use crate::User;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The server; it ends when its standard input does.
struct ModelServer {
    child: Child,
    url: String,
}

impl ModelServer {
    fn start() -> Option<Self> {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/model-server/start"
        );
        let mut child = Command::new("bash")
            .arg(script)
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("model-server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take()?)
            .read_line(&mut url)
            .ok()?;
        if url.starts_with("http://127.0.0.1:") {
            return Some(Self {
                child,
                url: url.trim().to_owned(),
            });
        }
        let output = child.wait_with_output().ok()?;
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        None
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pv_12_a_real_model_answers_in_both_protocols_streaming_and_not() {
    let Some(server) = ModelServer::start() else {
        return;
    };
    for (adapter, path) in [("openai-chat", "/v1"), ("anthropic-messages", "")] {
        for streaming in [true, false] {
            let user = User::new();
            user.write("AGENTS.md", "Be brief.");
            let config = user.home().join(".config/sectile");
            fs::create_dir_all(&config).unwrap();
            fs::write(
                config.join("config.toml"),
                format!(
                    "provider = \"local\"\n[providers.local]\nadapter = \"sectile/{adapter}\"\nbase_url = \"{}{path}\"\n\
                     model = \"smollm2\"\ncontext_window = 8192\nmax_output_tokens = 16\nstreaming = {streaming}\n\
                     intents.temperature = 0.0\nextra.{}\n",
                    server.url,
                    if adapter == "openai-chat" { "dialect = \"llama-cpp\"" } else { "version = \"2023-06-01\"" },
                ),
            )
            .unwrap();
            // A second request in the same session, once for each protocol.
            let requests: &[&[&str]] = &[
                &["run", "Say hello."],
                &["run", "--session", "last", "And goodbye."],
            ];
            let requests = &requests[..if streaming { 2 } else { 1 }];
            for args in requests {
                let ran = user.run(args);
                assert_eq!(
                    ran.status, 0,
                    "{adapter} {streaming}: {}{}",
                    ran.stdout, ran.stderr
                );
                assert!(
                    !ran.stdout.trim().is_empty() || !streaming,
                    "{adapter}: {}",
                    ran.stderr
                );
            }
            let shown = user.run(&["session", "show", "last", "--json"]).json();
            let answers: Vec<&Value> = shown["messages"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|m| m["item"]["message"]["role"] == "assistant")
                .collect();
            assert!(
                answers.len() == requests.len()
                    && answers.iter().all(|a| !a["item"]["message"]["content"]
                        .as_array()
                        .unwrap()
                        .is_empty())
            );
            user.verify();
        }
    }
}
