//! The command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Parser, Subcommand};
use sectile_session::SingleGrant;
use std::path::PathBuf;

/// Composes an LLM agent's context window out of sandboxed plugins.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    /// The workspace [default: nearest ancestor with a sectile.toml, else the current directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but the result
    #[arg(long, short, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a first sectile.toml
    Init {
        /// The profile that the project proposes
        #[arg(long, default_value = "default")]
        profile: String,
    },
    /// Show profile, sections, plugins and warnings
    Status,
    /// Show the context window as it would be sent
    Inspect {
        /// A request of the user to go with it
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
        /// Show every part in full
        #[arg(long)]
        full: bool,
    },
    /// Print the composed request as a sectile.prepared/1 document
    Prepare {
        /// The user's request
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        message: String,
    },
    /// Sections alone
    Section {
        #[command(subcommand)]
        command: SectionCommand,
    },
    /// The pure engine on documents
    Engine {
        #[command(subcommand)]
        command: EngineCommand,
    },
    /// Plugins
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SectionCommand {
    /// List the enabled sections in their order
    List,
    /// Render one section
    Render {
        /// Its id, as in project/AGENTS.md
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EngineCommand {
    /// Read a sectile.context/1 document, print a sectile.prepared/1 document
    Prepare,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// List the plugins of the workspace
    List,
    /// Show what a plugin is and asks for
    Info {
        /// Its id, as in acme/git-status
        id: String,
    },
    /// Allow a plugin of this workspace what it asks for
    Approve {
        /// Its id
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Put a manifest into a component
    Pack {
        /// The component, as the compiler made it
        component: PathBuf,
        /// Its manifest
        #[arg(long, default_value = "plugin.toml", value_name = "FILE")]
        manifest: PathBuf,
        /// Where the plugin goes
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Run a component that is not installed, once
    Run {
        /// The component
        #[arg(long, value_name = "FILE")]
        component: PathBuf,
        /// What to call
        #[arg(long, default_value = "section", value_parser = ["section"])]
        export: String,
        /// The section to render [default: the first of its manifest]
        #[arg(long)]
        id: Option<String>,
        /// What it gets: list:DIR=/MOUNT, read:DIR=/MOUNT, read-write:DIR=/MOUNT, env:NAME, clock or random
        #[arg(long = "grant", value_name = "GRANT")]
        grants: Vec<SingleGrant>,
        /// Its configuration, a JSON object
        #[arg(long, default_value = "{}", value_name = "JSON")]
        config: String,
        /// The request it is told of
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
    },
}
