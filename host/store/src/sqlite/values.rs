//! What plugins keep for themselves, in the store's file.

use crate::error::StoreError;
use crate::sqlite::SqliteStore;
use crate::sqlite::failure::Failure;
use crate::sqlite::rows::unsigned;
use crate::values::PluginValues;
use rusqlite::{OptionalExtension, Transaction, named_params};
use sectile_model::PluginId;

/// What an entry takes besides its key and value: without it, empty ones would
/// be free.
const ENTRY: u64 = 64;

impl PluginValues for SqliteStore {
    fn value(&self, plugin: &PluginId, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read(|tx| {
            let mut statement = tx
                .prepare_cached("SELECT value FROM plugin_values WHERE plugin = ?1 AND key = ?2")?;
            let found = statement.query_row([plugin.as_str(), key], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    fn set_value(
        &self,
        plugin: &PluginId,
        key: &str,
        value: &[u8],
        quota: u64,
    ) -> Result<(), StoreError> {
        self.0.write(|tx| {
            let entry = (key.len() as u64).saturating_add(value.len() as u64);
            let others = kept_besides(tx, plugin, key)?;
            if others.saturating_add(entry).saturating_add(ENTRY) > quota {
                return Err(StoreError::Quota {
                    plugin: plugin.clone(),
                    quota,
                }
                .into());
            }
            tx.prepare_cached(
                "INSERT INTO plugin_values (plugin, key, value) VALUES (:plugin, :key, :value)
                 ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value",
            )?
            .execute(named_params! {":plugin": plugin.as_str(), ":key": key, ":value": value})?;
            Ok(())
        })
    }

    fn remove_value(&self, plugin: &PluginId, key: &str) -> Result<(), StoreError> {
        self.0.write(|tx| {
            tx.prepare_cached("DELETE FROM plugin_values WHERE plugin = ?1 AND key = ?2")?
                .execute([plugin.as_str(), key])?;
            Ok(())
        })
    }

    fn keys(&self, plugin: &PluginId, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.0.read(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT key FROM plugin_values WHERE plugin = ?1 AND key >= ?2 ORDER BY key",
            )?;
            let mut rows = statement.query([plugin.as_str(), prefix])?;
            let mut keys = Vec::new();
            while let Some(row) = rows.next()? {
                let key: String = row.get(0)?;
                // Those with the prefix stand together, at the beginning.
                if !key.starts_with(prefix) {
                    break;
                }
                keys.push(key);
            }
            Ok(keys)
        })
    }
}

/// Bytes that the plugin keeps under other keys.
fn kept_besides(tx: &Transaction<'_>, plugin: &PluginId, key: &str) -> Result<u64, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT count(*), coalesce(sum(octet_length(key) + octet_length(value)), 0)
         FROM plugin_values WHERE plugin = ?1 AND key <> ?2",
    )?;
    let (entries, bytes): (i64, i64) =
        statement.query_row([plugin.as_str(), key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(unsigned(entries)?
        .saturating_mul(ENTRY)
        .saturating_add(unsigned(bytes)?))
}
