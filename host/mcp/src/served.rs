//! The workspace that is served, opened anew when its files change.

use crate::error::McpError;
use rmcp::model::ErrorData;
use sectile_session::{Host, SessionError, ToolScope, new_session_id};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

/// How often the files are looked at. A few `stat`s, so that no watcher with
/// its threads and limits is needed.
const PERIOD: Duration = Duration::from_millis(500);

/// Opens the workspace anew; `None` when that cannot be done now, and whoever
/// opens has said why.
type Reopen = Box<dyn Fn() -> Option<Host> + Send + Sync>;

/// A workspace as clients are served from it.
///
/// When a file that decides what runs in it changes, it is opened anew: calls
/// that run go on with what they began with, later ones see the new workspace,
/// and clients are told which lists changed. A workspace that cannot be opened
/// leaves the one before in service.
pub struct Served {
    host: RwLock<Arc<Host>>,
    reopen: Reopen,
    lists: watch::Sender<Lists>,
    /// Whose the calls of clients without a session are (revision 2026-07-28).
    scope: Arc<ToolScope>,
}

/// How often each list has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lists {
    pub(crate) tools: u64,
    pub(crate) resources: u64,
}

impl Served {
    /// Serves `host`, and what `reopen` gives once its files have changed.
    ///
    /// # Errors
    /// [`McpError::Session`] when no name for the calls could be drawn.
    pub fn new(
        host: Host,
        reopen: impl Fn() -> Option<Host> + Send + Sync + 'static,
    ) -> Result<Self, McpError> {
        Ok(Self {
            host: RwLock::new(Arc::new(host)),
            reopen: Box::new(reopen),
            lists: watch::Sender::default(),
            scope: Arc::new(ToolScope::named(new_session_id()?)),
        })
    }

    /// The workspace as it is now.
    pub(crate) fn host(&self) -> Arc<Host> {
        Arc::clone(&self.host.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn scope(&self) -> Arc<ToolScope> {
        Arc::clone(&self.scope)
    }

    pub(crate) fn lists(&self) -> watch::Receiver<Lists> {
        self.lists.subscribe()
    }

    /// Runs `work` where it may take its time.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Host) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let host = self.host();
        let done = spawn_blocking(move || work(&host)).await;
        let done = done.map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        done.map_err(|e| {
            let code = Value::from(e.code());
            ErrorData::internal_error(e.to_string(), Some(code))
        })
    }

    /// Looks after the files for as long as it is polled.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut seen = Files::of(&self.host());
        loop {
            tokio::time::sleep(PERIOD).await;
            let served = Arc::clone(&self);
            match spawn_blocking(move || served.look(seen)).await {
                Ok(looked) => seen = looked,
                Err(_) => return,
            }
        }
    }

    fn look(&self, seen: Files) -> Files {
        // Taken first: what changes while it is opened is seen the next time.
        let now = Files::named(seen.names.clone());
        if now == seen {
            return seen;
        }
        self.open_anew();
        let opened = Files::of(&self.host());
        if opened.names == now.names {
            now
        } else {
            opened
        }
    }

    fn open_anew(&self) {
        let Some(host) = (self.reopen)() else { return };
        let before = self.host();
        let tools = !before.plugin_tools().eq(host.plugin_tools());
        let resources = !section_ids(&before).eq(section_ids(&host));
        *self.host.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(host);
        self.lists.send_if_modified(|lists| {
            lists.tools += u64::from(tools);
            lists.resources += u64::from(resources);
            tools || resources
        });
    }
}

fn section_ids(host: &Host) -> impl Iterator<Item = String> + '_ {
    let sections = host.sections().iter();
    sections.map(|section| section.spec.id().to_string())
}

/// The files that decide what runs, in one state.
#[derive(PartialEq)]
struct Files {
    names: Vec<PathBuf>,
    /// When each was written and how long it is; `None` when it is not there.
    stamps: Vec<Option<(SystemTime, u64)>>,
}

impl Files {
    fn of(host: &Host) -> Self {
        Self::named(host.files().to_vec())
    }

    fn named(names: Vec<PathBuf>) -> Self {
        let stamp = |file: &PathBuf| {
            let metadata = fs::metadata(file).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        Self {
            stamps: names.iter().map(stamp).collect(),
            names,
        }
    }
}
