//! A workspace with its plugins, loaded and ready to be called.

use crate::config::config;
use crate::error::SessionError;
use crate::facts::facts;
use crate::render::Told;
use crate::sections::{EnabledSection, enabled_sections};
use crate::tools::{
    DefinitionError, OwnValues, PluginTool, Tool, ToolInfo, Toolset, check, definitions_digest,
};
use sectile_engine::{CompactRule, Displaced};
use sectile_model::{Digest, ModelCapabilities, PluginId};
use sectile_prompt::{Profile, WorldState};
use sectile_registry::{
    Candidate, Dirs, Grants, Operator, Places, Source, Standing, Workspace, adapter_limits,
    candidates, capabilities, deciding_files, limits,
};
use sectile_sandbox::{
    CacheLocation, Call, CompileLimits, Compiler, Imports, KeyValues, Loaded, Plugin,
    ProviderPlugin, Sandbox, SandboxConfig, SandboxError, SectionPlugin, ToolPlugin, ToolSpec,
    ToolSummary,
};
use sectile_store::{AuditLog, PluginValues, WorkspaceStore};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

/// How a host is opened.
#[derive(Clone)]
pub struct HostOptions {
    /// The workspace; the one around the current directory when absent.
    pub workspace: Option<PathBuf>,
    /// A profile in place of the workspace's.
    pub profile: Option<String>,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// The user's directories.
    pub dirs: Dirs,
    /// Tools of the embedding program, in the order in which they are advertised.
    pub tools: Vec<Arc<dyn Tool>>,
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
    /// Name of the provider that requests go to; empty while none was chosen.
    pub(crate) provider: String,
    tools: Toolset,
    /// The same for sections.
    pub(crate) summaries: Arc<[ToolSummary]>,
    /// Where plugins keep values; a look at a workspace has none.
    values: Option<Arc<dyn PluginValues>>,
    /// Where it is written what they did.
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
    sandbox: Sandbox,
    skill_roots: Vec<PathBuf>,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
}

/// A plugin of the workspace.
pub struct PluginEntry {
    /// What it is.
    pub candidate: Candidate,
    /// Whether it can be called.
    pub state: PluginState,
}

/// A plugin that can be called, by what it offers.
pub struct LoadedPlugin {
    pub(crate) sections: Option<SectionPlugin>,
    pub(crate) tools: Option<ToolPlugin>,
}

/// Whether a plugin can be called.
pub enum PluginState {
    /// It can.
    Loaded(Box<LoadedPlugin>),
    /// It was not loaded, because it may not run.
    Blocked,
    /// It may run and cannot be loaded.
    Broken(SandboxError),
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
        let tools = plugin_tools(&plugins, &operator, &profile, &workspace, &mut warnings);
        let (sections, world) = enabled_sections(&profile, &plugins)?;
        let roots = operator
            .skill_roots
            .as_ref()
            .unwrap_or(&profile.skill_roots);
        let mut host = Self {
            skill_roots: roots
                .iter()
                .map(|root| from_home(root, &options.dirs))
                .collect(),
            model: operator
                .model
                .clone()
                .unwrap_or_else(|| profile.model.clone()),
            provider: String::new(),
            tools: Toolset::new(tools, &options.tools)?,
            summaries: Arc::default(),
            values: None,
            audit: None,
            sandbox,
            files: deciding_files(&workspace, &options.dirs),
            workspace,
            profile,
            operator,
            plugins,
            sections,
            world,
            warnings,
        };
        host.defer_tools();
        Ok(host)
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

    /// The files that decide what runs, whether they exist or not. When one
    /// changes, a host that is opened anew may be another one.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What the operator should know before anything runs.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let blocked = self.plugins.iter().filter_map(|plugin| match &plugin.candidate.standing {
            // What the program brings along is an offer, and nobody's unmet wish.
            Standing::ApprovalRequired { .. } if plugin.candidate.source == Source::Bundled => None,
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

    /// Composes for `model` of `provider` from now on.
    pub(crate) fn set_model(&mut self, provider: &str, model: ModelCapabilities) {
        self.provider = provider.to_owned();
        self.model = model;
        self.defer_tools();
    }

    /// How many tools fit depends on the model's window (PS-30).
    fn defer_tools(&mut self) {
        self.tools
            .defer(&self.operator.tools, self.model.context_window);
        self.summaries = self.tools.summaries();
    }

    /// The model, and the profile's rules for requests to it.
    pub(crate) fn rules(&self) -> (&ModelCapabilities, CompactRule, Displaced) {
        (
            &self.model,
            self.profile.compact_rule,
            self.profile.displaced,
        )
    }

    /// Keeps what plugins did and keep in `store`, which is the workspace's.
    pub fn keep_in(&mut self, store: Arc<dyn WorkspaceStore>) {
        self.values = Some(Arc::clone(&store) as Arc<dyn PluginValues>);
        self.audit = Some(store);
    }

    /// Writes what plugins do into `audit` instead.
    pub fn audit_into(&mut self, audit: Arc<dyn AuditLog>) {
        self.audit = Some(audit);
    }

    /// Where `plugin` keeps its values, if it was granted a place for them.
    pub(crate) fn values(&self, plugin: &Candidate) -> Option<Arc<dyn KeyValues>> {
        let quota = plugin.manifest.capability.kv?.0;
        Some(Arc::new(OwnValues {
            store: Arc::clone(self.values.as_ref()?),
            plugin: plugin.id().clone(),
            quota,
        }))
    }

    /// The tools that a model can call, at once or once it has found them.
    pub fn tool_infos(&self) -> impl Iterator<Item = &ToolInfo> {
        self.tools.infos()
    }

    /// The tools of plugins alone: those that need no session.
    pub fn plugin_tools(&self) -> impl Iterator<Item = &ToolInfo> {
        self.tools.of_plugins()
    }

    /// The definitions of `plugin`'s tools as it gives them now, for approval:
    /// it is loaded with nothing granted. `None` when it has no tools.
    ///
    /// # Errors
    /// [`SessionError`] when it cannot be loaded, and what is wrong with the
    /// definitions.
    pub fn tool_definitions(
        &self,
        plugin: &Candidate,
    ) -> Result<Option<(Vec<ToolSpec>, Digest)>, SessionError> {
        if plugin.manifest.tools.is_empty() {
            return Ok(None);
        }
        let tools = load(&self.sandbox, plugin)?.plugin.tool()?;
        let call = Call {
            limits: limits(&plugin.manifest.limits),
            config: self.config(plugin.id()),
            ..Call::default()
        };
        let specs = tools.definitions(&call).result?;
        check(0, &plugin.manifest, specs.clone())?;
        let digest = definitions_digest(&specs);
        Ok(Some((specs, digest)))
    }

    pub(crate) fn tools(&self) -> &Toolset {
        &self.tools
    }

    /// The operator's configuration.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    /// The adapter `id`, loaded, and what each of its calls gets: bounds, and
    /// nothing else (PV: an adapter is pure).
    pub(crate) fn adapter(&self, id: &PluginId) -> Result<(ProviderPlugin, Call), SessionError> {
        let candidate = &self.plugin(id.as_str())?.candidate;
        if let Standing::ApprovalRequired { why } = &candidate.standing {
            return Err(SessionError::ApprovalRequired {
                plugin: id.to_string(),
                why: why.clone(),
            });
        }
        let loaded = load(&self.sandbox, candidate)?;
        let call = Call {
            limits: adapter_limits(&candidate.manifest.limits),
            config: self.config(id),
            ..Call::default()
        };
        Ok((loaded.plugin.provider()?, call))
    }

    /// Everything one call of `plugin` gets. The granted directories are opened
    /// anew, so that what was made or removed since is seen.
    pub(crate) fn call(&self, plugin: &Candidate, told: &Told<'_>) -> Result<Call, SessionError> {
        let places = Places {
            workspace: &self.workspace,
            skill_roots: &self.skill_roots,
        };
        Ok(Call {
            capabilities: Arc::new(capabilities(&plugin.manifest, &places)?),
            limits: limits(&plugin.manifest.limits),
            facts: Arc::new(facts(self, told.query)),
            config: self.config(plugin.id()),
            services: Default::default(),
            cancel: told.cancel.clone(),
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

fn load(sandbox: &Sandbox, candidate: &Candidate) -> Result<Loaded, SandboxError> {
    let imports = Imports {
        kv: candidate.manifest.capability.kv.is_some(),
    };
    match candidate.bytes {
        Cow::Borrowed(bundled) => sandbox.load_bundled(bundled, imports),
        Cow::Owned(ref bytes) => sandbox.load(bytes, imports),
    }
}

/// Loads what may run, side by side: compiling is the slow part of a first start.
fn load_all(
    sandbox: &Sandbox,
    found: Vec<Candidate>,
    warnings: &mut Vec<String>,
) -> Vec<PluginEntry> {
    let load_one = |candidate: &Candidate| {
        let may_run = candidate.standing == Standing::Ready
            && (has_sections(candidate) || has_tools(candidate));
        may_run.then(|| load(sandbox, candidate))
    };
    let loaded: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = found
            .iter()
            .map(|candidate| scope.spawn(|| load_one(candidate)))
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
                offered(&candidate, &plugin).map_or_else(PluginState::Broken, |loaded| {
                    PluginState::Loaded(Box::new(loaded))
                })
            }
            Some(Err(error)) => PluginState::Broken(error),
        },
        candidate,
    };
    found.into_iter().zip(loaded).map(entry).collect()
}

fn has_sections(candidate: &Candidate) -> bool {
    !candidate.manifest.sections.is_empty()
}

fn has_tools(candidate: &Candidate) -> bool {
    !candidate.manifest.tools.is_empty()
}

/// What a plugin offers, as its manifest says.
fn offered(candidate: &Candidate, plugin: &Plugin) -> Result<LoadedPlugin, SandboxError> {
    Ok(LoadedPlugin {
        sections: has_sections(candidate)
            .then(|| plugin.section())
            .transpose()?,
        tools: has_tools(candidate).then(|| plugin.tool()).transpose()?,
    })
}

/// The tools that may be advertised, with their owners. What is wrong with one
/// plugin's tools is a warning, and costs no other plugin its own.
fn plugin_tools(
    plugins: &[PluginEntry],
    operator: &Operator,
    profile: &Profile,
    workspace: &Workspace,
    warnings: &mut Vec<String>,
) -> Vec<(String, PluginTool)> {
    let mut all = Vec::new();
    for (n, PluginEntry { candidate, state }) in plugins.iter().enumerate() {
        let PluginState::Loaded(loaded) = state else {
            continue;
        };
        let Some(tools) = &loaded.tools else {
            continue;
        };
        // Definitions are pure: nothing is granted for them.
        let call = Call {
            limits: limits(&candidate.manifest.limits),
            config: config(candidate.id(), profile, workspace, operator),
            ..Call::default()
        };
        match defined(n, candidate, tools, &call) {
            Ok(tools) => all.extend(tools.into_iter().map(|t| (candidate.id().to_string(), t))),
            Err(why) => warnings.push(format!(
                "the tools of {} are not offered: {why}",
                candidate.id()
            )),
        }
    }
    all
}

fn defined(
    n: usize,
    candidate: &Candidate,
    tools: &ToolPlugin,
    call: &Call,
) -> Result<Vec<PluginTool>, String> {
    let specs = tools.definitions(call).result.map_err(|e| e.to_string())?;
    let pinned = candidate.source == Source::Bundled
        || candidate.approved_tools == Some(definitions_digest(&specs));
    if !pinned {
        return Err(format!(
            "their definitions are not those that were approved; see `sectile plugin approve {}`",
            candidate.id()
        ));
    }
    check(n, &candidate.manifest, specs).map_err(|e: DefinitionError| e.to_string())
}

fn from_home(root: &str, dirs: &Dirs) -> PathBuf {
    match root.strip_prefix("~/") {
        Some(rest) => dirs.home.join(rest),
        None => PathBuf::from(root),
    }
}
