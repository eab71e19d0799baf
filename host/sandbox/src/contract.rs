//! The host's side of `sectile:plugin@0.1.0`: generated types, and the answers
//! to what a plugin asks.

use crate::call::GrantedDirectory;
use crate::facts::Clock;
use crate::files::Access;
use crate::log::LogLevel;
use crate::state::CallState;
use sectile::plugin::{facts, host, types};
use wasmtime::component::{HasSelf, Linker};

mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit/0.1",
        world: "section-plugin",
    });
}

/// The world of provider adapters; it shares everything but its export.
mod generated_provider {
    wasmtime::component::bindgen!({
        path: "../../wit/0.1",
        world: "provider-plugin",
        with: {
            "sectile:plugin/types": crate::contract::sectile::plugin::types,
            "sectile:plugin/host": crate::contract::sectile::plugin::host,
        },
    });
}

/// The world of tools, with what is linked for them.
mod generated_tool {
    wasmtime::component::bindgen!({
        path: "../../wit/0.1",
        world: "tool-plugin",
        with: {
            "sectile:plugin/types": crate::contract::sectile::plugin::types,
            "sectile:plugin/host": crate::contract::sectile::plugin::host,
        },
    });
}

pub(crate) use generated::SectionPluginPre;
pub(crate) use generated::exports::sectile::plugin::section as section_export;
pub(crate) use generated::sectile;
pub(crate) use generated_provider::exports::sectile::plugin::provider as provider_export;
pub(crate) use generated_provider::{ProviderPlugin as ProviderInstance, ProviderPluginPre};
pub(crate) use generated_tool::ToolPluginPre;
pub(crate) use generated_tool::exports::sectile::plugin::tool as tool_export;
pub(crate) use generated_tool::sectile::plugin as services;

/// Links every interface of the contract; what a plugin may import of them is
/// decided when it is loaded.
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    types::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)?;
    host::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)?;
    facts::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)?;
    services::progress::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)?;
    services::seen_files::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)?;
    services::kv::add_to_linker::<CallState, HasSelf<CallState>>(linker, |s| s)
}

impl types::Host for CallState {}

impl host::Host for CallState {
    fn log(&mut self, level: types::LogLevel, message: String) {
        let level = match level {
            types::LogLevel::Trace => LogLevel::Trace,
            types::LogLevel::Debug => LogLevel::Debug,
            types::LogLevel::Info => LogLevel::Info,
            types::LogLevel::Warn => LogLevel::Warn,
            types::LogLevel::Error => LogLevel::Error,
        };
        self.log.line(level, &message);
    }

    fn config(&mut self) -> String {
        if self.call.config.is_empty() {
            "{}".to_owned()
        } else {
            self.call.config.clone()
        }
    }

    fn mounts(&mut self) -> Vec<host::Mount> {
        self.call
            .capabilities
            .directories
            .iter()
            .map(mount_info)
            .collect()
    }
}

fn mount_info(directory: &GrantedDirectory) -> host::Mount {
    match directory {
        GrantedDirectory::Open(mount) => host::Mount {
            source: mount.source().to_owned(),
            guest_path: Some(mount.guest_path().to_owned()),
            host_path: mount.host_path().to_string_lossy().into_owned(),
            access: match mount.access() {
                Access::List => host::Access::List,
                Access::Read => host::Access::Read,
                Access::ReadWrite => host::Access::ReadWrite,
            },
            problem: None,
        },
        GrantedDirectory::Broken {
            source,
            host_path,
            problem,
        } => host::Mount {
            source: source.clone(),
            guest_path: None,
            host_path: host_path.to_string_lossy().into_owned(),
            access: host::Access::List,
            problem: Some(problem.clone()),
        },
    }
}

impl facts::Host for CallState {
    fn workspace(&mut self) -> facts::WorkspaceInfo {
        let workspace = &self.call.facts.workspace;
        facts::WorkspaceInfo {
            working_directory: workspace.working_directory.clone(),
            repository_root: workspace.repository_root.clone(),
        }
    }

    fn model(&mut self) -> facts::ModelInfo {
        let model = &self.call.facts.model;
        facts::ModelInfo {
            provider: model.provider.clone(),
            name: model.name.clone(),
            context_window: model.context_window,
            max_output_tokens: model.max_output_tokens,
        }
    }

    fn platform(&mut self) -> facts::PlatformInfo {
        let platform = &self.call.facts.platform;
        facts::PlatformInfo {
            os: platform.os.clone(),
            os_version: platform.os_version.clone(),
            arch: platform.arch.clone(),
            shell: platform.shell.clone(),
        }
    }

    fn tools(&mut self) -> Vec<facts::ToolSummary> {
        let tools = self.call.facts.tools.iter();
        let summary = |tool: &crate::facts::ToolSummary| facts::ToolSummary {
            name: tool.name.clone(),
            description: tool.description.clone(),
            plugin: tool.plugin.clone(),
            deferred: tool.deferred,
        };
        tools.map(summary).collect()
    }

    fn clock(&mut self) -> facts::ClockInfo {
        let epoch = Clock::default();
        let clock = match self.call.capabilities.clock {
            true => &self.call.facts.clock,
            false => &epoch,
        };
        facts::ClockInfo {
            unix_seconds: clock.unix_seconds,
            local_date: clock.local_date.clone(),
            local_time: clock.local_time.clone(),
            time_zone: clock.time_zone.clone(),
        }
    }

    fn agent(&mut self) -> facts::AgentInfo {
        let agent = &self.call.facts.agent;
        facts::AgentInfo {
            name: agent.name.clone(),
            max_model_calls: agent.max_model_calls,
            tool_timeout_seconds: agent.tool_timeout_seconds,
            is_sub_agent: agent.is_sub_agent,
        }
    }

    fn request(&mut self) -> facts::RequestInfo {
        let request = &self.call.facts.request;
        facts::RequestInfo {
            source: request.source.clone(),
            client: request.client.clone(),
            channel: request.channel.clone(),
            display_contract: request.display_contract.clone(),
        }
    }

    fn policy(&mut self) -> facts::PolicyInfo {
        let policy = &self.call.facts.policy;
        facts::PolicyInfo {
            mode: policy.mode.clone(),
            file_tools_write: policy.file_tools_write,
            process_execution: policy.process_execution.clone(),
        }
    }

    fn profile(&mut self) -> String {
        self.call.facts.profile.clone()
    }

    fn locale(&mut self) -> String {
        self.call.facts.locale.clone()
    }

    fn query(&mut self) -> Option<String> {
        self.call.facts.query.clone()
    }
}
