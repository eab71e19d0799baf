//! `sectile chat`: turns, one after the other.

use crate::args::{Cli, Target};
use crate::failure::Failure;
use crate::follow;
use crate::interrupt::Interrupts;
use crate::output::{DIM, Output};
use crate::text::grouped;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use sectile_session::{Session, TurnInput, TurnOutcome};

const HELP: &str = "\
/compact   replace what was said by a summary of it
/clear     begin anew; nothing is deleted
/context   show how full the context window is
/quit      leave";

/// What becomes of the loop after one line.
enum Next {
    Go,
    Leave,
}

pub(crate) fn run(cli: &Cli, output: &Output, target: &Target) -> Result<(), Failure> {
    let mut editor = DefaultEditor::new().map_err(|e| terminal(&e))?;
    let interrupts = Interrupts::listen()?;
    let session = super::run::open(cli, target)?;
    output.warnings(&session.host().warnings());
    output.hint(&format!(
        "session {}; /help shows what else can be done",
        session.id()
    ));
    loop {
        let line = match editor.readline("> ") {
            Ok(line) => line,
            // Ctrl-C at the prompt throws the line away.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(terminal(&error)),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        // A line that is not remembered is still answered.
        let _ = editor.add_history_entry(line);
        match answer(&session, output, &interrupts, line) {
            Ok(Next::Go) => {}
            Ok(Next::Leave) => return Ok(()),
            // What went wrong with one turn is no reason to leave.
            Err(failure) => output.failure(&failure),
        }
    }
}

fn answer(
    session: &Session,
    output: &Output,
    interrupts: &Interrupts,
    line: &str,
) -> Result<Next, Failure> {
    match line {
        "/quit" | "/exit" => return Ok(Next::Leave),
        "/help" => output.hint(HELP),
        "/context" => context(session, output)?,
        "/clear" => {
            session.clear()?;
            output.hint("The conversation begins anew; the earlier one is kept in the session.");
        }
        "/compact" => {
            let done = interrupts.during(|cancel| session.compact(cancel))?;
            output.hint(&format!(
                "{} tokens are {} now.",
                grouped(done.tokens_before),
                grouped(done.tokens_after)
            ));
        }
        _ if line.starts_with('/') => {
            let word = line.split_whitespace().next().unwrap_or(line);
            let word = sectile_sandbox::one_line(word);
            return Err(Failure::Usage(format!(
                "there is no {word}; /help shows what there is"
            )));
        }
        _ => {
            let input = TurnInput::text(line);
            let turn = interrupts.during(|cancel| follow::run(session, output, &input, cancel))?;
            match turn.outcome {
                TurnOutcome::Cancelled => output.hint("The turn was cancelled."),
                outcome => super::run::ended(outcome)?,
            }
        }
    }
    Ok(Next::Go)
}

fn context(session: &Session, output: &Output) -> Result<(), Failure> {
    let composition = session.inspect(None)?;
    if output.is_json() {
        return output.json_line(&composition.parts());
    }
    let (call, mut text) = (&composition.call, String::new());
    for part in composition.parts() {
        text.push_str(&format!(
            "{:>9}  {DIM}{:<8}{DIM:#} {}\n",
            grouped(part.tokens),
            part.region,
            sectile_sandbox::one_line(&part.name)
        ));
    }
    text.push_str(&format!(
        "{:>9}  tokens, about; compaction at {}\n",
        grouped(call.budget.estimated_input_tokens),
        grouped(call.limits.auto_compact_token_limit)
    ));
    output.text(&text)
}

fn terminal(error: &ReadlineError) -> Failure {
    Failure::Stream(format!("the terminal cannot be used: {error}"))
}
