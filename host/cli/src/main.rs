//! The `sectile` program: arguments in, text or JSON out.

mod args;
mod commands;
mod failure;
mod follow;
mod interrupt;
mod output;
mod text;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use std::env;
use std::process::ExitCode;

/// First argument of the process that compiles a component; not for people.
const COMPILE_WORKER: &str = "compile-worker";

fn main() -> ExitCode {
    if let Some(code) = compile_worker() {
        return code;
    }
    let cli = Cli::parse();
    let output = Output::new(
        cli.json || matches!(cli.command, Command::Engine { .. }),
        cli.quiet,
    );
    match run(&cli, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::from(failure.exit_status())
        }
    }
}

fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    match &cli.command {
        Command::Init { profile } => commands::init::run(cli, output, profile),
        Command::Status => commands::status::run(cli, output),
        Command::Inspect {
            message,
            full,
            session,
        } => commands::inspect::run(cli, output, message.as_deref(), *full, session.as_deref()),
        Command::Prepare {
            message,
            provider,
            model,
        } => commands::prepare::run(cli, output, message, provider.as_deref(), model.as_deref()),
        Command::Run(args) => commands::run::run(cli, output, args),
        Command::Chat { target } => commands::chat::run(cli, output, target),
        Command::Session { command } => commands::session::run(cli, output, command),
        Command::Provider { command } => commands::provider::run(cli, output, command),
        Command::Tool { command } => commands::tool::run(cli, output, command),
        Command::Section { command } => commands::section::run(cli, output, command),
        Command::Engine { command } => commands::engine::run(output, command),
        Command::Mcp(args) => commands::mcp::run(cli, output, args),
        Command::Plugin { command } => commands::plugin::run(cli, output, command),
    }
}

/// This program compiles components in a child of its own, which it bounds.
fn compile_worker() -> Option<ExitCode> {
    let mut args = env::args_os().skip(1);
    if args.next()? != COMPILE_WORKER {
        return None;
    }
    let memory = args.next()?.into_string().ok()?.parse().ok()?;
    Some(sectile_sandbox::compile_worker(memory))
}
