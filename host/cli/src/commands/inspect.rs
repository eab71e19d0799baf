//! `sectile inspect`: the context window as it would be sent (CE-22).

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::{BOLD, DIM, Output};
use crate::text::{bar, columns, cut, grouped, padded, path, printable};
use sectile_engine::PreparedDocument;
use sectile_session::{Composition, Host, Part};
use serde_json::{Value, json};

/// Columns of the bar beside each part.
const BAR: usize = 10;
/// Columns for the plugin beside each part.
const PLUGIN: usize = 16;
/// Lines of each part that are shown without `--full`.
const PREVIEW_LINES: usize = 8;

pub(crate) fn run(
    cli: &Cli,
    output: &Output,
    message: Option<&str>,
    full: bool,
    session: Option<&str>,
) -> Result<(), Failure> {
    let mut host = super::open(cli)?;
    let composition = match session {
        Some(id) => super::session::next_request(&mut host, id, message)?,
        None => super::compose(&host, message)?,
    };
    if output.is_json() {
        return output.json(&document(&host, composition));
    }
    output.text(&page(&host, &composition, full))?;
    output.warnings(&composition.warnings);
    Ok(())
}

fn document(host: &Host, composition: Composition) -> Value {
    let parts = composition.parts();
    let provenance = composition.call.messages.clone();
    json!({
        "format": "sectile.inspect/1",
        // The sample behind it is a preview: nothing of it was kept or sent.
        "preview": true,
        "workspace": path(&host.workspace().root),
        "repository_root": host.workspace().repository_root.as_deref().map(path),
        "profile": host.profile().name,
        "parts": parts,
        "provenance": provenance,
        "world_state": {
            "tokens": composition.growth.tokens,
            "superseded_tokens": composition.growth.superseded_tokens,
            "superseded_percent": composition.growth.superseded_percent(composition.call.budget.conversation_tokens),
        },
        "warnings": composition.warnings,
        "prepared": PreparedDocument::from(composition.call),
    })
}

fn page(host: &Host, composition: &Composition, full: bool) -> String {
    let width = columns();
    let call = &composition.call;
    let parts = composition.parts();
    let total = call.budget.estimated_input_tokens;
    let line = call.limits.auto_compact_token_limit;
    let mut text = format!(
        "{BOLD}{}{BOLD:#}\n{DIM}profile {}, model {}: window {}, output {}\n\
         a preview: nothing is sent{DIM:#}\n\n",
        cut(&path(&host.workspace().root), width),
        host.profile().name,
        cut(&host.model().name, 24),
        grouped(host.model().context_window),
        grouped(host.model().max_output_tokens),
    );
    for part in &parts {
        text.push_str(&row(part, total, width));
    }
    text.push_str(&format!(
        "\n{BOLD}{:>9}{BOLD:#}  tokens, about; {} of {} until compaction\n",
        grouped(total),
        percent(total, line),
        grouped(line)
    ));
    for (part, content) in parts.iter().zip(contents(composition)) {
        text.push_str(&section(part, &content, width, full));
    }
    text
}

fn row(part: &Part, total: u64, width: usize) -> String {
    let plugin = part
        .plugin
        .as_ref()
        .map(|p| p.plugin.to_string())
        .unwrap_or_default();
    // What the number, the bar, the region, the plugin and the gaps leave.
    let name = width.saturating_sub(9 + 2 + BAR + 2 + 8 + 1 + PLUGIN);
    format!(
        "{:>9}  {}  {DIM}{}{DIM:#}{}{DIM}{}{DIM:#}\n",
        grouped(part.tokens),
        padded(&bar(part.tokens, total, BAR as u64), BAR),
        padded(part.region, 8),
        padded(&part.name, name),
        cut(&plugin, PLUGIN)
    )
}

fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The text of each part, in the order of the parts.
fn contents(composition: &Composition) -> Vec<String> {
    let request = &composition.call.request;
    let system = request.system.iter().map(|part| part.content.clone());
    let messages = request.messages.iter().map(|message| {
        let texts = message
            .content
            .iter()
            .map(|block| block.text().unwrap_or("[not text]"));
        texts.collect::<Vec<_>>().join("\n")
    });
    system.chain(messages).collect()
}

fn section(part: &Part, content: &str, width: usize, full: bool) -> String {
    let title = cut(&part.name, width.saturating_sub(6));
    let rule = "─".repeat(width.saturating_sub(title.chars().count() + 4));
    let mut text = format!("\n{DIM}──{DIM:#} {BOLD}{title}{BOLD:#} {DIM}{rule}{DIM:#}\n");
    if full {
        text.push_str(&printable(content));
        text.push('\n');
        return text;
    }
    let lines = content.lines().count();
    for line in content.lines().take(PREVIEW_LINES) {
        text.push_str(&cut(line, width));
        text.push('\n');
    }
    if lines > PREVIEW_LINES {
        text.push_str(&format!(
            "{DIM}… {} more lines; --full shows them{DIM:#}\n",
            lines - PREVIEW_LINES
        ));
    }
    text
}
