//! `sectile section list` and `sectile section render`.

use crate::args::{Cli, SectionCommand};
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};
use crate::text::{padded, printable};
use sectile_sandbox::CallReport;
use sectile_session::{EnabledSection, Host, RenderedSection};
use serde_json::{Value, json};

pub(crate) fn run(cli: &Cli, output: &Output, command: &SectionCommand) -> Result<(), Failure> {
    let host = super::open(cli)?;
    match command {
        SectionCommand::List => list(&host, output),
        SectionCommand::Render { id } => render(&host, output, id),
    }
}

fn list(host: &Host, output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        let sections: Vec<_> = host.sections().iter().map(describe).collect();
        return output.json(&sections);
    }
    output.warnings(&host.warnings());
    output.text(&table(host))
}

pub(crate) fn describe(section: &EnabledSection) -> Value {
    json!({
        "id": section.spec.id(),
        "tag": section.spec.tag,
        "placement": section.placement,
        "max_tokens": section.spec.max_tokens.get(),
        "plugin": section.spec.source.plugin,
        "version": section.spec.source.version,
        "digest": section.spec.source.digest,
    })
}

pub(crate) fn table(host: &Host) -> String {
    let mut text = String::new();
    for section in host.sections() {
        let source = &section.spec.source;
        text.push_str(&format!(
            "  {} {DIM}<{}>  {} {}{DIM:#}\n",
            padded(section.spec.id().as_str(), 32),
            section.spec.tag,
            source.plugin,
            source.version
        ));
    }
    text
}

fn render(host: &Host, output: &Output, id: &str) -> Result<(), Failure> {
    let RenderedSection {
        section,
        body,
        warnings,
        report,
    } = host.render(id, None)?;
    output.warnings(&warnings);
    let body = body.map_err(|failure| failure.of(&section))?;
    let message = body
        .as_ref()
        .map(|body| host.wrap(&section.spec, body))
        .transpose()?;
    if output.is_json() {
        return output.json(&json!({
            "id": section.spec.id(),
            "tag": section.spec.tag,
            "text": body.map(|body| body.text),
            "message": message,
            "warnings": warnings,
            "elapsed_us": micros(&report),
            "capabilities_used": uses(&report),
        }));
    }
    let Some(message) = message else {
        return output.text(&format!("{DIM}The section is absent.{DIM:#}\n"));
    };
    let used: Vec<_> = report
        .uses
        .iter()
        .map(|u| format!("{} {}", u.access.name(), printable(&u.path)))
        .collect();
    let used = if used.is_empty() {
        "nothing".to_owned()
    } else {
        used.join(", ")
    };
    output.text(&format!(
        "{}\n\n{BOLD}{} µs{BOLD:#} {DIM}used {used}{DIM:#}\n",
        printable(&message),
        micros(&report)
    ))
}

pub(crate) fn micros(report: &CallReport) -> u64 {
    u64::try_from(report.elapsed.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn uses(report: &CallReport) -> Vec<Value> {
    let used = report.uses.iter();
    used.map(|u| json!({"path": u.path, "access": u.access.name()}))
        .collect()
}
