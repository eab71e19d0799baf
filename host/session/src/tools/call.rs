//! One call of a plugin's tool: checked before, bounded and written down after.

use crate::error::SessionError;
use crate::host::{Host, PluginEntry, PluginState};
use crate::render::{Told, spoken};
use crate::tools::{Dispatch, PluginTool, ToolContext, ToolOutput};
use sectile_model::{PluginId, ResultBlock, ResultStatus};
use sectile_registry::{Candidate, tool_limits};
use sectile_sandbox::{
    CallReport, CancelToken, FailureKind, Outcome, ProgressSink, SandboxError, SeenFiles, Services,
    ToolAnswer, ToolPlugin, one_line,
};
use sectile_store::{AuditRow, SessionId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// In the place of a session's id, for calls outside any.
const NO_SESSION: &str = "none";

/// What the tools of a session remember while it is open, by publisher.
#[derive(Debug, Default)]
pub(crate) struct ToolMemory(Mutex<BTreeMap<String, Arc<SeenFiles>>>);

impl ToolMemory {
    fn of(&self, plugin: &PluginId) -> Arc<SeenFiles> {
        let publisher = plugin.as_str().split('/').next().unwrap_or_default();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(publisher.to_owned()).or_default())
    }
}

/// What stands around the calls of one session.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    pub(crate) memory: &'a ToolMemory,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
}

/// Whose the calls are that no session makes, and what they have seen of files.
#[derive(Debug, Default)]
pub struct ToolScope {
    name: Option<SessionId>,
    memory: ToolMemory,
}

impl ToolScope {
    /// Calls that belong together under `name`, as those of one client do. It
    /// stands in the audit log, and full texts are kept under it.
    #[must_use]
    pub fn named(name: SessionId) -> Self {
        Self {
            name: Some(name),
            memory: ToolMemory::default(),
        }
    }

    fn name(&self) -> &str {
        self.name.as_ref().map_or(NO_SESSION, SessionId::as_str)
    }
}

/// One call to be made.
#[derive(Debug, Clone)]
pub struct ToolRequest<'a> {
    /// The tool, as it is advertised.
    pub name: &'a str,
    /// Its arguments.
    pub input: &'a Value,
    /// The call's name in its scope, for the plugin.
    pub call_id: &'a str,
    /// Ends the call.
    pub cancel: CancelToken,
    /// Is shown how far it is.
    pub progress: Option<Arc<dyn ProgressSink>>,
}

impl<'a> ToolRequest<'a> {
    /// A call that nobody watches and nobody cancels.
    #[must_use]
    pub fn new(name: &'a str, input: &'a Value) -> Self {
        Self {
            name,
            input,
            call_id: "call",
            cancel: CancelToken::new(),
            progress: None,
        }
    }
}

/// A call that was made.
#[derive(Debug)]
pub struct Called {
    /// What came of it.
    pub output: ToolOutput,
    /// What the plugin used.
    pub report: CallReport,
    /// For the operator: what it warned of, and what it was refused.
    pub warnings: Vec<String>,
}

impl From<ToolOutput> for Called {
    fn from(output: ToolOutput) -> Self {
        Self {
            output,
            report: CallReport::default(),
            warnings: Vec::new(),
        }
    }
}

impl Host {
    /// Runs one call of a plugin's tool outside any session, on this thread.
    ///
    /// # Errors
    /// [`SessionError::UnknownTool`]; how the call went is in its output.
    pub fn call_tool(
        &self,
        request: &ToolRequest<'_>,
        scope: &ToolScope,
    ) -> Result<Called, SessionError> {
        let Some((Dispatch::Plugin(tool), _)) = self.tools().dispatch(request.name) else {
            return Err(SessionError::UnknownTool(one_line(request.name)));
        };
        let context = ToolContext {
            session: scope.name(),
            call_id: request.call_id,
            cancel: &request.cancel,
        };
        let around = Around {
            memory: &scope.memory,
            progress: request.progress.clone(),
        };
        Ok(self.call_plugin(tool, request.input, &context, &around))
    }

    /// Runs one call of a plugin's tool, on this thread.
    pub(crate) fn call_plugin(
        &self,
        tool: &PluginTool,
        input: &Value,
        context: &ToolContext<'_>,
        around: &Around<'_>,
    ) -> Called {
        if let Err(why) = tool.arguments.check(input) {
            return ToolOutput::error(format!("invalid_arguments: {why}")).into();
        }
        let Outcome { result, report } = self.run_plugin(tool, input, context, around);
        let mut warnings = spoken(&report);
        if let Err(SandboxError::Trap { backtrace, .. }) = &result {
            warnings.extend(backtrace.iter().map(|frame| format!("trap: {frame}")));
        }
        let code = result.as_ref().err().map_or("ok", SandboxError::code);
        warnings.extend(self.record(tool, context, code, &report));
        let output = match result {
            Ok(answer) => accepted(tool, answer),
            Err(error) => refused(&error),
        };
        let root = &self.workspace.root;
        Called {
            output: output.bounded(root, context.session),
            report,
            warnings,
        }
    }

    fn run_plugin(
        &self,
        tool: &PluginTool,
        input: &Value,
        context: &ToolContext<'_>,
        around: &Around<'_>,
    ) -> Outcome<ToolAnswer> {
        let failed = |why: String| Outcome {
            result: Err(SandboxError::Host {
                what: "prepare the call",
                why: one_line(&why),
            }),
            report: CallReport::default(),
        };
        let Some((candidate, loaded)) = self.plugins.get(tool.plugin).and_then(tools_of) else {
            return failed("the plugin is not loaded".to_owned());
        };
        let told = Told {
            query: None,
            cancel: context.cancel.clone(),
        };
        let mut call = match self.call(candidate, &told) {
            Ok(call) => call,
            Err(error) => return failed(error.to_string()),
        };
        call.limits = tool_limits(&candidate.manifest.limits);
        call.services = Services {
            seen_files: Some(around.memory.of(candidate.id())),
            values: self.values(candidate),
            progress: around.progress.clone(),
        };
        let name = tool.name.as_str();
        loaded.call(name, input, context.call_id, context.session, &call)
    }

    /// Writes down what a call used and was refused (PL-33). The call has
    /// happened: trouble with the log is a warning, and takes nothing back.
    fn record(
        &self,
        tool: &PluginTool,
        context: &ToolContext<'_>,
        code: &str,
        report: &CallReport,
    ) -> Option<String> {
        let entry = self.plugins.get(tool.plugin)?;
        let audit = self.audit.as_ref()?;
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH);
        let time_ms = time_ms.map_or(0, |t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX));
        let row = |what: String, outcome: &str| AuditRow {
            time_ms,
            plugin: entry.candidate.id().clone(),
            digest: Some(entry.candidate.digest),
            session: match context.session {
                NO_SESSION => None,
                id => id.parse::<SessionId>().ok(),
            },
            what: one_line(&what),
            outcome: one_line(outcome),
        };
        let mut rows = vec![row(format!("call {}", tool.name), code)];
        rows.extend(report.uses.iter().map(|file| {
            let verb = file.access.name();
            row(format!("{verb} {}", file.path), "ok")
        }));
        rows.extend(
            report
                .refusals
                .iter()
                .map(|refusal| row(refusal.what.clone(), &format!("refused: {}", refusal.why))),
        );
        let failed = audit.record(&rows).err()?;
        Some(format!("the audit log could not be written: {failed}"))
    }
}

fn tools_of(entry: &PluginEntry) -> Option<(&Candidate, &ToolPlugin)> {
    match &entry.state {
        PluginState::Loaded(loaded) => Some((&entry.candidate, loaded.tools.as_ref()?)),
        PluginState::Blocked | PluginState::Broken(_) => None,
    }
}

/// What the plugin answered, as far as it keeps its word.
fn accepted(tool: &PluginTool, answer: ToolAnswer) -> ToolOutput {
    if let (Some(schema), Some(structured), false) =
        (&tool.results, &answer.structured, answer.is_error)
        && let Err(why) = schema.check(structured)
    {
        return ToolOutput::error(format!(
            "invalid_output: the structured output of `{}` does not fit its own schema: {why}",
            tool.definition.name
        ));
    }
    let mut content = answer.content;
    if let (true, Some(structured)) = (content.is_empty(), &answer.structured) {
        content.push(ResultBlock::Text {
            text: structured.to_string(),
        });
    }
    ToolOutput {
        status: match answer.is_error {
            true => ResultStatus::Error,
            false => ResultStatus::Success,
        },
        content,
        structured: answer.structured,
        artifacts: answer.artifact.into_iter().collect(),
    }
}

/// One plain line for the model (PL-22).
fn refused(error: &SandboxError) -> ToolOutput {
    let status = match error {
        SandboxError::Cancelled => ResultStatus::Interrupted,
        SandboxError::Plugin(failure) if failure.kind == FailureKind::Denied => {
            ResultStatus::Denied
        }
        _ => ResultStatus::Error,
    };
    ToolOutput::with_status(status, format!("{}: {error}", error.code()))
}
