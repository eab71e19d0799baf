//! `sectile tool list` and `sectile tool call`.

use super::section::{micros, uses};
use crate::args::{Cli, ToolCommand};
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};
use crate::text::{padded, printable};
use sectile_model::ResultStatus;
use sectile_sandbox::Effects;
use sectile_session::{Called, Host, ToolInfo, ToolRequest, ToolScope};
use sectile_store::SqliteStore;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn run(cli: &Cli, output: &Output, command: &ToolCommand) -> Result<(), Failure> {
    let mut host = super::open(cli)?;
    match command {
        ToolCommand::List => list(&host, output),
        ToolCommand::Call { name, input } => {
            let input: Value = serde_json::from_str(input)
                .map_err(|e| Failure::Usage(format!("the arguments are not JSON: {e}")))?;
            host.keep_in(Arc::new(SqliteStore::open(&host.workspace().root)?));
            call(&host, output, name, &input)
        }
    }
}

fn list(host: &Host, output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(&host.tool_infos().map(describe).collect::<Vec<_>>());
    }
    output.warnings(&host.warnings());
    output.text(&table(host))
}

pub(crate) fn describe(tool: &ToolInfo) -> Value {
    json!({
        "name": tool.definition.name,
        "description": tool.definition.description,
        "input_schema": tool.definition.input_schema,
        "plugin": tool.owner,
        "effects": effects(tool.effects),
        "deferred": tool.deferred,
    })
}

/// The effects, and whether a model sees the tool at once.
fn notes(tool: &ToolInfo) -> Vec<&'static str> {
    let mut notes = effects(tool.effects);
    notes.extend(tool.deferred.then_some("deferred"));
    notes
}

fn effects(effects: Effects) -> Vec<&'static str> {
    let named = [
        (effects.read_only, "read_only"),
        (effects.destructive, "destructive"),
        (effects.idempotent, "idempotent"),
        (effects.open_world, "open_world"),
    ];
    named.into_iter().filter(|e| e.0).map(|e| e.1).collect()
}

pub(crate) fn table(host: &Host) -> String {
    let mut text = String::new();
    for tool in host.tool_infos() {
        text.push_str(&format!(
            "  {} {DIM}{}  {}{DIM:#}\n",
            padded(&tool.definition.name, 32),
            printable(&tool.owner),
            notes(tool).join(", "),
        ));
    }
    text
}

fn call(host: &Host, output: &Output, name: &str, input: &Value) -> Result<(), Failure> {
    let Called {
        output: answer,
        report,
        warnings,
    } = host.call_tool(&ToolRequest::new(name, input), &ToolScope::default())?;
    output.warnings(&warnings);
    let is_error = answer.status != ResultStatus::Success;
    if output.is_json() {
        output.json(&json!({
            "tool": name,
            "is_error": is_error,
            "content": answer.content,
            "structured": answer.structured,
            "elapsed_us": micros(&report),
            "capabilities_used": uses(&report),
        }))?;
    } else {
        output.text(&format!(
            "{}\n\n{BOLD}{} µs{BOLD:#}\n",
            printable(&answer.joined()),
            micros(&report)
        ))?;
    }
    match is_error {
        true => Err(Failure::Reported),
        false => Ok(()),
    }
}
