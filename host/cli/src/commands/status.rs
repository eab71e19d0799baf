//! `sectile status`.

use super::{plugin, section, tool};
use crate::args::Cli;
use crate::failure::Failure;
use crate::output::{BOLD, Output};
use crate::text::{path, printable};
use serde_json::json;

pub(crate) fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    let host = super::open(cli)?;
    let workspace = host.workspace();
    if output.is_json() {
        return output.json(&json!({
            "workspace": path(&workspace.root),
            "repository_root": workspace.repository_root.as_deref().map(path),
            "is_initialised": workspace.is_initialised,
            "profile": host.profile().name,
            "model": host.model(),
            "sections": host.sections().iter().map(section::describe).collect::<Vec<_>>(),
            "tools": host.tool_infos().map(tool::describe).collect::<Vec<_>>(),
            "providers": [],
            "plugins": host.plugins().iter().map(plugin::describe).collect::<Vec<_>>(),
            "warnings": host.warnings(),
        }));
    }
    let note = if workspace.is_initialised {
        ""
    } else {
        " (no sectile.toml; nothing is written)"
    };
    output.text(&format!(
        "{BOLD}workspace{BOLD:#}  {}{note}\n{BOLD}profile{BOLD:#}    {}: {}\n{BOLD}model{BOLD:#}      {}\n\n\
         {BOLD}sections{BOLD:#}\n{}\n{BOLD}tools{BOLD:#}\n{}\n{BOLD}plugins{BOLD:#}\n{}",
        printable(&path(&workspace.root)),
        host.profile().name,
        host.profile().description,
        printable(&host.model().name),
        section::table(&host),
        tool::table(&host),
        plugin::table(&host),
    ))?;
    output.warnings(&host.warnings());
    Ok(())
}
