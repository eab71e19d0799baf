//! What a plugin is configured with: the profile's word, then the workspace's,
//! then the operator's.

use sectile_model::PluginId;
use sectile_prompt::Profile;
use sectile_registry::{Operator, Workspace};
use serde_json::{Value, json};

/// The plugin that knows skills.
pub(crate) const SKILLS: &str = "sectile/skills";

/// One JSON object for `plugin`.
pub(crate) fn config(
    plugin: &PluginId,
    profile: &Profile,
    workspace: &Workspace,
    operator: &Operator,
) -> String {
    let mut merged = profile.config.get(plugin).cloned().unwrap_or_default();
    for source in [&workspace.file.config, &operator.config] {
        if let Some(Ok(Value::Object(more))) = source.get(plugin).map(serde_json::to_value) {
            merged.extend(more);
        }
    }
    if plugin.as_str() == SKILLS && !operator.disabled_skills.is_empty() {
        merged.insert("disabled".to_owned(), json!(operator.disabled_skills));
    }
    Value::Object(merged).to_string()
}
