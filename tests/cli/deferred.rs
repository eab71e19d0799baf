//! Tools that a model finds before it calls them (PS-30 to PS-33).

use crate::User;
use crate::turns::summary;
use sectile_tests::provider::{ProviderServer, Received, Reply};
use serde_json::{Value, json};

const CROWD: usize = 300;

/// A user whose plugin offers 300 tools.
fn crowded(server: &ProviderServer) -> User {
    let more = format!("\n[config.\"acme/crowd\"]\ncrowd = {CROWD}\n");
    let user = User::with_settings(server, "anthropic", &more);
    let names: Vec<_> = (0..CROWD).map(|n| format!("task_{n:03}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let plugin = sectile_tests::tool_plugin("acme/crowd", &names, "").unwrap();
    user.write("crowd.wasm", plugin);
    user.write(
        "sectile.toml",
        "[[plugin]]\nid = \"acme/crowd\"\npath = \"crowd.wasm\"\n",
    );
    let approved = user.run(&["plugin", "approve", "acme/crowd", "--yes"]);
    assert_eq!(approved.status, 0, "{}", approved.stderr);
    user
}

/// None in a request for a summary. Without the mark that ends what is cached,
/// which stands on the last one.
fn tools(request: &Received) -> Vec<Value> {
    let mut tools = request.body["tools"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for tool in &mut tools {
        tool.as_object_mut().unwrap().remove("cache_control");
    }
    tools
}

fn names(request: &Received) -> Vec<String> {
    let tools = tools(request).into_iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn call(number: usize, name: &str, input: &Value) -> Reply {
    Reply::call(&format!("call_{number}"), name, &input.to_string())
}

#[test]
fn ps_31_what_is_found_can_be_called_then_after_a_restart_and_after_a_compaction() {
    let task = |n: usize, number: usize| {
        call(
            number,
            &format!("crowd__task_{n:03}"),
            &json!({"text": "go"}),
        )
    };
    let server = ProviderServer::start(64, move |request, number| {
        let said = request.said();
        let asks_for_summary = said.contains("conversation_summary format_version")
            && !said.contains("Earlier messages were replaced");
        match number {
            _ if asks_for_summary => Reply::text(&summary("We did tasks.")),
            0 => task(217, number),
            1 => call(number, "tool_search", &json!({"query": "+217", "limit": 1})),
            2 | 5 => task(217, number),
            3 => call(
                number,
                "tool_search",
                &json!({"query": "select:crowd__task_003"}),
            ),
            8 => task(3, number),
            _ => Reply::text("done"),
        }
    })
    .unwrap();
    let user = crowded(&server);
    let ran = user.run(&["run", "Do task 217."]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(user.next("Again.").status, 0);
    let compacted = user.run(&["session", "compact", "--session", "last"]);
    assert_eq!(
        compacted.status, 0,
        "{}{}",
        compacted.stdout, compacted.stderr
    );
    assert_eq!(user.next("And task 3.").status, 0);

    let results = crate::tools::results(&user);
    let texts: Vec<_> = results.iter().map(|(_, text)| text.as_str()).collect();
    assert!(texts[0].starts_with("tool_not_found: `crowd__task_217` has to be found first"));
    assert!(texts[1].contains("- crowd__task_217: Does task 217"));
    assert_eq!(texts[2], "task 217 is done");
    assert!(texts[3].contains("- crowd__task_003: "));
    assert_eq!((texts[4], texts[5]), ("task 217 is done", "task 3 is done"));

    // The list grows at its end, and what was there keeps its bytes.
    let requests = server.requests();
    let found = |n: usize| names(&requests[n]);
    let resident = found(0);
    assert!(!resident.iter().any(|name| name.starts_with("crowd__")));
    for (earlier, later) in requests.iter().zip(&requests[1..]) {
        let (earlier, later) = (tools(earlier), tools(later));
        let same = earlier
            .iter()
            .zip(&later)
            .all(|(earlier, later)| earlier == later);
        // A summary is asked for without tools.
        assert!(same && (later.len() >= earlier.len() || later.is_empty()));
    }
    assert_eq!(found(2)[resident.len()..], ["crowd__task_217"]);
    let last = requests.last().unwrap();
    assert_eq!(
        names(last)[resident.len()..],
        ["crowd__task_217", "crowd__task_003"]
    );
    // The reminder says what was found, and the list of names is sent again.
    assert!(last.said().contains("- crowd__task_217"));
    assert!(last.said().contains("crowd__task_299"));
    user.verify();
}

#[test]
fn ps_30_three_hundred_tools_cost_less_than_two_thousand_tokens() {
    let server = ProviderServer::start(64, |_, _| Reply::text("done")).unwrap();
    let user = crowded(&server);
    let inspected = user.run(&["inspect", "--json"]).json();
    let parts = inspected["parts"].as_array().unwrap().iter();
    let tools: Vec<_> = parts.filter(|part| part["region"] == "tool").collect();
    let tokens: u64 = tools.iter().map(|t| t["tokens"].as_u64().unwrap()).sum();
    assert!(tokens < 2_000, "{tokens}: {tools:?}");
    let listed = user.run(&["tool", "list", "--json"]).json();
    let deferred = listed.as_array().unwrap().iter();
    assert_eq!(
        deferred.filter(|tool| tool["deferred"] == true).count(),
        CROWD
    );
    // The operator's word is the last one.
    user.configure(
        "\n[tools]\nalways_load = [\"crowd__task_001\"]\ndefer = [\"sectile/search\"]\n",
    );
    let listed = user.run(&["tool", "list", "--json"]).json();
    let waits = |name: &str| {
        let mut tools = listed.as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap()["deferred"].clone()
    };
    assert_eq!(waits("crowd__task_001"), false);
    assert_eq!(waits("crowd__task_002"), true);
    assert_eq!((waits("grep"), waits("read")), (json!(true), json!(false)));
}
