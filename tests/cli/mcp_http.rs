//! `sectile mcp --http` as clients see it: requests and streams of events on
//! loopback, and what those get who should not ask.

use crate::User;
use crate::tools::propose;
use sectile_tests::TOOL_NAMES;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// No answer takes that long.
const PATIENCE: Duration = Duration::from_secs(60);
const TOKEN: &str = "a-token-of-the-operator";

/// A server, and how a client of 2026-07-28 asks it.
struct Server {
    child: Child,
    address: String,
    token: Option<String>,
}

/// What came back, up to its body.
struct Response {
    status: u16,
    head: String,
    body: BufReader<TcpStream>,
}

impl Server {
    fn start(user: &User, flags: &[&str], token: Option<&str>) -> Self {
        let args = ["mcp", "--http", "127.0.0.1:0", "--json"];
        let mut command = user.command(&[&args, flags].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        match token {
            Some(token) => command.env("SECTILE_MCP_TOKEN", token),
            None => command.env_remove("SECTILE_MCP_TOKEN"),
        };
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        Self {
            child,
            address: address.strip_suffix("/mcp").unwrap().to_owned(),
            token: said["token"].as_str().or(token).map(str::to_owned),
        }
    }

    /// Sends bytes of HTTP/1.0, whose answer ends with the connection.
    fn send(&self, head: &str, body: &str) -> Response {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let mut request = format!("{head}content-length: {length}\r\n");
        if !head.contains("\r\nhost: ") {
            request += &format!("host: {}\r\n", self.address);
        }
        request += &format!("\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut body = BufReader::new(stream);
        let mut head = String::new();
        while body.read_line(&mut head).unwrap() > 2 {}
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, head, body }
    }

    /// Posts `message` with `headers` besides those that every client sends.
    fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Response {
        let mut head = "POST /mcp HTTP/1.0\r\ncontent-type: application/json\r\n\
            accept: application/json, text/event-stream\r\n"
            .to_owned();
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send(&head, &message.to_string())
    }

    /// The headers of somebody who knows the token.
    fn known(&self) -> String {
        format!("Bearer {}", self.token.as_deref().unwrap())
    }

    /// A request of 2026-07-28.
    fn ask(&self, method: &str, mut params: Value, further: &[(&str, &str)]) -> Response {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let name = params["name"].as_str().unwrap_or_default();
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        if !name.is_empty() {
            headers.push(("mcp-name", name));
        }
        headers.extend(further);
        self.post(&message, &headers)
    }

    fn call(&self, name: &str, arguments: &Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let known = self.known();
        let mut events = self
            .ask("tools/call", params, &[("authorization", &known)])
            .events();
        events.answer()["result"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The messages of a stream of events.
struct Events(Lines<BufReader<TcpStream>>);

impl Response {
    fn events(self) -> Events {
        assert_eq!(self.status, 200, "{}", self.head);
        Events(self.body.lines())
    }

    fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Events {
    fn next(&mut self) -> Value {
        loop {
            let line = self.0.next().expect("another event").unwrap();
            let data = line.strip_prefix("data: ").filter(|data| !data.is_empty());
            if let Some(data) = data {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    fn answer(&mut self) -> Value {
        loop {
            let message = self.next();
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}

fn with_tools() -> User {
    let user = User::new();
    propose(&user, &TOOL_NAMES);
    approve(&user);
    user
}

fn approve(user: &User) {
    let approved = user.run(&["plugin", "approve", "acme/tools", "--yes"]);
    assert_eq!(approved.status, 0, "{}", approved.stderr);
}

#[test]
fn only_those_who_show_the_token_are_let_in() {
    let user = User::new();
    let token_file = user.work().join("../token");
    std::fs::write(&token_file, format!("{TOKEN}\n")).unwrap();
    let file = ["--token-file", token_file.to_str().unwrap()];
    let drawn = Server::start(&user, &[], None);
    assert_eq!(drawn.token.as_deref().unwrap().len(), 64);
    let given = Server::start(&user, &[], Some(TOKEN));
    let read = Server::start(&user, &file, None);
    for (server, right) in [
        (&drawn, drawn.known()),
        (&given, format!("bearer {TOKEN}")),
        (&read, format!("Bearer {TOKEN}")),
    ] {
        let wrong = format!("{right}0");
        let basic = right.replacen("earer", "asic", 1);
        for shown in ["", "Bearer", "Bearer ", "Bearer x", &wrong, &basic] {
            let refused = server.ask("tools/list", json!({}), &[("authorization", shown)]);
            assert_eq!(refused.status, 401, "{shown}");
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
            assert!(refused.text().contains("Authorization: Bearer"));
        }
        let twice = [("authorization", right.as_str()), ("authorization", &right)];
        assert_eq!(server.ask("tools/list", json!({}), &twice).status, 401);
        assert_eq!(server.ask("tools/list", json!({}), &[]).status, 401);
        let listed = server.ask("tools/list", json!({}), &[("authorization", &right)]);
        let listed = listed.events().answer();
        assert_eq!(listed["result"]["tools"][0]["name"], "read");
    }
}

#[test]
fn a_server_without_a_token_is_for_this_machine_alone() {
    let user = User::new();
    let refused = user.run(&["mcp", "--http", "0.0.0.0:0", "--no-token", "--json"]);
    let (status, code, message) = refused.error();
    assert_eq!((status, code.as_str()), (2, "usage"));
    assert!(message.contains("loopback"), "{message}");
    let server = Server::start(&user, &["--no-token"], Some(TOKEN));
    assert_eq!(server.ask("tools/list", json!({}), &[]).status, 200);
}

#[test]
fn a_token_that_can_be_guessed_and_an_address_in_use_are_refused() {
    let user = User::new();
    let mut command = user.command(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    let weak = command.env("SECTILE_MCP_TOKEN", "secret").output().unwrap();
    let weak = String::from_utf8(weak.stdout).unwrap();
    assert!(weak.contains("mcp_token_invalid"), "{weak}");
    let server = Server::start(&user, &[], None);
    let taken = user.run(&["mcp", "--http", &server.address, "--json"]);
    let (status, code, message) = taken.error();
    assert_eq!((status, code.as_str()), (1, "mcp_listen_failed"));
    assert!(message.contains(&server.address), "{message}");
}

#[test]
fn pages_and_names_of_strangers_are_refused_and_those_of_the_operator_are_not() {
    let user = User::new();
    let flags = [
        "--no-token",
        "--allow-host",
        "box.example",
        "--allow-origin",
        "https://page.example",
    ];
    let server = Server::start(&user, &flags, None);
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "http://127.0.0.1.evil.example", 403),
        ("origin", "null", 403),
        ("origin", "https://page.example", 200),
        ("origin", "http://localhost:3000", 200),
        ("host", "evil.example", 403),
        // A name that a stranger's DNS points at this machine.
        ("host", "127.0.0.1.evil.example:80", 403),
        ("host", "box.example", 200),
        ("host", "localhost", 200),
    ] {
        let response = server.ask("tools/list", json!({}), &[(name, value)]);
        assert_eq!(response.status, status, "{name}: {value}");
    }
}

#[test]
fn requests_that_are_not_of_the_protocol_are_refused_and_the_server_goes_on() {
    let user = User::new();
    let server = Server::start(&user, &["--no-token"], None);
    let json = "content-type: application/json\r\n\
        accept: application/json, text/event-stream\r\n";
    for (head, body, status) in [
        ("GET / HTTP/1.0\r\n".to_owned(), "", 404),
        ("GET /mcp HTTP/1.0\r\n".to_owned(), "", 406),
        ("PUT /mcp HTTP/1.0\r\n".to_owned(), "", 405),
        ("POST /mcp HTTP/1.0\r\n".to_owned(), "{}", 406),
        (format!("POST /mcp HTTP/1.0\r\n{json}"), "{", 415),
        (
            format!("POST /mcp HTTP/1.0\r\n{json}mcp-session-id: none\r\n"),
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            404,
        ),
        ("no HTTP at all\r\n".to_owned(), "", 400),
    ] {
        let response = server.send(&head, body);
        assert_eq!(response.status, status, "{head}{body}");
    }
    let asked = server.ask("tools/list", json!({}), &[]);
    assert_eq!(asked.status, 200);
}

#[test]
fn an_older_client_has_a_session_of_its_own() {
    let user = User::new();
    user.write("a.txt", "one\n");
    let server = Server::start(&user, &[], None);
    let known = server.known();
    let open = || {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}
        }});
        let opened = server.post(&hello, &[("authorization", &known)]);
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        let hello = opened.events().answer();
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
        session
    };
    let (first, second) = (open(), open());
    assert_ne!(first, second);
    let post = |session: &str, message: &Value| {
        let headers = [
            ("authorization", known.as_str()),
            ("mcp-session-id", session),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        server.post(message, &headers)
    };
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(&first, &begun).status, 202);
    let arguments = json!({"path": "a.txt"});
    let read = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "read", "arguments": arguments}});
    let result = post(&first, &read).events().answer();
    assert_eq!(
        result["result"]["content"][0]["text"],
        "1\tone\n[lines 1 to 1 of 1]"
    );
    let end =
        format!("DELETE /mcp HTTP/1.0\r\nauthorization: {known}\r\nmcp-session-id: {first}\r\n");
    assert!(server.send(&end, "").status < 300);
    assert_eq!(post(&first, &read).status, 404);
    assert_eq!(post(&second, &read).status, 200);
}

#[test]
fn fifty_clients_at_once_are_all_answered() {
    let user = with_tools();
    let server = Server::start(&user, &[], None);
    thread::scope(|scope| {
        let calls = (0..50).map(|n| {
            let server = &server;
            scope.spawn(move || {
                let said = format!("call {n}");
                let result = server.call("tools__echo", &json!({"text": said}));
                assert_eq!(result["content"][0]["text"], said);
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.join().unwrap();
        }
    });
}

#[test]
fn tl_7_a_call_whose_client_is_gone_ends_and_others_are_answered() {
    let user = with_tools();
    let server = Server::start(&user, &[], None);
    let known = server.known();
    for _ in 0..8 {
        let params = json!({"name": "tools__spin", "arguments": {}});
        // Dropped at once, and with it the connection.
        server.ask("tools/call", params, &[("authorization", &known)]);
    }
    let result = server.call("tools__echo", &json!({"text": "on"}));
    assert_eq!(result["content"][0]["text"], "on");
}

#[test]
fn whoever_listens_hears_that_the_tools_changed() {
    let user = User::new();
    propose(&user, &TOOL_NAMES);
    let server = Server::start(&user, &[], None);
    let known = server.known();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listening = server.ask("subscriptions/listen", wanted, &[("authorization", &known)]);
    let mut events = listening.events();
    let accepted = events.next();
    assert_eq!(
        accepted["method"],
        "notifications/subscriptions/acknowledged"
    );
    approve(&user);
    assert_eq!(events.next()["method"], "notifications/tools/list_changed");
    let result = server.call("tools__echo", &json!({"text": "new"}));
    assert_eq!(result["content"][0]["text"], "new");
    // A workspace that cannot be opened leaves the one before in service.
    user.write("sectile.toml", "profil = 1");
    thread::sleep(Duration::from_millis(1500));
    let result = server.call("tools__echo", &json!({"text": "still"}));
    assert_eq!(result["content"][0]["text"], "still");
    user.write("sectile.toml", "");
    assert_eq!(events.next()["method"], "notifications/tools/list_changed");
}
