//! `write`: a whole file (TL-3).

use crate::change::{Change, before};
use schemars::JsonSchema;
use sectile_paths::Path;
use sectile_sdk::Failure;
use sectile_sdk::tool::{Context, Output};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The file, relative to the workspace
    path: String,
    /// The whole contents
    content: String,
}

pub(crate) fn run(input: Write, context: &Context<'_>) -> Result<Output, Failure> {
    let path = Path::parse(&input.path)?;
    let old = before(&path)?;
    let verb = match old {
        None => "created",
        Some(_) => "wrote",
    };
    let lines = input.content.lines().count();
    let change = Change {
        path: &path,
        old: old.as_deref(),
        new: input.content.as_bytes(),
    };
    let diff = change.make(context)?;
    let text = format!(
        "{verb} {}: {lines} lines, {} bytes",
        path.shown,
        input.content.len()
    );
    Ok(Output::text(text).artifact(diff))
}
