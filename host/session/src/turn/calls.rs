//! The tool calls of one answer: one after the other, each with exactly one
//! result, stored before the next thing happens (SR-22, SR-26).

use crate::live::{LiveEvent, LiveUpdates};
use crate::provider::Answer;
use crate::tools::{Around, Dispatch, Search, ToolContext, ToolOutput};
use crate::turn::Stop;
use crate::turn::history::{self, Page};
use crate::turn::plan::Plan;
use crate::turn::runner::Runner;
use sectile_model::{
    BlockKind, CallInput, FinishReason, Message, MessageKind, ResultStatus, Role, ToolCall,
    ToolResult,
};
use sectile_sandbox::{Progress, ProgressSink};
use sectile_store::{Append, NewMessage};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What came of a call: its output, and what goes with it.
struct Done {
    output: ToolOutput,
    /// The plan from now on.
    plan: Option<Value>,
    /// The tools that are found now.
    found: Option<Vec<String>>,
}

/// Shows a call's progress to whoever watches the session.
struct ShownProgress {
    live: LiveUpdates,
    call: String,
}

impl fmt::Debug for ShownProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "progress of {}", self.call)
    }
}

impl ProgressSink for ShownProgress {
    fn show(&self, progress: Progress) {
        self.live.publish(LiveEvent::ToolProgress {
            id: self.call.clone(),
            message: progress.message,
            done: progress.done,
            total: progress.total,
        });
    }
}

impl From<ToolOutput> for Done {
    fn from(output: ToolOutput) -> Self {
        Self {
            output,
            plan: None,
            found: None,
        }
    }
}

impl Runner<'_> {
    /// Runs `calls` in the provider's order. Whatever ends the turn in between,
    /// every call has a result.
    pub(super) fn run_calls(
        &mut self,
        model_call: u32,
        answer: &Answer,
        calls: &[ToolCall],
    ) -> Result<(), Stop> {
        let mut ended = None;
        for (n, call) in calls.iter().enumerate() {
            let done = match &ended {
                Some(_) => ToolOutput::with_status(
                    ResultStatus::Interrupted,
                    "cancelled: the turn ended before this call ran",
                )
                .into(),
                None => self.run_call(answer, call, &mut ended),
            };
            self.store_result(model_call, n, call, done)?;
        }
        ended.map_or(Ok(()), Err)
    }

    fn run_call(&mut self, answer: &Answer, call: &ToolCall, ended: &mut Option<Stop>) -> Done {
        if self.cancel.is_cancelled() {
            *ended = Some(Stop::Cancelled);
            return ToolOutput::with_status(
                ResultStatus::Interrupted,
                "cancelled: the turn was cancelled before this call ran",
            )
            .into();
        }
        if self.repeats.is_doom(call) {
            *ended = Some(Stop::failed(
                "doom_loop",
                format!(
                    "the model called `{}` three times in a row with the same arguments",
                    sectile_sandbox::one_line(&call.name)
                ),
            ));
            return ToolOutput::error(
                "not run: the same call with the same arguments, three times in a row",
            )
            .into();
        }
        // A call from an answer that was cut off never runs (SR-23).
        let cut = matches!(
            answer.reason,
            FinishReason::Length | FinishReason::ContextFull
        );
        let input = match &call.input {
            CallInput::Parsed(input) if !cut => input,
            _ => {
                return ToolOutput::error(
                    "not run: the answer was cut off, or the arguments are not valid JSON; call again with complete arguments",
                )
                .into();
            }
        };
        let done = self.dispatch(call, input);
        if self.cancel.is_cancelled() {
            *ended = Some(Stop::Cancelled);
        }
        done
    }

    fn dispatch(&self, call: &ToolCall, input: &Value) -> Done {
        match self.session.surface.dispatch(&call.name) {
            Err(why) => ToolOutput::error(why).into(),
            Ok(Dispatch::UpdatePlan) => match Plan::parse(input) {
                Ok(_) => Done {
                    plan: Some(input.clone()),
                    ..ToolOutput::text("The plan is updated.").into()
                },
                Err(why) => {
                    ToolOutput::error(format!("invalid_arguments: {why}; the earlier plan holds"))
                        .into()
                }
            },
            Ok(Dispatch::Search) => match Search::parse(input) {
                Ok(search) => {
                    let (text, found) = self.session.surface.search(&search);
                    Done {
                        found,
                        ..ToolOutput::text(text).into()
                    }
                }
                Err(why) => ToolOutput::error(format!("invalid_arguments: {why}")).into(),
            },
            Ok(Dispatch::History) => self.history(input).into(),
            Ok(Dispatch::Tool { tool, arguments }) => match arguments.check(input) {
                Ok(()) => {
                    let output = tool.call(input, &self.context(call));
                    let root = &self.session.host.workspace().root;
                    output.bounded(root, self.session.id().as_str()).into()
                }
                Err(why) => ToolOutput::error(format!("invalid_arguments: {why}")).into(),
            },
            Ok(Dispatch::Plugin(tool)) => {
                let around = Around {
                    memory: &self.session.memory,
                    progress: Some(Arc::new(ShownProgress {
                        live: self.session.live.clone(),
                        call: call.id.clone(),
                    })),
                };
                let context = self.context(call);
                let called = self
                    .session
                    .host
                    .call_plugin(tool, input, &context, &around);
                for warning in called.warnings {
                    self.session.warn(format!("{}: {warning}", call.name));
                }
                called.output.into()
            }
        }
    }

    fn context<'a>(&'a self, call: &'a ToolCall) -> ToolContext<'a> {
        ToolContext {
            session: self.session.id().as_str(),
            call_id: &call.id,
            cancel: &self.cancel,
        }
    }

    /// Replaced messages only: what follows the boundary is in front of the
    /// model anyway (CP-1).
    fn history(&self, input: &Value) -> ToolOutput {
        let page = match Page::parse(input) {
            Ok(page) => page,
            Err(why) => return ToolOutput::error(format!("invalid_arguments: {why}")),
        };
        match self
            .session
            .replaced_messages(page.after_sequence, page.limit)
        {
            Ok((items, boundary)) => ToolOutput::text(history::render(&items, boundary)),
            Err(error) => ToolOutput::error(format!("the history cannot be read: {error}")),
        }
    }

    fn store_result(
        &self,
        model_call: u32,
        n: usize,
        call: &ToolCall,
        done: Done,
    ) -> Result<(), Stop> {
        let Done {
            output,
            plan,
            found,
        } = done;
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            status: output.status,
            output: output.content,
            artifacts: output.artifacts,
        };
        let message = NewMessage {
            id: format!("{}:{model_call}:result:{}", self.turn, n + 1),
            kind: MessageKind::Normal,
            message: Arc::new(Message {
                role: Role::Tool,
                content: vec![BlockKind::ToolResult(result).into()],
            }),
            source: None,
        };
        self.store(&Append {
            messages: vec![message],
            plan,
            found_tools: found.clone(),
            call: None,
        })?;
        if let Some(found) = found {
            self.session.surface.found_are(found);
        }
        self.session.live.publish(LiveEvent::ToolFinished {
            id: call.id.clone(),
            name: call.name.clone(),
            status: output.status,
        });
        Ok(())
    }
}
