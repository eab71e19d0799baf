//! Definitions of a plugin's tools, checked before anybody sees them.

use crate::tools::arguments::Schema;
use sectile_manifest::{DirectoryAccess, Manifest};
use sectile_model::{Digest, ToolDefinition, ToolName};
use sectile_sandbox::{Effects, ToolSpec, one_line};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// Bytes of a description.
const MAX_DESCRIPTION: usize = 4 << 10;
/// The publisher whose tools keep their bare names (PL-32).
pub(crate) const FIRST_PARTY: &str = "sectile/";

/// A tool of a plugin as it is advertised.
#[derive(Debug, Clone)]
pub(crate) struct PluginTool {
    /// Position of its plugin.
    pub(crate) plugin: usize,
    /// Its name in the plugin.
    pub(crate) name: ToolName,
    pub(crate) definition: ToolDefinition,
    pub(crate) effects: Effects,
    pub(crate) arguments: Schema,
    pub(crate) results: Option<Schema>,
    /// The same as the plugin wrote it.
    pub(crate) output_schema: Option<serde_json::Value>,
    /// The plugin wants it to be found first (PS-30).
    pub(crate) defer: bool,
    /// Words to find it by, besides its name and description.
    pub(crate) search_hint: Option<String>,
}

/// Definitions that cannot be advertised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// What the plugin offers is not what its manifest says (S10).
    #[error("its manifest names the tools [{declared}], and it offers [{offered}]")]
    NotAsDeclared {
        /// Names in the manifest.
        declared: String,
        /// Names that the plugin gave, escaped.
        offered: String,
    },
    /// A description is missing or too long, or has control characters.
    #[error("the description of `{tool}` {why}")]
    Description {
        /// The tool.
        tool: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A schema cannot be used (T17).
    #[error("a schema of `{tool}` cannot be used: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
}

impl DefinitionError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAsDeclared { .. } => "undeclared_tools",
            Self::Description { .. } => "invalid_tool_description",
            Self::Schema { .. } => "invalid_tool_schema",
        }
    }
}

/// The tools of the plugin at position `plugin`, in its order.
pub(crate) fn check(
    plugin: usize,
    manifest: &Manifest,
    specs: Vec<ToolSpec>,
) -> Result<Vec<PluginTool>, DefinitionError> {
    let declared: BTreeSet<_> = manifest.tools.iter().map(|t| t.name.as_str()).collect();
    let offered: BTreeSet<_> = specs.iter().map(|s| s.name.as_str()).collect();
    if declared != offered || specs.len() != declared.len() {
        let offered: Vec<_> = specs.iter().map(|s| one_line(&s.name)).collect();
        return Err(DefinitionError::NotAsDeclared {
            declared: Vec::from_iter(declared).join(", "),
            offered: offered.join(", "),
        });
    }
    specs
        .into_iter()
        .map(|spec| tool(plugin, manifest, spec))
        .collect()
}

fn tool(plugin: usize, manifest: &Manifest, spec: ToolSpec) -> Result<PluginTool, DefinitionError> {
    // It is one of the manifest's names, which were parsed.
    let named = manifest.tools.iter().find(|t| t.name.as_str() == spec.name);
    let Some(name) = named.map(|tool| tool.name.clone()) else {
        return Err(DefinitionError::NotAsDeclared {
            declared: String::new(),
            offered: one_line(&spec.name),
        });
    };
    describes(&spec)?;
    let schema = |schema| {
        Schema::new(schema).map_err(|why| DefinitionError::Schema {
            tool: spec.name.clone(),
            why,
        })
    };
    Ok(PluginTool {
        plugin,
        effects: believed(spec.effects, manifest),
        arguments: schema(&spec.input_schema)?,
        results: spec.output_schema.as_ref().map(schema).transpose()?,
        output_schema: spec.output_schema.clone(),
        defer: spec.defer,
        search_hint: spec.search_hint.clone(),
        definition: ToolDefinition {
            name: advertised(manifest, &name),
            description: spec.description.clone(),
            input_schema: spec.input_schema.clone(),
        },
        name,
    })
}

/// SHA-256 of everything that definitions say, so that a change of any word
/// needs the operator again (S9).
pub(crate) fn definitions_digest(specs: &[ToolSpec]) -> Digest {
    let all: Vec<_> = specs
        .iter()
        .map(|spec| {
            let effects = spec.effects;
            json!({
                "name": spec.name,
                "description": spec.description,
                "input_schema": spec.input_schema,
                "output_schema": spec.output_schema,
                "read_only": effects.read_only,
                "destructive": effects.destructive,
                "idempotent": effects.idempotent,
                "open_world": effects.open_world,
                "defer": spec.defer,
                "search_hint": spec.search_hint,
            })
        })
        .collect();
    Digest::from_bytes(Sha256::digest(json!(all).to_string()).into())
}

fn describes(spec: &ToolSpec) -> Result<(), DefinitionError> {
    let text = spec.description.as_str();
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    let why = if text.trim().is_empty() {
        "is missing"
    } else if text.len() > MAX_DESCRIPTION {
        "has more than 4096 bytes"
    } else if text.chars().any(control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(DefinitionError::Description {
        tool: spec.name.clone(),
        why,
    })
}

/// PL-32: whose tools they are stands in the names of third parties' tools.
fn advertised(manifest: &Manifest, name: &ToolName) -> String {
    let id = manifest.plugin.id.as_str();
    match id.split_once('/') {
        Some((_, plugin)) if !id.starts_with(FIRST_PARTY) => format!("{plugin}__{name}"),
        _ => name.to_string(),
    }
}

/// A plugin's word on its effects counts as far as its capabilities bear it out
/// (T19): whoever may write may change something, whoever has a network deals
/// with more than this machine.
fn believed(said: Effects, manifest: &Manifest) -> Effects {
    let asked = &manifest.capability;
    let writes = asked
        .filesystem
        .iter()
        .any(|directory| directory.access == DirectoryAccess::ReadWrite);
    let network = !asked.network.is_empty() || !asked.secret.is_empty();
    // First-party plugins are part of the program, and so is their word.
    let own = manifest.plugin.id.as_str().starts_with(FIRST_PARTY);
    let may_change = writes || network || asked.kv.is_some();
    let read_only = said.read_only && (own || !may_change);
    Effects {
        read_only,
        destructive: !read_only && (said.destructive || (!own && may_change)),
        idempotent: said.idempotent,
        open_world: network,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(id: &str, more: &str) -> Manifest {
        Manifest::from_toml(&format!(
            "[plugin]\nid = \"{id}\"\nversion = \"1.0.0\"\ncontract = \"0.1\"\ndescription = \"d\"\n\
             [[tool]]\nname = \"look\"\n{more}"
        ))
        .unwrap()
    }

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: "Looks.".to_owned(),
            input_schema: json!({"type": "object", "additionalProperties": false}),
            output_schema: None,
            effects: Effects {
                read_only: true,
                ..Effects::default()
            },
            defer: false,
            search_hint: None,
        }
    }

    #[test]
    fn pl_32_third_parties_have_their_plugins_name_before_the_tools() {
        for (id, name) in [("acme/eyes", "eyes__look"), ("sectile/eyes", "look")] {
            let tools = check(0, &manifest(id, ""), vec![spec("look")]).unwrap();
            assert_eq!(tools[0].definition.name, name);
        }
    }

    #[test]
    fn s10_what_is_offered_is_what_was_declared() {
        let manifest = manifest("acme/eyes", "");
        for specs in [
            vec![],
            vec![spec("look"), spec("steal")],
            vec![spec("look"), spec("look")],
            vec![spec("look\u{1b}[2J")],
        ] {
            let error = check(0, &manifest, specs).unwrap_err();
            assert_eq!(error.code(), "undeclared_tools");
            assert!(!error.to_string().contains('\u{1b}'));
        }
    }

    #[test]
    fn t14_descriptions_are_bounded_and_plain() {
        let manifest = manifest("acme/eyes", "");
        for text in ["", " ", "a\u{1b}[8mb", &"x".repeat(4_097)] {
            let bad = ToolSpec {
                description: text.to_owned(),
                ..spec("look")
            };
            let error = check(0, &manifest, vec![bad]).unwrap_err();
            assert_eq!(error.code(), "invalid_tool_description");
        }
    }

    #[test]
    fn t19_effects_count_as_far_as_the_capabilities_bear_them_out() {
        let effects = |id: &str, more: &str| {
            check(0, &manifest(id, more), vec![spec("look")]).unwrap()[0].effects
        };
        assert!(effects("acme/eyes", "").read_only);
        let writer = "[[capability.filesystem]]\nmount = \"/w\"\nsource = \"workspace\"\naccess = \"read-write\"\nreason = \"r\"\n";
        let lying = effects("acme/eyes", writer);
        assert!(!lying.read_only && lying.destructive && !lying.open_world);
        assert!(effects("sectile/eyes", writer).read_only);
        let network = "[[capability.network]]\nhost = \"example.com\"\nreason = \"r\"\n";
        assert!(effects("acme/eyes", network).open_world);
    }
}
