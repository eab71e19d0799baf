//! One file for each verb.

pub(crate) mod chat;
pub(crate) mod engine;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod mcp;
pub(crate) mod plugin;
pub(crate) mod prepare;
pub(crate) mod provider;
pub(crate) mod run;
pub(crate) mod section;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod tool;

use crate::COMPILE_WORKER;
use crate::args::Cli;
use crate::failure::Failure;
use sectile_prompt::SampleId;
use sectile_registry::Dirs;
use sectile_sandbox::Compiler;
use sectile_session::{Composition, Host, HostOptions, InMemoryConversation};

fn open(cli: &Cli) -> Result<Host, Failure> {
    Ok(Host::open(options(cli)?)?)
}

fn options(cli: &Cli) -> Result<HostOptions, Failure> {
    Ok(HostOptions {
        workspace: cli.workspace.clone(),
        profile: None,
        compiler: compiler()?,
        dirs: Dirs::from_environment()?,
        tools: Vec::new(),
    })
}

/// This program itself, as the process that compiles.
fn compiler() -> Result<Compiler, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::Stream(format!("this program cannot find itself: {e}")))?;
    Ok(Compiler::Worker {
        program,
        args: vec![COMPILE_WORKER.into()],
    })
}

/// The context window of a conversation that has not begun.
fn compose(host: &Host, message: Option<&str>) -> Result<Composition, Failure> {
    let first = SampleId {
        turn: "1".to_owned(),
        model_call: 1,
        sample: 1,
    };
    Ok(host.compose(&mut InMemoryConversation::default(), message, &first)?)
}
