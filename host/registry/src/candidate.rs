//! The plugins of a workspace, and where each one stands.

use crate::error::RegistryError;
use crate::grants::Grants;
use crate::source_file::read;
use crate::workspace::{ErrorPolicy, ProposedPlugin, Workspace};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sectile_manifest::{CapabilityRequests, DirectoryAccess, DirectoryRequest, Manifest, extract};
use sectile_model::{Digest, PluginId};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Bytes that a component may have; the sandbox has a ceiling of its own.
const MAX_COMPONENT: u64 = 64 << 20;
/// The publisher of bundled plugins; nobody else may use it (PL-32).
pub(crate) const FIRST_PARTY: &str = "sectile/";
/// Tokens that a section of a third party may have (WS-14).
const MAX_SECTION_TOKENS: u32 = 10_000;

/// Where a component came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// It is part of the program.
    Bundled,
    /// A file of the workspace.
    File(PathBuf),
}

/// Whether a plugin may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It may, with what it asks for.
    Ready,
    /// The operator has to approve it first.
    ApprovalRequired {
        /// Why.
        why: String,
    },
    /// It is switched off in `sectile.toml`.
    Disabled,
}

/// A plugin of a workspace; its bytes were read once and are what will run.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Where it came from.
    pub source: Source,
    /// The component.
    pub bytes: Cow<'static, [u8]>,
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Whether it may run.
    pub standing: Standing,
    /// Digest of the definitions of its tools, as they were approved.
    pub approved_tools: Option<Digest>,
    /// What happens when one of its sections fails.
    pub on_error: ErrorPolicy,
}

impl Candidate {
    /// Its identity.
    #[must_use]
    pub fn id(&self) -> &PluginId {
        &self.manifest.plugin.id
    }

    fn new(source: Source, bytes: Cow<'static, [u8]>, what: &str) -> Result<Self, RegistryError> {
        let manifest = extract(&bytes).map_err(|why| RegistryError::Component {
            what: what.to_owned(),
            why,
        })?;
        Ok(Self {
            digest: Digest::from_bytes(Sha256::digest(&bytes).into()),
            source,
            bytes,
            manifest,
            standing: Standing::Ready,
            approved_tools: None,
            on_error: ErrorPolicy::Fail,
        })
    }

    /// A component from a file outside any workspace, for a single run; whoever
    /// starts it grants what it gets.
    ///
    /// # Errors
    /// [`RegistryError`] when it cannot be read or carries no manifest.
    pub fn unmanaged(path: &Path) -> Result<Self, RegistryError> {
        let bytes = read_component(path)?;
        let what = path.display().to_string();
        Self::new(Source::File(path.to_owned()), Cow::Owned(bytes), &what)
    }
}

/// The bytes of a component that somebody named: a regular file, up to a bound.
///
/// # Errors
/// [`RegistryError::File`].
pub fn read_component(path: &Path) -> Result<Vec<u8>, RegistryError> {
    let failed = |why: String| RegistryError::File {
        path: path.to_owned(),
        why,
    };
    // A link is followed here: whoever names it can read what it points to.
    let real = path.canonicalize().map_err(|e| failed(e.to_string()))?;
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(failed("it is not a file".to_owned()));
    };
    let dir =
        Dir::open_ambient_dir(folder, ambient_authority()).map_err(|e| failed(e.to_string()))?;
    let bytes = read(&dir, folder, Path::new(name), MAX_COMPONENT)?;
    bytes.ok_or_else(|| failed("it does not exist".to_owned()))
}

/// The bundled plugins, then the proposed ones in their order. A proposed
/// plugin that cannot be read is an error of its own and hides no other.
///
/// # Errors
/// The first error of a bundled plugin: the program itself is broken then.
pub fn candidates(
    workspace: &Workspace,
    bundled: &[&'static [u8]],
    grants: &Grants,
) -> Result<Vec<Result<Candidate, RegistryError>>, RegistryError> {
    let mut all = Vec::new();
    for bytes in bundled {
        let what = "a bundled plugin";
        let mut candidate = Candidate::new(Source::Bundled, Cow::Borrowed(bytes), what)?;
        candidate.standing = bundled_standing(&candidate.manifest, workspace, grants);
        all.push(Ok(candidate));
    }
    all.extend(
        workspace
            .file
            .plugin
            .iter()
            .map(|proposed| load(workspace, proposed, grants)),
    );
    Ok(all)
}

fn load(
    workspace: &Workspace,
    proposed: &ProposedPlugin,
    grants: &Grants,
) -> Result<Candidate, RegistryError> {
    let path = workspace.root.join(&proposed.path);
    let bytes = read(
        &workspace.dir,
        &workspace.root,
        &proposed.path,
        MAX_COMPONENT,
    )?;
    let bytes = bytes.ok_or_else(|| RegistryError::File {
        path: path.clone(),
        why: "it does not exist; sectile.toml proposes it".to_owned(),
    })?;
    let what = format!("{} ({})", proposed.id, path.display());
    let mut candidate = Candidate::new(
        Source::File(proposed.path.clone()),
        Cow::Owned(bytes),
        &what,
    )?;
    check(&candidate, proposed, what)?;
    candidate.on_error = proposed.on_error;
    let granted = grants.get(&workspace.root, candidate.id(), &candidate.digest);
    candidate.approved_tools = granted.and_then(|granted| granted.tools);
    candidate.standing = match proposed.enabled {
        false => Standing::Disabled,
        true => standing(&candidate, workspace, grants),
    };
    Ok(candidate)
}

fn check(
    candidate: &Candidate,
    proposed: &ProposedPlugin,
    what: String,
) -> Result<(), RegistryError> {
    let id = candidate.id();
    if *id != proposed.id {
        let why = format!("its manifest says {id}");
        return Err(RegistryError::Mismatch { what, why });
    }
    if id.as_str().starts_with(FIRST_PARTY) {
        let why = "the publisher `sectile` is for bundled plugins".to_owned();
        return Err(RegistryError::Mismatch { what, why });
    }
    for section in &candidate.manifest.sections {
        if section.max_tokens > MAX_SECTION_TOKENS {
            let why = format!(
                "section {} asks for more than {MAX_SECTION_TOKENS} tokens",
                section.id
            );
            return Err(RegistryError::Mismatch { what, why });
        }
    }
    Ok(())
}

/// Ready when the operator granted these bytes, in this workspace, at least
/// what they ask for, and the lock, where it has a word on the plugin, agrees.
fn standing(candidate: &Candidate, workspace: &Workspace, grants: &Grants) -> Standing {
    let required = |why: &str| Standing::ApprovalRequired {
        why: why.to_owned(),
    };
    let id = candidate.id();
    match workspace.lock.get(id) {
        Some(locked) if locked.digest != candidate.digest => {
            return required("the component is not the one that sectile.lock pins");
        }
        _ => {}
    }
    match grants.get(&workspace.root, id, &candidate.digest) {
        None if grants.knows(&workspace.root, id) => {
            required("another component of it was approved, and this one is new")
        }
        None => required("it was never approved in this workspace"),
        Some(granted) if covers(granted.capability, &candidate.manifest.capability) => {
            Standing::Ready
        }
        Some(_) => required("it asks for more than was approved"),
    }
}

/// A bundled plugin that only reads is ready without asking (PL-18); what one
/// that does more may do is the operator's word.
fn bundled_standing(manifest: &Manifest, workspace: &Workspace, grants: &Grants) -> Standing {
    let asked = &manifest.capability;
    let reads = CapabilityRequests {
        filesystem: asked.filesystem.clone(),
        clock: asked.clock,
        ..CapabilityRequests::default()
    };
    let writes = |d: &DirectoryRequest| d.access == DirectoryAccess::ReadWrite;
    let only_reads = reads == *asked && !asked.filesystem.iter().any(writes);
    let granted = grants.bundled(&workspace.root, &manifest.plugin.id);
    if only_reads || granted.is_some_and(|granted| covers(granted.capability, asked)) {
        return Standing::Ready;
    }
    Standing::ApprovalRequired {
        why: "it does more than read, and was never approved in this workspace".to_owned(),
    }
}

/// Whether everything in `asked` stands in `granted`, to the letter.
fn covers(granted: &CapabilityRequests, asked: &CapabilityRequests) -> bool {
    asked
        .filesystem
        .iter()
        .all(|d| granted.filesystem.contains(d))
        && asked.network.iter().all(|n| granted.network.contains(n))
        && asked.secret.iter().all(|s| granted.secret.contains(s))
        && asked
            .environment
            .iter()
            .all(|e| granted.environment.contains(e))
        && asked.clock <= granted.clock
        && asked.random <= granted.random
        && asked.kv <= granted.kv
}
