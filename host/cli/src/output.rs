//! Where results, warnings and failures go.

use crate::failure::Failure;
use crate::text::printable;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{ErrorKind, Write};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
const WARNING: Style = AnsiColor::Yellow.on_default();
const FAILURE: Style = AnsiColor::Red.on_default().bold();

/// How this run talks.
#[derive(Clone)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the one result of a run.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        match written {
            // A reader that has seen enough is no failure.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Failure::Stream(format!(
                "standard output cannot be written: {error}"
            ))),
            Ok(()) => Ok(()),
        }
    }

    /// Prints one JSON document.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let mut text =
            serde_json::to_string_pretty(value).map_err(|e| Failure::Stream(e.to_string()))?;
        text.push('\n');
        self.text(&text)
    }

    /// Prints one line of JSON Lines.
    pub(crate) fn json_line<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let mut text = serde_json::to_string(value).map_err(|e| Failure::Stream(e.to_string()))?;
        text.push('\n');
        self.text(&text)
    }

    /// Something to know beside the result, for people.
    pub(crate) fn hint(&self, text: &str) {
        self.note(&format!("{DIM}{text}{DIM:#}"));
    }

    /// The same, with styles of its own.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet || self.json {
            return;
        }
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Warnings beside a result that does not show them itself.
    pub(crate) fn warnings(&self, warnings: &[String]) {
        if self.quiet || self.json {
            return;
        }
        let mut stderr = anstream::stderr().lock();
        for warning in warnings {
            // Nobody is left to tell when standard error is gone.
            let _ = writeln!(
                stderr,
                "{WARNING}warning:{WARNING:#} {}",
                printable(warning)
            );
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        if matches!(failure, Failure::Reported) {
            return;
        }
        if self.json {
            let _ = self.json(&failure.to_json());
            return;
        }
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(
            stderr,
            "{FAILURE}error:{FAILURE:#} {}",
            printable(&failure.message())
        );
    }
}
