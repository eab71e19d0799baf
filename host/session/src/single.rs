//! Running one component outside any workspace, with grants from the command
//! line, in the same sandbox (CL-5).

use crate::error::SessionError;
use sectile_registry::{Candidate, limits};
use sectile_sandbox::{
    Access, Call, Capabilities, CompileLimits, Compiler, DenyList, Facts, GrantedDirectory,
    Imports, Mount, Outcome, PathRules, Sandbox, SandboxConfig, SandboxError, SectionBody,
    one_line,
};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// A grant on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SingleGrant {
    /// `list:DIR=/MOUNT`, `read:DIR=/MOUNT` or `read-write:DIR=/MOUNT`.
    Directory {
        /// What for.
        access: Access,
        /// On the host.
        host: PathBuf,
        /// For the guest.
        mount: String,
    },
    /// `env:NAME`.
    Environment(String),
    /// `clock`.
    Clock,
    /// `random`.
    Random,
}

impl FromStr for SingleGrant {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Self, SessionError> {
        let invalid = || SessionError::InvalidGrant(one_line(text));
        Ok(match text.split_once(':') {
            None if text == "clock" => Self::Clock,
            None if text == "random" => Self::Random,
            Some(("env", name)) if !name.is_empty() => Self::Environment(name.to_owned()),
            Some((access, rest)) => {
                let (host, mount) = rest.rsplit_once('=').ok_or_else(invalid)?;
                if host.is_empty() || !mount.starts_with('/') || mount.len() < 2 {
                    return Err(invalid());
                }
                Self::Directory {
                    access: match access {
                        "list" => Access::List,
                        "read" => Access::Read,
                        "read-write" => Access::ReadWrite,
                        _ => return Err(invalid()),
                    },
                    host: PathBuf::from(host),
                    mount: mount.to_owned(),
                }
            }
            None => return Err(invalid()),
        })
    }
}

/// What to run.
#[derive(Debug, Clone)]
pub struct SingleRun<'a> {
    /// The component.
    pub component: &'a Path,
    /// The section to render; the manifest's first one when absent.
    pub section: Option<&'a str>,
    /// What it gets.
    pub grants: &'a [SingleGrant],
    /// Its configuration, a JSON object.
    pub config: &'a str,
    /// What it is told of the request.
    pub query: Option<&'a str>,
    /// Where it is compiled.
    pub compiler: Compiler,
}

/// Renders one section of a component that is not installed. Only what `grants`
/// says is granted, whatever the manifest asks for.
///
/// # Errors
/// [`SessionError`] when the component cannot be loaded; how the call went is
/// in the outcome.
pub fn run_single(
    run: &SingleRun<'_>,
) -> Result<(String, Outcome<Option<SectionBody>>), SessionError> {
    let candidate = Candidate::unmanaged(run.component)?;
    let (sandbox, _) = Sandbox::new(SandboxConfig {
        compiler: run.compiler.clone(),
        cache: None,
        compile_limits: CompileLimits::default(),
    })?;
    let plugin = sandbox
        .load(&candidate.bytes, Imports::default())?
        .plugin
        .section()?;
    let first = || {
        candidate
            .manifest
            .sections
            .first()
            .map(|s| s.id.to_string())
    };
    let id = run.section.map(str::to_owned).or_else(first);
    let id = id.ok_or(SandboxError::MissingExport("a section in the manifest"))?;
    let call = Call {
        capabilities: Arc::new(granted(run.grants)?),
        limits: limits(&candidate.manifest.limits),
        facts: Arc::new(Facts {
            query: run.query.map(str::to_owned),
            ..Facts::default()
        }),
        config: run.config.to_owned(),
        ..Call::default()
    };
    let outcome = plugin.render(&id, &call);
    Ok((id, outcome))
}

fn granted(grants: &[SingleGrant]) -> Result<Capabilities, SessionError> {
    let mut capabilities = Capabilities::default();
    for grant in grants {
        match grant {
            SingleGrant::Clock => capabilities.clock = true,
            SingleGrant::Random => capabilities.random = true,
            SingleGrant::Environment(name) => {
                let value = std::env::var(name).ok();
                capabilities
                    .environment
                    .extend(value.map(|value| (name.clone(), value)));
            }
            SingleGrant::Directory {
                access,
                host,
                mount,
            } => {
                let cannot = |why: String| {
                    SessionError::Registry(sectile_registry::RegistryError::File {
                        path: host.clone(),
                        why,
                    })
                };
                let deny = DenyList::built_in(&[]).map_err(|e| cannot(e.to_string()))?;
                let rules =
                    PathRules::new(*access, &[], deny).map_err(|e| cannot(e.to_string()))?;
                let source = mount.trim_start_matches('/').to_owned();
                let opened = Mount::open(source, mount.clone(), host, rules)
                    .map_err(|e| cannot(e.to_string()))?;
                capabilities
                    .directories
                    .push(GrantedDirectory::Open(Arc::new(opened)));
            }
        }
    }
    Ok(capabilities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cl_5_grants_are_parsed_or_refused() {
        let directory = "read-write:/a=b=/work".parse::<SingleGrant>().unwrap();
        let expected = SingleGrant::Directory {
            access: Access::ReadWrite,
            host: "/a=b".into(),
            mount: "/work".into(),
        };
        assert_eq!(directory, expected);
        assert_eq!("clock".parse::<SingleGrant>().unwrap(), SingleGrant::Clock);
        for bad in [
            "",
            "read",
            "read:",
            "read:/a",
            "read:=/w",
            "read:/a=w",
            "read:/a=/",
            "write:/a=/w",
            "env:",
            "time",
        ] {
            assert!(bad.parse::<SingleGrant>().is_err(), "{bad}");
        }
    }
}
