//! A turn on the screen: what the session tells, as it tells it.

use crate::failure::Failure;
use crate::output::{DIM, Output};
use crate::text::{columns, cut, grouped, printable};
use sectile_sandbox::{CancelToken, one_line};
use sectile_session::{LiveEvent, LiveUpdate, Session, SessionError, Turn, TurnInput};
use std::thread;
use std::time::Duration;

/// How long nothing may be seen of a turn that has ended.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs a turn and shows it.
pub(crate) fn run(
    session: &Session,
    output: &Output,
    input: &TurnInput,
    cancel: &CancelToken,
) -> Result<Turn, Failure> {
    let updates = session.updates();
    let mut subscription = updates.subscribe(updates.last());
    let mut screen = Screen::new(output);
    thread::scope(|scope| {
        let turn = scope.spawn(|| session.run(input, cancel));
        loop {
            // Seen before the update is waited for: what was told until then is shown.
            let ended = turn.is_finished();
            match subscription.next(PATIENCE) {
                Ok(Some(update)) => screen.show(&update)?,
                Ok(None) if ended => break,
                Ok(None) => {}
                Err(lagged) => output.warnings(&[lagged.to_string()]),
            }
        }
        screen.end_line()?;
        match turn.join() {
            Ok(turn) => Ok(turn?),
            Err(_) => Err(Failure::Session(SessionError::Crashed)),
        }
    })
}

struct Screen<'a> {
    output: &'a Output,
    /// Whether the cursor stands behind text.
    in_line: bool,
    /// Whether the answer's text is being shown.
    in_text: bool,
}

impl<'a> Screen<'a> {
    fn new(output: &'a Output) -> Self {
        Self {
            output,
            in_line: false,
            in_text: false,
        }
    }

    fn show(&mut self, update: &LiveUpdate) -> Result<(), Failure> {
        if self.output.is_json() {
            return self.output.json_line(update);
        }
        match &update.event {
            LiveEvent::TextDelta { text, .. } | LiveEvent::RefusalDelta { text, .. } => {
                self.text(text)
            }
            LiveEvent::ToolFinished { name, status, .. } => {
                let status = format!("{status:?}").to_lowercase();
                self.note(&format!("{} {status}", one_line(name)))
            }
            LiveEvent::DraftDropped => self.note("the answer broke off"),
            LiveEvent::Retrying { after_ms, why, .. } => self.note(&format!(
                "again in {} ms: {}",
                grouped(*after_ms),
                one_line(why)
            )),
            LiveEvent::Pruned { .. } => self.note("older tool results are shortened"),
            LiveEvent::Compacted {
                tokens_before,
                tokens_after,
            } => self.note(&format!(
                "compacted: {} tokens are {} now",
                grouped(*tokens_before),
                grouped(*tokens_after)
            )),
            LiveEvent::Warning { text } => {
                self.end_line()?;
                self.output.warnings(std::slice::from_ref(text));
                Ok(())
            }
            LiveEvent::TurnStarted { .. }
            | LiveEvent::ModelCallStarted { .. }
            | LiveEvent::ThinkingDelta { .. }
            | LiveEvent::ToolCallStart { .. }
            | LiveEvent::ToolCallDelta { .. }
            | LiveEvent::ToolProgress { .. }
            | LiveEvent::MessageStored { .. }
            | LiveEvent::TurnFinished { .. } => Ok(()),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        if !self.in_text {
            self.end_line()?;
        }
        self.in_text = true;
        self.in_line = !text.ends_with('\n') && (self.in_line || !text.is_empty());
        self.output.text(&printable(text))
    }

    fn note(&mut self, note: &str) -> Result<(), Failure> {
        self.end_line()?;
        self.output.note(&format!(
            "{DIM}· {}{DIM:#}",
            cut(note, columns().saturating_sub(2))
        ));
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        self.in_text = false;
        if std::mem::take(&mut self.in_line) {
            self.output.text("\n")?;
        }
        Ok(())
    }
}
