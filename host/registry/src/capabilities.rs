//! From what a plugin asks for to what the sandbox gives it (PL-11).

use crate::candidate::FIRST_PARTY;
use crate::error::RegistryError;
use crate::workspace::Workspace;
use cap_std::fs::Dir;
use sectile_manifest::{
    CapabilityRequests, DirectoryAccess, DirectoryRequest, DirectorySource, LimitRequests, Manifest,
};
use sectile_model::PluginId;
use sectile_sandbox::{
    Access, Capabilities, DenyList, GrantedDirectory, Limits, Mount, MountError, PathRules,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where sessions keep the full texts of results, relative to the workspace.
const SPILL_FOLDER: &str = ".sectile/spill";

/// Directories of the host that a source can stand for.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The operator's skill roots, absolute, in order.
    pub skill_roots: &'a [PathBuf],
}

/// Opens what `manifest` asks for. Called only for plugins that may run.
///
/// # Errors
/// [`RegistryError::UnsupportedCapability`] for what this host cannot enforce
/// (PL-12a), [`RegistryError::Grant`] when a directory cannot be opened.
pub fn capabilities(
    manifest: &Manifest,
    places: &Places<'_>,
) -> Result<Capabilities, RegistryError> {
    let asked = &manifest.capability;
    let plugin = &manifest.plugin.id;
    if let Some(what) = unsupported(asked) {
        return Err(RegistryError::UnsupportedCapability {
            plugin: plugin.to_string(),
            what,
        });
    }
    let mut directories = Vec::new();
    for request in &asked.filesystem {
        directories.extend(open(request, places, plugin)?);
    }
    let value = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
    Ok(Capabilities {
        directories,
        environment: asked.environment.iter().filter_map(value).collect(),
        clock: asked.clock,
        random: asked.random,
    })
}

fn unsupported(asked: &CapabilityRequests) -> Option<String> {
    if let Some(network) = asked.network.first() {
        return Some(format!("the network host {}", network.host));
    }
    if let Some(secret) = asked.secret.first() {
        return Some(format!("the secret {}", secret.name));
    }
    let source = |d: &&DirectoryRequest| {
        matches!(
            d.source,
            DirectorySource::Library | DirectorySource::Data | DirectorySource::Config(_)
        )
    };
    asked
        .filesystem
        .iter()
        .find(source)
        .map(|d| format!("the directory `{}`", d.source))
}

fn open(
    request: &DirectoryRequest,
    places: &Places<'_>,
    plugin: &PluginId,
) -> Result<Vec<GrantedDirectory>, RegistryError> {
    let workspace = places.workspace;
    let one = |path: &Path| {
        grant(request, &request.mount, path, None, plugin).map(|d| d.into_iter().collect())
    };
    match request.source {
        DirectorySource::Workspace => one(&workspace.root),
        // The workspace is granted on its own; only what lies above it is more.
        DirectorySource::Repository => match &workspace.repository_root {
            Some(root) if *root != workspace.root => one(root),
            _ => Ok(Vec::new()),
        },
        DirectorySource::Skills => skill_roots(request, places, plugin),
        DirectorySource::Library | DirectorySource::Data | DirectorySource::Config(_) => {
            Ok(Vec::new())
        }
    }
}

/// The operator's roots, then the workspace's own, which are opened from the
/// workspace and so cannot lead out of it.
fn skill_roots(
    request: &DirectoryRequest,
    places: &Places<'_>,
    plugin: &PluginId,
) -> Result<Vec<GrantedDirectory>, RegistryError> {
    let mut granted = Vec::new();
    let mount = |n: usize| format!("{}/{n}", request.mount);
    for root in places.skill_roots {
        granted.extend(grant(request, &mount(granted.len()), root, None, plugin)?);
    }
    for root in &places.workspace.file.skill_roots {
        let path = places.workspace.root.join(root);
        match places.workspace.dir.open_dir(root) {
            Ok(dir) => granted.extend(grant(
                request,
                &mount(granted.len()),
                &path,
                Some(dir),
                plugin,
            )?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => granted.push(GrantedDirectory::Broken {
                source: request.source.to_string(),
                host_path: path,
                problem: error.to_string(),
            }),
        }
    }
    Ok(granted)
}

/// `None` when there is no such directory.
fn grant(
    request: &DirectoryRequest,
    mount: &str,
    path: &Path,
    dir: Option<Dir>,
    plugin: &PluginId,
) -> Result<Option<GrantedDirectory>, RegistryError> {
    let failed = |why: String| RegistryError::Grant {
        plugin: plugin.to_string(),
        why,
    };
    let access = match request.access {
        DirectoryAccess::List => Access::List,
        DirectoryAccess::Read => Access::Read,
        DirectoryAccess::ReadWrite => Access::ReadWrite,
    };
    let mut deny = DenyList::built_in(&[]).map_err(|e| failed(e.to_string()))?;
    // The full texts of long results are for the model, through first-party tools.
    if plugin.as_str().starts_with(FIRST_PARTY) {
        deny = deny.but_readable_below(SPILL_FOLDER);
    }
    let rules = PathRules::new(access, &request.paths, deny).map_err(|e| failed(e.to_string()))?;
    let source = request.source.to_string();
    let opened = match dir {
        Some(dir) => Mount::from_dir(source.clone(), mount, path, dir, rules),
        None => Mount::open(source.clone(), mount, path, rules),
    };
    match opened {
        Ok(mount) => Ok(Some(GrantedDirectory::Open(Arc::new(mount)))),
        Err(MountError::Missing(_)) => Ok(None),
        // A root of skills that is locked is a warning (WS-40); a locked workspace is the end.
        Err(error) if request.source == DirectorySource::Skills => {
            Ok(Some(GrantedDirectory::Broken {
                source,
                host_path: path.to_owned(),
                problem: error.to_string(),
            }))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The limits that a plugin gets: what it asks for, capped by the host.
#[must_use]
pub fn limits(asked: &LimitRequests) -> Limits {
    let ceiling = Limits {
        time: Duration::from_secs(10),
        memory: 256 << 20,
        output: 1 << 20,
        ..Limits::default()
    };
    within(asked, Limits::default(), &ceiling)
}

/// The same for a tool, which may take its time and read a whole repository.
#[must_use]
pub fn tool_limits(asked: &LimitRequests) -> Limits {
    let own = Limits {
        host_calls: 5_000_000,
        read_bytes: 2 << 30,
        ..Limits::default()
    };
    let ceiling = Limits {
        time: Duration::from_secs(120),
        memory: 256 << 20,
        output: 1 << 20,
        ..own.clone()
    };
    within(asked, own, &ceiling)
}

/// The same for a provider's adapter, through which whole conversations pass,
/// images included.
#[must_use]
pub fn adapter_limits(asked: &LimitRequests) -> Limits {
    let ceiling = Limits {
        time: Duration::from_secs(10),
        memory: 512 << 20,
        output: 128 << 20,
        ..Limits::default()
    };
    within(asked, Limits::default(), &ceiling)
}

fn within(asked: &LimitRequests, mut limits: Limits, ceiling: &Limits) -> Limits {
    let bytes = |size: sectile_manifest::ByteSize| usize::try_from(size.0).unwrap_or(usize::MAX);
    if let Some(time) = asked.time {
        limits.time = time.0;
    }
    if let Some(memory) = asked.memory {
        limits.memory = bytes(memory);
    }
    if let Some(output) = asked.output {
        limits.output = bytes(output);
    }
    limits.capped_by(ceiling)
}

/// What a plugin asks for, one line each, in plain words. Texts of the author
/// are escaped.
#[must_use]
pub fn describe(asked: &CapabilityRequests) -> Vec<String> {
    let quoted = |text: &str| sectile_sandbox::one_line(text);
    let mut lines = Vec::new();
    for directory in &asked.filesystem {
        let verb = match directory.access {
            DirectoryAccess::List => "list directories in",
            DirectoryAccess::Read => "read files in",
            DirectoryAccess::ReadWrite => "read and change files in",
        };
        let which = match directory.paths.as_slice() {
            [] => String::new(),
            paths => format!(" matching {}", quoted(&paths.join(", "))),
        };
        lines.push(format!(
            "{verb} the {}{which}: {}",
            directory.source,
            quoted(&directory.reason)
        ));
    }
    lines.extend(
        asked
            .network
            .iter()
            .map(|n| format!("reach {}: {}", quoted(&n.host), quoted(&n.reason))),
    );
    lines.extend(asked.secret.iter().map(|s| {
        format!(
            "have the secret {} sent to {}: {}",
            quoted(&s.name),
            quoted(&s.host),
            quoted(&s.reason)
        )
    }));
    lines.extend(
        asked
            .environment
            .iter()
            .map(|name| format!("see the environment variable {}", quoted(name))),
    );
    lines.extend(asked.clock.then(|| "see the time".to_owned()));
    lines.extend(asked.random.then(|| "use true randomness".to_owned()));
    lines.extend(
        asked
            .kv
            .map(|size| format!("keep up to {size} of its own data")),
    );
    if lines.is_empty() {
        lines.push("nothing but to compute".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pl_11_the_hosts_ceiling_wins_over_what_is_asked() {
        let asked = LimitRequests {
            memory: Some("2GiB".parse().unwrap()),
            time: Some("3600s".parse().unwrap()),
            output: Some("1GiB".parse().unwrap()),
        };
        let limits = limits(&asked);
        assert_eq!(
            (limits.time, limits.memory, limits.output),
            (Duration::from_secs(10), 256 << 20, 1 << 20)
        );
    }

    #[test]
    fn pl_10_the_default_asks_for_nothing() {
        assert_eq!(
            describe(&CapabilityRequests::default()),
            ["nothing but to compute"]
        );
    }
}
