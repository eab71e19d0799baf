//! What a call over MCP's standard streams costs, beside a native server that
//! does the same: the median of single calls, the time from the start of the
//! process to its list of tools, and its memory.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints its figures and fails by panicking"
)]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const CALLS: usize = 3_000;
const STARTS: usize = 20;
/// First argument of the native server.
const NATIVE: &str = "native-server";

struct Native;

impl ServerHandler for Native {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().cloned();
        let tool = Tool::new("echo", "Says it again.", schema.unwrap_or_default());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str);
        let text = ContentBlock::text(text.unwrap_or_default());
        Ok(CallToolResult::success(vec![text]).into())
    }
}

fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let running = Native.serve(stdio_pipes()).await.expect("a client");
        running.waiting().await.expect("an end");
    });
}

struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Client {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let stdin = child.stdin.take().expect("its input");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut client = Self {
            child,
            stdin,
            stdout,
            line: String::new(),
        };
        client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"}
            }),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).expect("a reader");
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.line.clear();
        self.stdout.read_line(&mut self.line).expect("an answer");
        assert!(self.line.contains("\"result\""), "{}", self.line);
        self.line.clone()
    }

    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("its status");
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
        let kib = line.and_then(|l| l.trim().split(' ').next()?.parse::<u64>().ok());
        kib.expect("its memory") / 1024
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sectile(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sectile"));
    command
        .args(args)
        .current_dir(dir.join("work"))
        .env("HOME", dir)
        .env("XDG_CONFIG_HOME", dir.join("config"))
        .env("XDG_DATA_HOME", dir.join("data"))
        .env("XDG_CACHE_HOME", dir.join("cache"));
    command
}

fn native() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(NATIVE);
    command
}

fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let work = dir.path().join("work");
    fs::create_dir(&work).expect("a workspace");
    let names = &sectile_tests::TOOL_NAMES;
    let plugin = sectile_tests::tool_plugin("acme/tools", names, "").expect("a plugin");
    fs::write(work.join("tools.wasm"), plugin).expect("room");
    let proposal = "[[plugin]]\nid = \"acme/tools\"\npath = \"tools.wasm\"\n";
    fs::write(work.join("sectile.toml"), proposal).expect("room");
    let approve = ["plugin", "approve", "acme/tools", "--yes"];
    let approved = sectile(dir.path(), &approve).output().expect("a program");
    assert!(approved.status.success());
    dir
}

fn calls(client: &mut Client, tool: &str) -> Vec<Duration> {
    let params = json!({"name": tool, "arguments": {"text": "x"}});
    let call = |_| {
        let started = Instant::now();
        client.request("tools/call", &params);
        started.elapsed()
    };
    let mut times: Vec<_> = (0..CALLS).map(call).collect();
    times.sort_unstable();
    times
}

fn starts(command: impl Fn() -> Command) -> Duration {
    let start = |_| {
        let started = Instant::now();
        let mut client = Client::start(command());
        client.request("tools/list", &json!({}));
        started.elapsed()
    };
    let mut times: Vec<_> = (0..STARTS).map(start).collect();
    times.sort_unstable();
    times[STARTS / 2]
}

fn report(what: &str, command: impl Fn() -> Command, tool: &str) {
    let mut client = Client::start(command());
    calls(&mut client, tool);
    let times = calls(&mut client, tool);
    let memory = client.memory();
    drop(client);
    println!(
        "{what}: call p50 {:?}, p99 {:?}; start to the list of tools {:?}; {memory} MB",
        times[CALLS / 2],
        times[CALLS * 99 / 100],
        starts(command),
    );
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some(NATIVE) {
        return serve();
    }
    let dir = workspace();
    report("native", native, "echo");
    report("sectile", || sectile(dir.path(), &["mcp"]), "tools__echo");
    report("native", native, "echo");
}
