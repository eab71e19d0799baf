//! Why a component could not be loaded or a call did not succeed.

use std::fmt;

/// Which ceiling of [`Limits`](crate::Limits) a call ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// Wall time.
    Time,
    /// Linear memory.
    Memory,
    /// Table elements.
    Table,
    /// Instances, memories or tables of one component.
    Instances,
    /// Native stack.
    Stack,
    /// Bytes handed to the host at once.
    Output,
    /// Calls into the host.
    HostCalls,
    /// Live descriptors, streams and pollables.
    Handles,
    /// Bytes of randomness asked for at once.
    RandomBytes,
    /// Bytes read from files.
    ReadBytes,
    /// Bytes written to files.
    WrittenBytes,
}

impl LimitKind {
    /// Stable name, as it stands in messages and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Table => "table",
            Self::Instances => "instances",
            Self::Stack => "stack",
            Self::Output => "output",
            Self::HostCalls => "host_calls",
            Self::Handles => "handles",
            Self::RandomBytes => "random_bytes",
            Self::ReadBytes => "read_bytes",
            Self::WrittenBytes => "written_bytes",
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A plugin's own answer that it could not do what it was asked; the variants
/// of `failure` in the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFailure {
    /// Which variant.
    pub kind: FailureKind,
    /// The plugin's text, control characters escaped.
    pub message: String,
}

/// The variants of the contract's `failure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The request is wrong.
    InvalidInput,
    /// Something the plugin was not granted.
    Denied,
    /// Something outside the plugin failed.
    Unavailable,
    /// The source breaks a rule of the plugin.
    Rejected,
    /// A fault of the plugin.
    Internal,
}

impl FailureKind {
    /// Stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::Denied => "denied",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
            Self::Internal => "internal",
        }
    }
}

/// Why a component was refused or a call ended without a result. Every message
/// is one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The bytes are a core module.
    #[error(
        "this is a core WebAssembly module, not a component; build it for wasm32-wasip2 or wrap it with a component tool"
    )]
    CoreModule,
    /// The bytes are no component at all.
    #[error("this is not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// A ceiling of [`CompileLimits`](crate::CompileLimits), found before compiling.
    #[error("the component is refused before compiling: {what} is above the limit of {limit}")]
    CompileRefused {
        /// What was counted, with its number.
        what: String,
        /// The ceiling.
        limit: String,
    },
    /// The compiling process ran out of its time or memory.
    #[error("compiling the component was stopped: {0}")]
    CompileStopped(String),
    /// The compiler rejects it.
    #[error("the component does not compile: {0}")]
    InvalidComponent(String),
    /// PL-2: it imports what the host does not offer.
    #[error("the component imports `{name}`, which this host does not offer to plugins")]
    UnknownImport {
        /// Full name of the import.
        name: String,
    },
    /// PL-2: it imports what its capabilities do not open.
    #[error(
        "the component imports `{name}`; its manifest has to ask for the capability `{capability}`"
    )]
    ImportNotGranted {
        /// Full name of the import.
        name: String,
        /// The capability that opens it.
        capability: &'static str,
    },
    /// It imports a known interface with other types.
    #[error("an import of the component does not fit this host: {0}")]
    IncompatibleImport(String),
    /// It does not export what was asked of it.
    #[error("the component does not export `{0}`")]
    MissingExport(&'static str),
    /// PL-20.
    #[error("the plugin exceeded its {which} limit of {limit}")]
    LimitExceeded {
        /// Which ceiling.
        which: LimitKind,
        /// Its value, with unit.
        limit: String,
    },
    /// PL-22.
    #[error("the plugin trapped in `{export}`: {kind}")]
    Trap {
        /// The export that was called.
        export: &'static str,
        /// What kind of trap.
        kind: String,
        /// Demangled frames, innermost first; for the log only.
        backtrace: Vec<String>,
    },
    /// PL-24.
    #[error("the call was cancelled")]
    Cancelled,
    /// Too many calls at once, for longer than this call may take.
    #[error("no slot became free within {0}: too many calls run at once")]
    Busy(String),
    /// The plugin answered with a failure of its own.
    #[error("{}", .0.message)]
    Plugin(PluginFailure),
    /// What the plugin gave for JSON is none.
    #[error("the plugin gave {what} that is not valid JSON: {why}")]
    MalformedJson {
        /// What it gave.
        what: &'static str,
        /// The parser's words.
        why: String,
    },
    /// The host itself could not do its part.
    #[error("the sandbox could not {what}: {why}")]
    Host {
        /// What it tried.
        what: &'static str,
        /// The reason.
        why: String,
    },
}

impl SandboxError {
    /// Stable code for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::CoreModule => "core_module",
            Self::NotAComponent(_) => "not_a_component",
            Self::CompileRefused { .. } => "compile_refused",
            Self::CompileStopped(_) => "compile_stopped",
            Self::InvalidComponent(_) => "invalid_component",
            Self::UnknownImport { .. } => "unknown_import",
            Self::ImportNotGranted { .. } => "import_not_granted",
            Self::IncompatibleImport(_) => "incompatible_import",
            Self::MissingExport(_) => "missing_export",
            Self::LimitExceeded { .. } => "limit_exceeded",
            Self::Trap { .. } => "trap",
            Self::Cancelled => "cancelled",
            Self::Busy(_) => "busy",
            Self::Plugin(failure) => failure.kind.code(),
            Self::MalformedJson { .. } => "malformed_json",
            Self::Host { .. } => "sandbox_error",
        }
    }

    pub(crate) fn host(what: &'static str, why: impl fmt::Display) -> Self {
        Self::Host {
            what,
            why: one_line(&format!("{why:#}")),
        }
    }
}

/// `text` with line breaks and control characters made visible, so that a
/// guest's text can neither break a line nor drive a terminal (attack T22).
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Bidirectional controls reorder what a terminal shows.
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}') =>
            {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t22_control_characters_are_made_visible() {
        assert_eq!(
            one_line("a\n\u{1b}[2Jb\u{202e}c"),
            "a\\n\\u{1b}[2Jb\\u{202e}c"
        );
        assert_eq!(one_line("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(one_line("naïve 漢字"), "naïve 漢字");
    }
}
