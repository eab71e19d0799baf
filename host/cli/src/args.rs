//! The command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};
use sectile_session::SingleGrant;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
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
        /// The session whose next request is shown: its id, or `last`
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Print the composed request as a sectile.prepared/1 document
    Prepare {
        /// The user's request
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        message: String,
        /// Print the HTTP request to this provider instead, without secrets
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
        /// The model, in place of the provider's
        #[arg(long, requires = "provider")]
        model: Option<String>,
    },
    /// Let a model answer, with tools, until it is done
    Run(RunArgs),
    /// Talk with a model
    Chat {
        #[command(flatten)]
        target: Target,
    },
    /// What is kept of conversations
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Providers of models and their adapters
    Provider {
        #[command(subcommand)]
        command: ProviderCommand,
    },
    /// Sections alone
    Section {
        #[command(subcommand)]
        command: SectionCommand,
    },
    /// Tools alone
    Tool {
        #[command(subcommand)]
        command: ToolCommand,
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
    /// Serve the tools and sections of the workspace to MCP clients
    ///
    /// To one client on standard input and output, or with --http to those that
    /// show the token. It is the one in the environment variable
    /// SECTILE_MCP_TOKEN or in the file that --token-file names; without either,
    /// one is drawn and printed.
    Mcp(McpArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Listen here instead, as in 127.0.0.1:8484; port 0 is any free one
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// The token is in this file
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Let in everybody on this machine
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub no_token: bool,
    /// A further name under which clients reach the server; may be given several times
    #[arg(long = "allow-host", value_name = "NAME", requires = "http")]
    pub hosts: Vec<String>,
    /// A further origin (scheme, host, port) of web pages that may ask; may be given several times
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    pub origins: Vec<String>,
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
pub(crate) enum ToolCommand {
    /// List the tools in the order in which they are advertised
    List,
    /// Call one tool of a plugin, outside any session
    Call {
        /// Its name, as in read
        name: String,
        /// Its arguments, a JSON object
        #[arg(default_value = "{}")]
        input: String,
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

/// Which session, and which model answers.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The session to go on with: its id, or `last` [default: a new one]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The provider [default: the session's, then the operator's]
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model [default: the session's, then the provider's]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Model calls that one turn may take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_model_calls: Option<u32>,
    /// Write what goes over the network to this new file, without secrets
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Answer from a recording instead of the network
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub replay: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The request; `-` or nothing reads standard input
    pub text: Option<String>,
    #[command(flatten)]
    pub target: Target,
    /// A skill to be used; may be given several times
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    /// Names the request: running it again gives the same turn
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the sessions of the workspace, the newest first
    List {
        /// Leave out the first ones
        #[arg(long, default_value_t = 0, value_name = "N")]
        skip: u64,
        /// Show so many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u64,
    },
    /// Show the messages of a session
    Show {
        /// Its id, or `last`
        id: String,
        /// Messages behind this one
        #[arg(long, default_value_t = 0, value_name = "SEQUENCE")]
        after: u64,
        /// Show so many
        #[arg(long, default_value_t = 100, value_name = "N")]
        limit: u64,
    },
    /// Write a session as JSON Lines
    Export {
        /// Its id, or `last`
        id: String,
        /// A new file [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Make a session of what was exported
    Import {
        /// The file
        file: PathBuf,
        /// The id of the new session [default: a random one]
        #[arg(long)]
        id: Option<String>,
    },
    /// Compose every recorded model call again
    Replay {
        /// Its id, or `last`
        id: String,
        /// Fail when the bytes of one differ
        #[arg(long)]
        verify: bool,
    },
    /// Say where two recorded requests differ first, and why
    Diff {
        /// Its id, or `last`
        id: String,
        /// A recorded model call, from 1 [default: the one before the other]
        first: Option<u64>,
        /// Another [default: the last]
        second: Option<u64>,
    },
    /// Replace what was said by a summary of it
    Compact {
        #[command(flatten)]
        target: Target,
    },
    /// Show again what an earlier checkpoint showed
    Rewind {
        /// Its id, or `last`
        id: String,
        /// Number of the checkpoint; 0 is the beginning of the session
        checkpoint: u64,
    },
    /// Begin anew; nothing is deleted
    Clear {
        /// Its id, or `last`
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// List the providers
    List,
    /// Read a model request, print the HTTP request
    Encode {
        /// A provider, or an adapter
        provider: String,
    },
    /// Read the body of an answer, print its events as JSON Lines
    Decode {
        /// A provider, or an adapter
        provider: String,
        /// Type of the body [default: what it looks like]
        #[arg(long, value_name = "TYPE")]
        content_type: Option<String>,
        /// Status of the answer
        #[arg(long, default_value_t = 200, value_name = "N")]
        status: u16,
        /// A header of the answer, as `name: value`; may be given several times
        #[arg(long = "header", value_name = "HEADER", value_parser = header)]
        headers: Vec<(String, String)>,
        /// Feed so many bytes at a time
        #[arg(long, value_name = "N")]
        chunk: Option<NonZeroUsize>,
    },
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or("a header is written as `name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
