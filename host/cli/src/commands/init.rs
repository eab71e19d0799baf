//! `sectile init`.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Output;
use crate::text;
use sectile_prompt::Profile;
use sectile_registry::Workspace;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(cli: &Cli, output: &Output, profile: &str) -> Result<(), Failure> {
    let profile = Profile::named(profile).map_err(|e| Failure::Usage(e.to_string()))?;
    // Here, and not in an ancestor that happens to be a workspace.
    let here = cli.workspace.as_deref().unwrap_or(Path::new("."));
    let path = Workspace::open(Some(here))?.init(&profile.name)?;
    if output.is_json() {
        return output.json(&json!({"path": text::path(&path), "profile": profile.name}));
    }
    output.text(&format!(
        "wrote {}; try `sectile inspect`\n",
        path.display()
    ))
}
