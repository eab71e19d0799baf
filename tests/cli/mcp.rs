//! `sectile mcp` as a client sees it: lines of JSON-RPC on its standard streams.

use crate::User;
use crate::tools::{allow_editing, propose};
use sectile_tests::TOOL_NAMES;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// No answer takes that long.
const PATIENCE: Duration = Duration::from_secs(60);

struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// In every request of the newest revision.
    meta: Option<Value>,
    next: u64,
    notifications: Vec<Value>,
}

impl Client {
    fn spawn(user: &User) -> Self {
        let mut child = user
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                // Whatever is not JSON-RPC on this stream is a failure of the server.
                let line = line.unwrap();
                let value: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|_| panic!("not of the protocol: {line}"));
                assert_eq!(value["jsonrpc"], "2.0");
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            meta: None,
            next: 0,
            notifications: Vec::new(),
        }
    }

    /// A client of 2025-11-25, which begins with a handshake.
    fn legacy(user: &User) -> (Self, Value) {
        let mut client = Self::spawn(user);
        let hello = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}
            }),
        );
        client.notify("notifications/initialized", &json!({}));
        (client, hello["result"].clone())
    }

    /// A client of 2026-07-28, whose requests say for themselves what it is.
    fn modern(user: &User) -> Self {
        let mut client = Self::spawn(user);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        }));
        client
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and gives its id.
    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            for (key, value) in meta.as_object().unwrap() {
                params["_meta"][key] = value.clone();
            }
        }
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next answer, whichever it is.
    fn answer(&mut self) -> Value {
        loop {
            let value = self.lines.recv_timeout(PATIENCE).expect("an answer");
            if value.get("id").is_some() {
                return value;
            }
            self.notifications.push(value);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id);
        answer
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn with_tools() -> User {
    let user = User::new();
    propose(&user, &TOOL_NAMES);
    let approved = user.run(&["plugin", "approve", "acme/tools", "--yes"]);
    assert_eq!(approved.status, 0, "{}", approved.stderr);
    user
}

#[test]
fn a_client_of_either_revision_lists_and_calls_tools() {
    let user = User::new();
    user.write("a.txt", "one\n");
    allow_editing(&user);
    let (legacy, hello) = Client::legacy(&user);
    assert_eq!(hello["protocolVersion"], "2025-11-25");
    assert_eq!(hello["serverInfo"]["name"], "sectile");
    for mut client in [legacy, Client::modern(&user)] {
        let listed = client.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
        // Those of the session itself need one.
        assert_eq!(names, ["read", "list", "write", "edit", "grep", "glob"]);
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
        assert_eq!(tools[2]["annotations"]["readOnlyHint"], false);
        assert_eq!(tools[0]["inputSchema"]["additionalProperties"], false);
        let read = client.call("read", json!({"path": "a.txt"}));
        assert_eq!(
            (text(&read), &read["isError"]),
            ("1\tone\n[lines 1 to 1 of 1]", &json!(false))
        );
        // What a client has read it may change.
        let edit = json!({"path": "a.txt", "old": "one", "new": "one"});
        let edited = client.call("edit", edit);
        assert!(!text(&edited).contains("was not read"), "{edited}");
        let refused = client.call("read", json!({"path": 1}));
        assert!(refused["isError"] == true && text(&refused).starts_with("invalid_arguments"));
        let unknown = client.request("tools/call", json!({"name": "rm", "arguments": {}}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        client.end();
    }
}

#[test]
fn sections_are_resources_and_the_context_is_a_prompt() {
    let user = User::new();
    user.write("AGENTS.md", "Run the tests.\n");
    let (mut client, _) = Client::legacy(&user);
    let listed = client.request("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uri = "sectile://sections/project/AGENTS.md";
    assert!(resources.iter().any(|resource| resource["uri"] == uri));
    let read = client.request("resources/read", json!({"uri": uri}));
    let contents = &read["result"]["contents"][0];
    assert!(
        contents["text"]
            .as_str()
            .unwrap()
            .contains("Run the tests.")
    );
    for bad in ["sectile://sections/none", "file:///etc/passwd", ""] {
        let refused = client.request("resources/read", json!({"uri": bad}));
        assert_eq!(refused["error"]["code"], -32002, "{bad}: {refused}");
    }
    let prompts = client.request("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"][0]["name"], "context");
    let prompt = json!({"name": "context", "arguments": {"message": "What is this?"}});
    let prompt = client.request("prompts/get", prompt)["result"].to_string();
    assert!(prompt.contains("Run the tests.") && prompt.contains("What is this?"));
    let refused = client.request("prompts/get", json!({"name": "other"}));
    assert_eq!(refused["error"]["code"], -32602);
    client.end();
}

#[test]
fn a_tool_that_loops_is_cut_and_the_server_goes_on() {
    let user = with_tools();
    let (mut client, _) = Client::legacy(&user);
    // Four loops are cut one day; the harmless call does not wait for them.
    let loops: Vec<_> = (0..4)
        .map(|_| {
            client.send(
                "tools/call",
                json!({"name": "tools__spin", "arguments": {}}),
            )
        })
        .collect();
    let arguments = json!({"text": "here"});
    let echo = client.send(
        "tools/call",
        json!({"name": "tools__echo", "arguments": arguments}),
    );
    let first = client.answer();
    assert_eq!(first["id"], echo);
    for _ in &loops {
        let cut = client.answer();
        assert!(loops.contains(&cut["id"].as_u64().unwrap()));
        assert!(text(&cut["result"]).starts_with("limit_exceeded"), "{cut}");
    }
    client.end();
}

#[test]
fn fifty_calls_at_once_are_all_answered() {
    let user = with_tools();
    let (mut client, _) = Client::legacy(&user);
    let mut waiting: std::collections::BTreeMap<u64, String> = (0..50)
        .map(|n| {
            let said = format!("call {n}");
            let call = json!({"name": "tools__echo", "arguments": {"text": said}});
            (client.send("tools/call", call), said)
        })
        .collect();
    while !waiting.is_empty() {
        let answer = client.answer();
        let said = waiting.remove(&answer["id"].as_u64().unwrap()).unwrap();
        assert_eq!(text(&answer["result"]), said);
    }
    client.end();
}

#[test]
fn pl_26_what_a_guest_prints_is_not_on_the_stream() {
    let user = with_tools();
    let (mut client, _) = Client::legacy(&user);
    // It prints an answer to request 1; each line was checked as it came.
    let printed = client.call("tools__print", json!({}));
    assert_eq!(text(&printed), "printed");
    assert!(client.notifications.is_empty());
    client.end();
}

#[test]
fn progress_comes_before_the_answer_and_only_grows() {
    let user = with_tools();
    let (mut client, _) = Client::legacy(&user);
    let call = json!({
        "name": "tools__advance", "arguments": {}, "_meta": {"progressToken": "p"}
    });
    client.request("tools/call", call);
    let steps: Vec<_> = client
        .notifications
        .iter()
        .filter(|n| n["method"] == "notifications/progress")
        .map(|n| n["params"].clone())
        .collect();
    assert!(!steps.is_empty());
    assert!(steps.iter().all(|step| step["progressToken"] == "p"));
    let done: Vec<_> = steps
        .iter()
        .map(|s| s["progress"].as_f64().unwrap())
        .collect();
    assert!(done.is_sorted_by(|a, b| a < b), "{done:?}");
    // Whoever did not ask for it gets none.
    client.notifications.clear();
    client.call("tools__advance", json!({}));
    assert!(client.notifications.is_empty());
    client.end();
}

#[test]
fn tl_7_a_cancelled_call_ends() {
    let user = with_tools();
    let (mut client, _) = Client::legacy(&user);
    let id = client.send(
        "tools/call",
        json!({"name": "tools__spin", "arguments": {}}),
    );
    client.notify("notifications/cancelled", &json!({"requestId": id}));
    // Nobody waits for its answer, and the next call has one.
    let echo = client.send(
        "tools/call",
        json!({"name": "tools__echo", "arguments": {"text": "on"}}),
    );
    let answer = client.answer();
    assert_eq!(
        (&answer["id"], text(&answer["result"])),
        (&json!(echo), "on")
    );
    client.end();
}

#[test]
fn lines_that_are_not_of_the_protocol_do_not_end_the_server() {
    let user = User::new();
    let (mut client, _) = Client::legacy(&user);
    for line in ["", "{", "[]", "null", r#"{"jsonrpc":"2.0"}"#, "\u{0}"] {
        let stdin = client.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }
    let id = client.send("ping", json!({}));
    loop {
        let value = client.lines.recv_timeout(PATIENCE).expect("an answer");
        if value["id"] == id {
            break;
        }
        assert!(value.get("error").is_some(), "{value}");
    }
    client.end();
}

#[test]
fn warnings_of_a_plugin_go_to_the_client_that_wants_them() {
    let user = User::new();
    user.write(".env", "TOKEN=canary");
    let (mut client, _) = Client::legacy(&user);
    let refused = client.call("read", json!({"path": ".env"}));
    assert_eq!(refused["isError"], true);
    let said = json!(client.notifications).to_string();
    assert!(
        said.contains("refused") && !said.contains("canary"),
        "{said}"
    );
    client.request("logging/setLevel", json!({"level": "error"}));
    client.notifications.clear();
    client.call("read", json!({"path": ".env"}));
    assert!(client.notifications.is_empty());
    client.end();
    // The newest revision is told nothing that it did not ask for.
    let mut client = Client::modern(&user);
    client.call("read", json!({"path": ".env"}));
    assert!(client.notifications.is_empty());
    client.end();
}

#[test]
fn a_client_of_either_revision_hears_that_the_lists_changed() {
    let user = User::new();
    propose(&user, &TOOL_NAMES);
    let (mut legacy, hello) = Client::legacy(&user);
    assert_eq!(hello["capabilities"]["tools"]["listChanged"], true);
    let mut modern = Client::modern(&user);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    modern.send("subscriptions/listen", wanted);
    let acknowledged = modern.lines.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let approved = user.run(&["plugin", "approve", "acme/tools", "--yes"]);
    assert_eq!(approved.status, 0, "{}", approved.stderr);
    for client in [&mut legacy, &mut modern] {
        let said = client.lines.recv_timeout(PATIENCE).unwrap();
        assert_eq!(said["method"], "notifications/tools/list_changed");
        let echoed = client.call("tools__echo", json!({"text": "new"}));
        assert_eq!(text(&echoed), "new");
    }
    legacy.end();
}
