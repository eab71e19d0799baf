//! What plugins did, in the store's file.

use crate::audit::{AuditFilter, AuditLog, AuditRow};
use crate::error::StoreError;
use crate::id::SessionId;
use crate::sqlite::SqliteStore;
use crate::sqlite::failure::Failure;
use crate::sqlite::rows::{all, id, number, signed};
use rusqlite::{Row, ToSql, named_params};
use sectile_model::PluginId;

impl AuditLog for SqliteStore {
    fn record(&self, rows: &[AuditRow]) -> Result<(), StoreError> {
        self.0.write(|tx| {
            let mut statement = tx.prepare_cached(
                "INSERT INTO audit (time_ms, plugin, digest, session, what, outcome)
                 VALUES (:time, :plugin, :digest, :session, :what, :outcome)",
            )?;
            for row in rows {
                statement.execute(named_params! {
                    ":time": signed(row.time_ms),
                    ":plugin": row.plugin.as_str(),
                    ":digest": row.digest.map(|digest| digest.to_string()),
                    ":session": row.session.as_ref().map(SessionId::as_str),
                    ":what": row.what,
                    ":outcome": row.outcome,
                })?;
            }
            Ok(())
        })
    }

    fn audit(
        &self,
        filter: &AuditFilter,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(u64, AuditRow)>, StoreError> {
        let (after, limit) = (signed(after), signed(limit));
        let plugin = filter.plugin.as_ref().map(PluginId::as_str);
        let session = filter.session.as_ref().map(SessionId::as_str);
        let mut sql = "SELECT * FROM audit WHERE number > :after".to_owned();
        let mut parameters: Vec<(&str, &dyn ToSql)> = vec![(":after", &after), (":limit", &limit)];
        if let Some(plugin) = &plugin {
            sql.push_str(" AND plugin = :plugin");
            parameters.push((":plugin", plugin));
        }
        if let Some(session) = &session {
            sql.push_str(" AND session = :session");
            parameters.push((":session", session));
        }
        sql.push_str(" ORDER BY number LIMIT :limit");
        self.0
            .read(|tx| all(tx, &sql, parameters.as_slice(), audit_row))
    }
}

fn audit_row(row: &Row<'_>) -> Result<(u64, AuditRow), Failure> {
    let (digest, session): (Option<String>, Option<String>) =
        (row.get("digest")?, row.get("session")?);
    let audited = AuditRow {
        time_ms: number(row, "time_ms")?,
        plugin: id(&row.get::<_, String>("plugin")?)?,
        digest: digest.map(|digest| id(&digest)).transpose()?,
        session: session.map(|session| id(&session)).transpose()?,
        what: row.get("what")?,
        outcome: row.get("outcome")?,
    };
    Ok((number(row, "number")?, audited))
}
