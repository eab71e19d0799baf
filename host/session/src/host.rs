//! A workspace with its plugins, loaded and ready to be called.

use crate::config::config;
use crate::error::SessionError;
use crate::facts::facts;
use crate::sections::{EnabledSection, enabled_sections};
use sectile_model::{ModelCapabilities, PluginId};
use sectile_prompt::{Profile, WorldState};
use sectile_registry::{
    Candidate, Dirs, Grants, Operator, Places, Standing, Workspace, candidates, capabilities,
    limits,
};
use sectile_sandbox::{
    CacheLocation, Call, CancelToken, CompileLimits, Compiler, Loaded, Sandbox, SandboxConfig,
    SectionPlugin,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

/// How a host is opened.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// The workspace; the one around the current directory when absent.
    pub workspace: Option<PathBuf>,
    /// A profile in place of the workspace's.
    pub profile: Option<String>,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// The user's directories.
    pub dirs: Dirs,
}

/// A workspace with its plugins.
pub struct Host {
    pub(crate) workspace: Workspace,
    pub(crate) profile: Profile,
    pub(crate) operator: Operator,
    pub(crate) model: ModelCapabilities,
    pub(crate) plugins: Vec<PluginEntry>,
    pub(crate) sections: Vec<EnabledSection>,
    pub(crate) world: WorldState,
    skill_roots: Vec<PathBuf>,
    warnings: Vec<String>,
}

/// A plugin of the workspace.
pub struct PluginEntry {
    /// What it is.
    pub candidate: Candidate,
    /// Whether it can be called.
    pub state: PluginState,
}

/// Whether a plugin can be called.
pub enum PluginState {
    /// It can.
    Loaded(SectionPlugin),
    /// It was not loaded, because it may not run.
    Blocked,
    /// It may run and cannot be loaded.
    Broken(sectile_sandbox::SandboxError),
}

impl Host {
    /// Finds the workspace, its plugins and their grants, and loads what may run.
    ///
    /// # Errors
    /// [`SessionError`] when the workspace itself, the operator's files or the
    /// bundled plugins are not in order. What is wrong with a proposed plugin
    /// is a warning or a state of its entry.
    pub fn open(options: HostOptions) -> Result<Self, SessionError> {
        let workspace = Workspace::open(options.workspace.as_deref())?;
        let operator = Operator::load(&options.dirs)?;
        let name = options
            .profile
            .as_deref()
            .or(workspace.file.profile.as_deref());
        let profile = Profile::named(name.unwrap_or("default"))?;
        let grants = Grants::load(&options.dirs)?;
        let mut warnings = Vec::new();
        let mut found = Vec::new();
        for candidate in candidates(&workspace, &sectile_bundle::BUNDLED, &grants)? {
            match candidate {
                Ok(candidate) => found.push(candidate),
                Err(error) => warnings.push(format!("a plugin is left out: {error}")),
            }
        }
        let sandbox = sandbox(&options, &mut warnings)?;
        let plugins = load_all(&sandbox, found, &mut warnings);
        let (sections, world) = enabled_sections(&profile, &plugins)?;
        let roots = operator
            .skill_roots
            .as_ref()
            .unwrap_or(&profile.skill_roots);
        Ok(Self {
            skill_roots: roots
                .iter()
                .map(|root| from_home(root, &options.dirs))
                .collect(),
            model: operator
                .model
                .clone()
                .unwrap_or_else(|| profile.model.clone()),
            workspace,
            profile,
            operator,
            plugins,
            sections,
            world,
            warnings,
        })
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The profile in use.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The model that requests are composed for.
    #[must_use]
    pub fn model(&self) -> &ModelCapabilities {
        &self.model
    }

    /// All plugins: the bundled ones, then the workspace's.
    #[must_use]
    pub fn plugins(&self) -> &[PluginEntry] {
        &self.plugins
    }

    /// The enabled sections in their fixed order (WS-1).
    #[must_use]
    pub fn sections(&self) -> &[EnabledSection] {
        &self.sections
    }

    /// What the operator should know before anything runs.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let blocked = self.plugins.iter().filter_map(|plugin| match &plugin.candidate.standing {
            Standing::ApprovalRequired { why } => Some(format!(
                "the plugin {0} does not run: {why}; see `sectile plugin info {0}` and `sectile plugin approve {0}`",
                plugin.candidate.id()
            )),
            Standing::Ready | Standing::Disabled => None,
        });
        self.warnings.iter().cloned().chain(blocked).collect()
    }

    /// The plugin called `id`.
    ///
    /// # Errors
    /// [`SessionError::UnknownPlugin`].
    pub fn plugin(&self, id: &str) -> Result<&PluginEntry, SessionError> {
        let found = self
            .plugins
            .iter()
            .find(|plugin| plugin.candidate.id().as_str() == id);
        found.ok_or_else(|| SessionError::UnknownPlugin(sectile_sandbox::one_line(id)))
    }

    /// Everything one call of `plugin` gets. The granted directories are opened
    /// anew, so that what was made or removed since is seen.
    pub(crate) fn call(
        &self,
        plugin: &Candidate,
        query: Option<&str>,
    ) -> Result<Call, SessionError> {
        let places = Places {
            workspace: &self.workspace,
            skill_roots: &self.skill_roots,
        };
        Ok(Call {
            capabilities: Arc::new(capabilities(&plugin.manifest, &places)?),
            limits: limits(&plugin.manifest.limits),
            facts: Arc::new(facts(
                &self.workspace,
                &self.profile,
                &self.operator,
                &self.model,
                query,
            )),
            config: self.config(plugin.id()),
            cancel: CancelToken::new(),
        })
    }

    fn config(&self, plugin: &PluginId) -> String {
        config(plugin, &self.profile, &self.workspace, &self.operator)
    }
}

fn sandbox(options: &HostOptions, warnings: &mut Vec<String>) -> Result<Sandbox, SessionError> {
    let (sandbox, problem) = Sandbox::new(SandboxConfig {
        compiler: options.compiler.clone(),
        cache: Some(CacheLocation {
            dir: options.dirs.cache.join("artifacts"),
            key_file: options.dirs.data.join("artifact.key"),
        }),
        compile_limits: CompileLimits::default(),
    })?;
    warnings.extend(problem.map(|why| format!("compiled plugins are not cached: {why}")));
    Ok(sandbox)
}

/// Loads what may run, side by side: compiling is the slow part of a first start.
fn load_all(
    sandbox: &Sandbox,
    found: Vec<Candidate>,
    warnings: &mut Vec<String>,
) -> Vec<PluginEntry> {
    let load = |candidate: &Candidate| {
        let may_run =
            candidate.standing == Standing::Ready && !candidate.manifest.sections.is_empty();
        may_run.then(|| match candidate.bytes {
            Cow::Borrowed(bundled) => sandbox.load_bundled(bundled),
            Cow::Owned(ref bytes) => sandbox.load(bytes),
        })
    };
    let loaded: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = found
            .iter()
            .map(|candidate| scope.spawn(|| load(candidate)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().ok().flatten())
            .collect()
    });
    let entry = |(candidate, loaded): (Candidate, Option<_>)| PluginEntry {
        state: match loaded {
            None => PluginState::Blocked,
            Some(Ok(Loaded {
                plugin,
                warnings: more,
                ..
            })) => {
                warnings.extend(more);
                plugin
                    .section()
                    .map_or_else(PluginState::Broken, PluginState::Loaded)
            }
            Some(Err(error)) => PluginState::Broken(error),
        },
        candidate,
    };
    found.into_iter().zip(loaded).map(entry).collect()
}

fn from_home(root: &str, dirs: &Dirs) -> PathBuf {
    match root.strip_prefix("~/") {
        Some(rest) => dirs.home.join(rest),
        None => PathBuf::from(root),
    }
}
