//! `sectile mcp`: the workspace for MCP clients.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Output;
use sectile_store::{AuditLog, QueuedAudit, SqliteStore};
use std::sync::Arc;

pub(crate) fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    let mut host = super::open(cli)?;
    output.warnings(&host.warnings());
    let store = Arc::new(SqliteStore::open(&host.workspace().root)?);
    host.keep_in(Arc::clone(&store) as Arc<_>);
    // A call over the protocol takes less time than a disk does to say yes.
    host.audit_into(Arc::new(QueuedAudit::new(store as Arc<dyn AuditLog>)));
    sectile_mcp::serve_stdio(host).map_err(Failure::Mcp)
}
