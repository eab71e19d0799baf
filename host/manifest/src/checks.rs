//! Rules that hold between several entries of a manifest.

use crate::capability::DirectoryRequest;
use crate::manifest::{Manifest, Placement, SectionRequest, ToolRequest};
use crate::text::{is_one_line, is_slug};
use std::collections::BTreeSet;
use toml::de::{DeTable, DeValue};

/// A rule that does not hold.
pub(crate) struct Broken {
    /// The entry, as the keys and numbers on the way to it, joined by dots.
    pub(crate) entry: String,
    /// What stands there.
    pub(crate) what: String,
    /// The rule.
    pub(crate) why: &'static str,
}

fn broken(entry: String, what: &dyn ToString, why: &'static str) -> Result<(), Broken> {
    Err(Broken {
        entry,
        what: what.to_string(),
        why,
    })
}

/// Checks every rule, in the manifest's order.
pub(crate) fn check(manifest: &Manifest) -> Result<(), Broken> {
    sections(&manifest.sections)?;
    tools(&manifest.tools)?;
    directories(&manifest.capability.filesystem)
}

fn sections(sections: &[SectionRequest]) -> Result<(), Broken> {
    let (mut ids, mut tags) = (BTreeSet::new(), BTreeSet::new());
    for (n, section) in sections.iter().enumerate() {
        let entry = |key: &str| format!("section.{n}.{key}");
        if !ids.insert(&section.id) {
            return broken(entry("id"), &section.id, "two sections have this id");
        }
        if !tags.insert(&section.tag) {
            return broken(entry("tag"), &section.tag, "two sections have this tag");
        }
        if (section.placement == Placement::System) != section.cache.is_some() {
            return broken(
                entry("cache"),
                &section.id,
                "`cache` goes with placement `system`, and only with it",
            );
        }
        for (locale, notices) in &section.notices {
            let entry = || entry(&format!("notices.{locale}"));
            if !is_slug(&locale.to_ascii_lowercase()) {
                return broken(entry(), locale, "a locale is written like `en` or `zh-CN`");
            }
            if !is_one_line(&notices.replaced) || !is_one_line(&notices.expired) {
                return broken(entry(), locale, "a notice is exactly one line");
            }
        }
    }
    Ok(())
}

fn tools(tools: &[ToolRequest]) -> Result<(), Broken> {
    let mut names = BTreeSet::new();
    for (n, tool) in tools.iter().enumerate() {
        if !names.insert(&tool.name) {
            let entry = format!("tool.{n}.name");
            return broken(entry, &tool.name, "two tools have this name");
        }
    }
    Ok(())
}

fn directories(directories: &[DirectoryRequest]) -> Result<(), Broken> {
    let mut mounts: Vec<&str> = Vec::new();
    for (n, directory) in directories.iter().enumerate() {
        let mount = directory.mount.as_str();
        let entry = || format!("capability.filesystem.{n}.mount");
        if mounts.contains(&mount) {
            return broken(entry(), &mount, "two directories have this mount");
        }
        if mounts
            .iter()
            .any(|other| is_below(mount, other) || is_below(other, mount))
        {
            return broken(entry(), &mount, "one mount lies in another");
        }
        mounts.push(mount);
    }
    Ok(())
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Line and column of `entry` in `toml`, or of the nearest entry around it.
pub(crate) fn place(toml: &str, entry: &str) -> Option<(usize, usize)> {
    let table = DeTable::parse(toml).ok()?.into_inner();
    let whole = DeValue::Table(table);
    let mut at = &whole;
    let mut start = None;
    for key in entry.split('.') {
        let next = match key.parse::<usize>() {
            Ok(number) => at.get(number),
            Err(_) => at.get(key),
        };
        let Some(next) = next else { break };
        start = Some(next.span().start);
        at = next.get_ref();
    }
    let before = toml.get(..start?)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next()?.chars().count() + 1;
    Some((line, column))
}
