//! `sectile plugin list`, `info`, `approve`, `pack` and `run`.

use super::section::{micros, uses};
use crate::args::{Cli, PluginCommand};
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};
use crate::text::{padded, path, printable};
use sectile_manifest::{Manifest, embed};
use sectile_model::PluginId;
use sectile_registry::{
    Candidate, Dirs, Granted, Grants, LockedPlugin, Source, Standing, describe as in_words,
    read_component,
};
use sectile_sandbox::{ToolSpec, one_line};
use sectile_session::{
    Host, PluginEntry, PluginState, SessionError, SingleGrant, SingleRun, run_single,
};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

pub(crate) fn run(cli: &Cli, output: &Output, command: &PluginCommand) -> Result<(), Failure> {
    match command {
        PluginCommand::List => list(cli, output),
        PluginCommand::Info { id } => info(cli, output, id),
        PluginCommand::Approve { id, yes } => approve(cli, output, id, *yes),
        PluginCommand::Pack {
            component,
            manifest,
            output: to,
        } => pack(output, component, manifest, to),
        PluginCommand::Run {
            component,
            export: _,
            id,
            grants,
            config,
            query,
        } => single(
            output,
            component,
            id.as_deref(),
            grants,
            config,
            query.as_deref(),
        ),
    }
}

fn list(cli: &Cli, output: &Output) -> Result<(), Failure> {
    let host = super::open(cli)?;
    if output.is_json() {
        return output.json(&host.plugins().iter().map(describe).collect::<Vec<_>>());
    }
    output.text(&table(&host))?;
    output.warnings(&host.warnings());
    Ok(())
}

pub(crate) fn describe(plugin: &PluginEntry) -> Value {
    let candidate = &plugin.candidate;
    json!({
        "id": candidate.id(),
        "version": candidate.manifest.plugin.version,
        "description": candidate.manifest.plugin.description,
        "source": source(candidate),
        "digest": candidate.digest,
        "state": state(plugin),
        "problem": problem(plugin),
        "sections": candidate.manifest.sections.iter().map(|s| &s.id).collect::<Vec<_>>(),
        "tools": candidate.manifest.tools.iter().map(|t| &t.name).collect::<Vec<_>>(),
        "capabilities": candidate.manifest.capability,
        "in_words": in_words(&candidate.manifest.capability),
    })
}

fn source(candidate: &Candidate) -> String {
    match &candidate.source {
        Source::Bundled => "bundled".to_owned(),
        Source::File(path) => path.display().to_string(),
    }
}

fn state(plugin: &PluginEntry) -> &'static str {
    match (&plugin.candidate.standing, &plugin.state) {
        (Standing::ApprovalRequired { .. }, _) => "approval_required",
        (Standing::Disabled, _) => "disabled",
        (Standing::Ready, PluginState::Broken(_)) => "broken",
        (Standing::Ready, PluginState::Loaded(_) | PluginState::Blocked) => "ready",
    }
}

fn problem(plugin: &PluginEntry) -> Option<String> {
    match (&plugin.candidate.standing, &plugin.state) {
        (Standing::ApprovalRequired { why }, _) => Some(why.clone()),
        (_, PluginState::Broken(error)) => Some(error.to_string()),
        _ => None,
    }
}

pub(crate) fn table(host: &Host) -> String {
    let mut text = String::new();
    for plugin in host.plugins() {
        let candidate = &plugin.candidate;
        text.push_str(&format!(
            "  {} {} {DIM}{}{DIM:#}\n",
            padded(candidate.id().as_str(), 24),
            padded(&candidate.manifest.plugin.version.to_string(), 8),
            printable(&problem(plugin).unwrap_or_else(|| format!(
                "{}, {}",
                state(plugin),
                source(candidate)
            ))),
        ));
        for line in in_words(&candidate.manifest.capability) {
            text.push_str(&format!("      {DIM}may {line}{DIM:#}\n"));
        }
    }
    text
}

fn info(cli: &Cli, output: &Output, id: &str) -> Result<(), Failure> {
    let host = super::open(cli)?;
    let plugin = host.plugin(id)?;
    if output.is_json() {
        return output.json(&describe(plugin));
    }
    output.text(&summary(plugin))
}

fn summary(plugin: &PluginEntry) -> String {
    let candidate = &plugin.candidate;
    let manifest = &candidate.manifest;
    let mut text = format!(
        "{BOLD}{}{BOLD:#} {}  {}\n  source    {}\n  digest    {}\n  contract  {}\n  state     {}\n",
        candidate.id(),
        manifest.plugin.version,
        printable(&manifest.plugin.description),
        printable(&source(candidate)),
        candidate.digest,
        printable(&manifest.plugin.contract),
        printable(&problem(plugin).unwrap_or_else(|| state(plugin).to_owned())),
    );
    for section in &manifest.sections {
        text.push_str(&format!(
            "  section   {} <{}>, at most {} tokens\n",
            section.id, section.tag, section.max_tokens
        ));
    }
    for tool in &manifest.tools {
        text.push_str(&format!("  tool      {}\n", tool.name));
    }
    for line in in_words(&manifest.capability) {
        text.push_str(&format!("  wants to  {line}\n"));
    }
    text
}

/// Grants a plugin what it asks for, in this workspace and for these bytes. The
/// lock is written first: a grant without it pins nothing.
fn approve(cli: &Cli, output: &Output, id: &str, yes: bool) -> Result<(), Failure> {
    let host = super::open(cli)?;
    let plugin = host.plugin(id)?;
    let candidate = &plugin.candidate;
    if candidate.source == Source::Bundled && candidate.standing == Standing::Ready {
        return Err(Failure::Usage(format!(
            "{id} is part of this program and needs no approval"
        )));
    }
    if !yes {
        confirm(&summary(plugin), candidate.id())?;
    }
    // None of its code runs before its capabilities were approved, and what its
    // tools are called to the model is shown before it is pinned.
    let tools = host.tool_definitions(candidate)?;
    if let (Some((specs, _)), Source::File(_)) = (&tools, &candidate.source) {
        let shown = definitions(specs);
        match yes {
            true => output.warnings(&[shown]),
            false => confirm(&shown, candidate.id())?,
        }
    }
    let tools = tools.map(|(_, digest)| digest);
    let workspace = host.workspace();
    if let Source::File(path) = &candidate.source {
        let locked = LockedPlugin {
            id: candidate.id().clone(),
            version: candidate.manifest.plugin.version.to_string(),
            source: path.clone(),
            digest: candidate.digest,
            tools,
        };
        workspace.lock.pin(locked, &workspace.root)?;
    }
    let granted = Granted {
        capability: &candidate.manifest.capability,
        tools,
    };
    Grants::approve(
        &Dirs::from_environment()?,
        &workspace.root,
        candidate.id(),
        candidate.digest,
        granted,
    )?;
    if output.is_json() {
        return output.json(&json!({"approved": candidate.id(), "digest": candidate.digest}));
    }
    output.text(&format!(
        "approved {} ({})\n",
        candidate.id(),
        candidate.digest
    ))
}

/// Everything that the model would be told of the tools, escaped (T14, T31).
fn definitions(specs: &[ToolSpec]) -> String {
    let mut text = String::new();
    for spec in specs {
        text.push_str(&format!(
            "  tool      {}\n    says      {}\n    takes     {}\n",
            one_line(&spec.name),
            one_line(&spec.description),
            one_line(&spec.input_schema.to_string())
        ));
        if let Some(schema) = &spec.output_schema {
            text.push_str(&format!(
                "    gives     {}\n",
                one_line(&schema.to_string())
            ));
        }
        if let Some(hint) = &spec.search_hint {
            text.push_str(&format!("    is found by {}\n", one_line(hint)));
        }
    }
    text
}

/// Shows what is asked for and asks, on a terminal only (PL-12b).
fn confirm(shown: &str, id: &PluginId) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::NeedsTerminal(format!(
            "approving {id} needs a terminal; after `sectile plugin info {id}`, run `sectile plugin approve {id} --yes`"
        )));
    }
    let mut stderr = anstream::stderr();
    let asked = write!(stderr, "{shown}Allow this? [y/N] ").and_then(|()| stderr.flush());
    asked.map_err(|e| Failure::Stream(e.to_string()))?;
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Failure::Stream(e.to_string()))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(SessionError::ApprovalRequired {
            plugin: id.to_string(),
            why: "it was not allowed".to_owned(),
        }
        .into()),
    }
}

fn pack(output: &Output, component: &Path, manifest: &Path, to: &Path) -> Result<(), Failure> {
    let at = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::Usage(format!("{}: {why}", path.display()))
    };
    let bytes = read_component(component)?;
    let text = std::fs::read_to_string(manifest).map_err(|e| at(manifest, &e))?;
    let parsed = Manifest::from_toml(&text).map_err(|e| at(manifest, &e))?;
    let plugin = embed(&bytes, &parsed).map_err(|e| at(component, &e))?;
    std::fs::write(to, &plugin).map_err(|e| at(to, &e))?;
    if output.is_json() {
        return output
            .json(&json!({"plugin": parsed.plugin.id, "path": path(to), "bytes": plugin.len()}));
    }
    output.text(&format!(
        "packed {} into {}\n",
        parsed.plugin.id,
        to.display()
    ))
}

fn single(
    output: &Output,
    component: &Path,
    section: Option<&str>,
    grants: &[SingleGrant],
    config: &str,
    query: Option<&str>,
) -> Result<(), Failure> {
    if !serde_json::from_str::<Value>(config).is_ok_and(|value| value.is_object()) {
        return Err(Failure::Usage("--config is not a JSON object".to_owned()));
    }
    let (id, outcome) = run_single(&SingleRun {
        component,
        section,
        grants,
        config,
        query,
        compiler: super::compiler()?,
    })?;
    let report = outcome.report;
    let log: Vec<_> = report
        .log
        .iter()
        .map(|line| format!("{}: {}", line.source, line.text))
        .collect();
    let refusals: Vec<_> = report
        .refusals
        .iter()
        .map(|r| format!("refused: {}: {}", r.what, r.why))
        .collect();
    output.warnings(&log);
    output.warnings(&refusals);
    let body = outcome.result?;
    if output.is_json() {
        return output.json(&json!({
            "id": id,
            "text": body.as_ref().map(|b| &b.text),
            "attributes": body.as_ref().map(|b| &b.attributes),
            "warnings": body.as_ref().map(|b| b.warnings.clone()).unwrap_or_default(),
            "log": log,
            "refusals": refusals,
            "elapsed_us": micros(&report),
            "host_calls": report.host_calls,
            "memory": report.memory,
            "capabilities_used": uses(&report),
        }));
    }
    match body {
        None => output.text(&format!("{DIM}The section is absent.{DIM:#}\n")),
        Some(body) => {
            output.warnings(&body.warnings);
            output.text(&format!("{}\n", printable(&body.text)))
        }
    }
}
