//! Loading a component: checked, compiled or taken from the cache, linked once.

use crate::call::{Call, CallReport, Outcome};
use crate::compile::{self, ArtifactCache, Compiler, Lookup};
use crate::contract;
use crate::engine::{Ticker, running_engine};
use crate::error::{SandboxError, one_line};
use crate::limits::{CONCURRENT_CALLS, CONCURRENT_CALLS_PER_PLUGIN, CompileLimits};
use crate::provider::ProviderPlugin;
use crate::section::SectionPlugin;
use crate::slots::{Slot, Slots};
use crate::state::CallState;
use crate::tool::ToolPlugin;
use crate::{run, wasi};
use sectile_model::Digest;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Engine, Store};

/// Where compiled artifacts are kept.
#[derive(Debug, Clone)]
pub struct CacheLocation {
    /// A directory for this user alone; made when missing.
    pub dir: PathBuf,
    /// A file with this installation's key; made when missing. Keep it outside `dir`.
    pub key_file: PathBuf,
}

/// How a sandbox is set up.
#[derive(Debug, Clone)]
pub struct SandboxConfig {
    /// Where components are compiled.
    pub compiler: Compiler,
    /// Where artifacts are kept; `None` compiles at every load.
    pub cache: Option<CacheLocation>,
    /// Ceilings of a compilation.
    pub compile_limits: CompileLimits,
}

/// Loads and runs components. Cloning shares everything.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) ticker: Ticker,
    pub(crate) slots: Arc<Slots>,
    linker: Linker<CallState>,
    cache: Option<ArtifactCache>,
    config: SandboxConfig,
}

/// Interfaces that only a granted capability opens to a component (PL-2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imports {
    /// `sectile:plugin/kv`.
    pub kv: bool,
}

/// A component that was loaded, with what the operator should know of it.
pub struct Loaded {
    /// The plugin.
    pub plugin: Plugin,
    /// Whether its code came from the cache.
    pub from_cache: bool,
    /// Trouble with the cache: a rejected entry, a full disk.
    pub warnings: Vec<String>,
}

impl Sandbox {
    /// Starts an engine. A cache that cannot be used is left out, and the
    /// second value says why.
    ///
    /// # Errors
    /// [`SandboxError::Host`] when the engine cannot start.
    pub fn new(config: SandboxConfig) -> Result<(Self, Option<SandboxError>), SandboxError> {
        let engine = running_engine()?;
        let mut linker = Linker::new(&engine);
        let linked =
            wasi::add_to_linker(&mut linker).and_then(|()| contract::add_to_linker(&mut linker));
        linked.map_err(|e| SandboxError::host("link its own interfaces", e))?;
        let (cache, problem) = match &config.cache {
            None => (None, None),
            Some(at) => match ArtifactCache::open(&at.dir, &at.key_file) {
                Ok(cache) => (Some(cache), None),
                Err(error) => (None, Some(error)),
            },
        };
        let inner = Inner {
            ticker: Ticker::start(&engine)?,
            slots: Slots::new(CONCURRENT_CALLS),
            engine,
            linker,
            cache,
            config,
        };
        Ok((Self(Arc::new(inner)), problem))
    }

    /// Loads the component `bytes`; none of its code runs (B12). What is
    /// hashed, checked and compiled are these very bytes.
    ///
    /// # Errors
    /// Any of the loading errors of [`SandboxError`].
    pub fn load(&self, bytes: &[u8], imports: Imports) -> Result<Loaded, SandboxError> {
        self.load_with(bytes, imports, &self.0.config.compiler)
    }

    /// The same for a component that is part of the program (PL-18): it is
    /// compiled in this process, in the time it takes.
    ///
    /// # Errors
    /// Any of the loading errors of [`SandboxError`].
    pub fn load_bundled(
        &self,
        bytes: &'static [u8],
        imports: Imports,
    ) -> Result<Loaded, SandboxError> {
        self.load_with(bytes, imports, &Compiler::InProcess)
    }

    fn load_with(
        &self,
        bytes: &[u8],
        imports: Imports,
        compiler: &Compiler,
    ) -> Result<Loaded, SandboxError> {
        compile::check(bytes, &self.0.config.compile_limits)?;
        let digest = Digest::from_bytes(Sha256::digest(bytes).into());
        let mut warnings = Vec::new();
        let cached = self.cached(&digest, &mut warnings);
        let from_cache = cached.is_some();
        let component = match cached {
            Some(component) => component,
            None => self.compile(bytes, compiler, &digest, &mut warnings)?,
        };
        let plugin = self.link(&component, imports, digest)?;
        Ok(Loaded {
            plugin,
            from_cache,
            warnings,
        })
    }

    fn cached(&self, digest: &Digest, warnings: &mut Vec<String>) -> Option<Component> {
        match self.0.cache.as_ref()?.get(&self.0.engine, digest) {
            Lookup::Hit(artifact) => self.deserialize(&artifact).ok(),
            Lookup::Miss => None,
            Lookup::Rejected => {
                warnings.push(format!(
                    "the cached code of {digest} was not written by this installation; it was thrown away and compiled anew"
                ));
                None
            }
        }
    }

    fn compile(
        &self,
        bytes: &[u8],
        compiler: &Compiler,
        digest: &Digest,
        warnings: &mut Vec<String>,
    ) -> Result<Component, SandboxError> {
        let inner = &*self.0;
        let artifact =
            compile::compile(&inner.engine, compiler, bytes, &inner.config.compile_limits)?;
        let component = self.deserialize(&artifact)?;
        if let Some(cache) = &inner.cache
            && let Err(error) = cache.put(&inner.engine, digest, &artifact)
        {
            warnings.push(format!(
                "the compiled code of {digest} could not be cached: {error}"
            ));
        }
        Ok(component)
    }

    // SAFETY of the call: the artifact is machine code and is trusted. It comes
    // from our own compiler, in this process or in a child that runs this
    // program, or from the cache, which has checked its keyed hash over the very
    // bytes that are passed on. Nothing else reaches this function.
    #[expect(unsafe_code, reason = "wasmtime's only way to load compiled code")]
    fn deserialize(&self, artifact: &[u8]) -> Result<Component, SandboxError> {
        unsafe { Component::deserialize(&self.0.engine, artifact) }
            .map_err(|e| SandboxError::host("load compiled code", e))
    }

    fn link(
        &self,
        component: &Component,
        imports: Imports,
        digest: Digest,
    ) -> Result<Plugin, SandboxError> {
        let engine = &self.0.engine;
        let ty = component.component_type();
        for (name, _) in ty.imports(engine) {
            if is_contract(name, "kv") {
                if !imports.kv {
                    return Err(SandboxError::ImportNotGranted {
                        name: one_line(name),
                        capability: "kv",
                    });
                }
            } else if !wasi_or_contract(name) {
                return Err(SandboxError::UnknownImport {
                    name: one_line(name),
                });
            }
        }
        let exports = ty
            .exports(engine)
            .map(|(name, _)| name.to_owned())
            .collect();
        let pre = self
            .0
            .linker
            .instantiate_pre(component)
            .map_err(|e| SandboxError::IncompatibleImport(one_line(&format!("{e:#}"))))?;
        Ok(Plugin {
            sandbox: Arc::clone(&self.0),
            slots: Slots::new(CONCURRENT_CALLS_PER_PLUGIN),
            digest,
            exports,
            pre,
        })
    }
}

/// A loaded component.
#[derive(Clone)]
pub struct Plugin {
    sandbox: Arc<Inner>,
    slots: Arc<Slots>,
    digest: Digest,
    exports: Arc<[String]>,
    pre: InstancePre<CallState>,
}

/// What a component can export (PL-2).
const EXPORTS: [&str; 4] = ["section", "tool", "provider", "hook"];

impl Plugin {
    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Which of `section`, `tool`, `provider` and `hook` it exports.
    #[must_use]
    pub fn exports(&self) -> Vec<&'static str> {
        let has = |kind: &&str| self.exports.iter().any(|name| is_contract(name, kind));
        EXPORTS.into_iter().filter(has).collect()
    }

    /// Its sections.
    ///
    /// # Errors
    /// [`SandboxError::MissingExport`] when it exports none, and
    /// [`SandboxError::IncompatibleImport`] when their types differ from the contract.
    pub fn section(&self) -> Result<SectionPlugin, SandboxError> {
        if !self.exports().contains(&"section") {
            return Err(SandboxError::MissingExport("sectile:plugin/section@0.1.0"));
        }
        let pre = contract::SectionPluginPre::new(self.pre.clone())
            .map_err(|e| SandboxError::IncompatibleImport(one_line(&format!("{e:#}"))))?;
        Ok(SectionPlugin::new(self.clone(), pre))
    }

    /// Its tools.
    ///
    /// # Errors
    /// [`SandboxError::MissingExport`] when it exports none, and
    /// [`SandboxError::IncompatibleImport`] when their types differ from the contract.
    pub fn tool(&self) -> Result<ToolPlugin, SandboxError> {
        if !self.exports().contains(&"tool") {
            return Err(SandboxError::MissingExport("sectile:plugin/tool@0.1.0"));
        }
        let pre = contract::ToolPluginPre::new(self.pre.clone())
            .map_err(|e| SandboxError::IncompatibleImport(one_line(&format!("{e:#}"))))?;
        Ok(ToolPlugin::new(self.clone(), pre))
    }

    /// The protocol it speaks.
    ///
    /// # Errors
    /// [`SandboxError::MissingExport`] when it exports none, and
    /// [`SandboxError::IncompatibleImport`] when its types differ from the contract.
    pub fn provider(&self) -> Result<ProviderPlugin, SandboxError> {
        if !self.exports().contains(&"provider") {
            return Err(SandboxError::MissingExport("sectile:plugin/provider@0.1.0"));
        }
        let pre = contract::ProviderPluginPre::new(self.pre.clone())
            .map_err(|e| SandboxError::IncompatibleImport(one_line(&format!("{e:#}"))))?;
        Ok(ProviderPlugin::new(self.clone(), pre))
    }

    /// Waits for a slot of this plugin and one of the sandbox.
    pub(crate) fn slot(&self, started: Instant, within: Duration) -> Result<Held, SandboxError> {
        let own = self.slots.take(started, within)?;
        Ok(Held {
            _own: own,
            _all: self.sandbox.slots.take(started, within)?,
        })
    }

    pub(crate) fn sandbox(&self) -> &Arc<Inner> {
        &self.sandbox
    }

    /// One call in a store of its own, on the caller's thread.
    pub(crate) fn call<T>(
        &self,
        export: &'static str,
        call: &Call,
        body: impl FnOnce(&mut Store<CallState>) -> wasmtime::Result<Result<T, SandboxError>>,
    ) -> Outcome<T> {
        let started = Instant::now();
        match self.slot(started, call.limits.time) {
            Ok(_held) => run::run(&self.sandbox, export, call, started, body),
            Err(busy) => Outcome {
                result: Err(busy),
                report: CallReport {
                    elapsed: started.elapsed(),
                    ..CallReport::default()
                },
            },
        }
    }
}

/// The slots of one call.
pub(crate) struct Held {
    _own: Slot,
    _all: Slot,
}

/// Interfaces that every plugin may import: they grant nothing. Sockets, HTTP
/// and the like are not among them.
fn wasi_or_contract(import: &str) -> bool {
    const CONTRACT: [&str; 5] = ["host", "facts", "types", "progress", "seen-files"];
    const WASI: [(&str, &[&str]); 5] = [
        ("wasi:io", &["error", "poll", "streams"]),
        (
            "wasi:cli",
            &[
                "environment",
                "exit",
                "stdin",
                "stdout",
                "stderr",
                "terminal-input",
                "terminal-output",
                "terminal-stdin",
                "terminal-stdout",
                "terminal-stderr",
            ],
        ),
        ("wasi:clocks", &["wall-clock", "monotonic-clock"]),
        ("wasi:random", &["random", "insecure", "insecure-seed"]),
        ("wasi:filesystem", &["types", "preopens"]),
    ];
    CONTRACT.iter().any(|name| is_contract(import, name))
        || WASI.iter().any(|(package, names)| {
            names
                .iter()
                .any(|name| is_interface(import, package, name, "0.2"))
        })
}

/// Whether `full` is the contract's interface `name`.
fn is_contract(full: &str, name: &str) -> bool {
    is_interface(full, "sectile:plugin", name, "0.1")
}

/// Whether `full` is `package/name@minor.patch`.
fn is_interface(full: &str, package: &str, name: &str, minor: &str) -> bool {
    full.strip_prefix(package)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|rest| rest.strip_prefix(name))
        .and_then(|rest| rest.strip_prefix('@'))
        .and_then(|rest| rest.strip_prefix(minor))
        .is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pl_2_only_offered_interfaces_may_be_imported() {
        for offered in [
            "sectile:plugin/host@0.1.0",
            "wasi:io/streams@0.2.9",
            "wasi:cli/exit@0.2.0",
        ] {
            assert!(wasi_or_contract(offered), "{offered}");
        }
        for not in [
            "wasi:sockets/tcp@0.2.9",
            "wasi:http/outgoing-handler@0.2.0",
            "sectile:plugin/kv@0.1.0",
            "sectile:plugin/host@0.2.0",
            "wasi:io/streams@0.3.0",
            "wasi:io/streams",
            "host",
            "wasi:io/streamsx@0.2.0",
            "sectile:plugin/host@0.10.0",
        ] {
            assert!(!wasi_or_contract(not), "{not}");
        }
    }
}
