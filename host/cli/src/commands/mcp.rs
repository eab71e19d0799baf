//! `sectile mcp`: the workspace for MCP clients.

use crate::args::{Cli, McpArgs};
use crate::failure::Failure;
use crate::output::Output;
use sectile_mcp::{HttpOptions, HttpServer, Served, Token, serve_stdio};
use sectile_session::Host;
use sectile_store::{AuditLog, QueuedAudit, SqliteStore};
use serde_json::json;
use std::env::{self, VarError};
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;

/// Where the operator may put the token.
const TOKEN: &str = "SECTILE_MCP_TOKEN";

pub(crate) fn run(cli: &Cli, output: &Output, args: &McpArgs) -> Result<(), Failure> {
    let Some(address) = args.http else {
        return serve_stdio(served(cli, output)?).map_err(Failure::Mcp);
    };
    let (token, drawn) = token(args, address)?;
    let server = HttpServer::bind(HttpOptions {
        address,
        token,
        hosts: args.hosts.clone(),
        origins: args.origins.clone(),
    })
    .map_err(Failure::Mcp)?;
    let served = served(cli, output)?;
    let url = server.url();
    if output.is_json() {
        output.json_line(&json!({"url": url, "token": drawn}))?;
    } else {
        output.text(&format!("{url}\n"))?;
        if let Some(drawn) = drawn {
            output.text(&format!("Authorization: Bearer {drawn}\n"))?;
        }
    }
    server.serve(served).map_err(Failure::Mcp)
}

/// The workspace, and how it is opened anew: with the same store, since calls
/// of both may run at once.
fn served(cli: &Cli, output: &Output) -> Result<Served, Failure> {
    let mut options = super::options(cli)?;
    let host = Host::open(options.clone())?;
    options.workspace = Some(host.workspace().root.clone());
    let store = Arc::new(SqliteStore::open(&host.workspace().root)?);
    // A call over the protocol takes less time than a disk does to say yes.
    let audit = Arc::new(QueuedAudit::new(Arc::clone(&store) as Arc<dyn AuditLog>));
    let (output, warns) = (output.clone(), output.clone());
    let kept = move |mut host: Host| {
        output.warnings(&host.warnings());
        host.keep_in(Arc::clone(&store) as Arc<_>);
        host.audit_into(Arc::clone(&audit) as Arc<_>);
        host
    };
    let host = kept(host);
    let reopen = move || match Host::open(options.clone()) {
        Ok(host) => Some(kept(host)),
        Err(error) => {
            let warning = format!("the workspace is served as it was before: {error}");
            warns.warnings(&[warning]);
            None
        }
    };
    Served::new(host, reopen).map_err(Failure::Mcp)
}

/// What clients have to show, and its text if it was drawn now.
fn token(args: &McpArgs, address: SocketAddr) -> Result<(Option<Token>, Option<String>), Failure> {
    if args.no_token {
        if !address.ip().is_loopback() {
            return Err(Failure::Usage(format!(
                "--no-token lets in everybody who reaches {address}; without a token only a \
                 loopback address can be served"
            )));
        }
        return Ok((None, None));
    }
    let given = match (&args.token_file, env::var(TOKEN)) {
        (Some(file), _) => fs::read_to_string(file)
            .map_err(|e| Failure::Usage(format!("{} cannot be read: {e}", file.display())))?,
        (None, Ok(text)) => text,
        (None, Err(VarError::NotUnicode(_))) => {
            return Err(Failure::Usage(format!("{TOKEN} is not UTF-8")));
        }
        (None, Err(VarError::NotPresent)) => {
            let (token, text) = Token::draw().map_err(Failure::Mcp)?;
            return Ok((Some(token), Some(text)));
        }
    };
    let token = Token::new(given.trim_end()).map_err(Failure::Mcp)?;
    Ok((Some(token), None))
}
