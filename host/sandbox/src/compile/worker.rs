//! Compilation in a process of its own, with its memory and time bounded.

use crate::engine::compiling_engine;
use crate::error::{SandboxError, one_line};
use crate::limits::CompileLimits;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use wasmtime::Engine;

/// Bytes of machine code that the host takes from a worker, whatever the
/// component; a large one may have [`CODE_PER_BYTE`] times its own.
const MIN_ARTIFACT: u64 = 48 << 20;
const CODE_PER_BYTE: u64 = 6;
/// Largest error message that the host takes from a worker.
const MAX_MESSAGE: u64 = 4 << 10;
/// Exit status of a worker whose compiler rejected the component.
const REJECTED: u8 = 3;
/// Between two looks at a running worker.
const POLL: Duration = Duration::from_millis(2);

/// Where components are compiled.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// In a child process that runs [`compile_worker`]: for everything that is
    /// not trusted.
    Worker {
        /// The program, usually the running one.
        program: PathBuf,
        /// Arguments that make it call [`compile_worker`].
        args: Vec<OsString>,
    },
    /// In this process, without bounds on time and memory: only for components
    /// that are part of the program.
    InProcess,
}

/// Machine code for `bytes`, to be loaded by `engine`.
pub(crate) fn compile(
    engine: &Engine,
    compiler: &Compiler,
    bytes: &[u8],
    limits: &CompileLimits,
) -> Result<Vec<u8>, SandboxError> {
    match compiler {
        Compiler::InProcess => engine.precompile_component(bytes).map_err(rejected),
        Compiler::Worker { program, args } => {
            let mut command = Command::new(program);
            command.args(args).arg(limits.memory.to_string());
            in_worker(command, bytes, limits.time_for(bytes.len()))
        }
    }
}

fn rejected(error: wasmtime::Error) -> SandboxError {
    SandboxError::InvalidComponent(one_line(&format!("{error:#}")))
}

fn in_worker(mut command: Command, bytes: &[u8], time: Duration) -> Result<Vec<u8>, SandboxError> {
    let failed = |e: std::io::Error| SandboxError::host("start the compiling process", e);
    let most = MIN_ARTIFACT.max((bytes.len() as u64).saturating_mul(CODE_PER_BYTE));
    let mut child = command
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (artifact, message, ended) = thread::scope(|scope| {
        // A worker that dies early closes its pipe; its exit status says why.
        scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(bytes)));
        let artifact = scope.spawn(move || read_up_to(stdout, most + 1));
        let message = scope.spawn(move || read_up_to(stderr, MAX_MESSAGE));
        let ended = wait(&mut child, time);
        (
            artifact.join().unwrap_or_default(),
            message.join().unwrap_or_default(),
            ended,
        )
    });
    // The worker fails for want of a reader then, and could not say why.
    if artifact.len() as u64 > most {
        return Err(SandboxError::CompileStopped(format!(
            "it makes more than {most} bytes of machine code"
        )));
    }
    match ended.map_err(failed)? {
        None => Err(SandboxError::CompileStopped(format!(
            "it took longer than {} ms",
            time.as_millis()
        ))),
        Some(status) if status.success() => Ok(artifact),
        Some(status) if status.code() == Some(i32::from(REJECTED)) => Err(
            SandboxError::InvalidComponent(one_line(String::from_utf8_lossy(&message).trim())),
        ),
        Some(status) => Err(SandboxError::CompileStopped(format!(
            "the compiling process ended with {status}, most likely for lack of memory"
        ))),
    }
}

fn read_up_to(pipe: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What is cut short fails to load; there is nothing better to do with an error here.
    let _ = pipe.map(|pipe| pipe.take(most).read_to_end(&mut bytes));
    bytes
}

/// `None` when the child had to be killed.
fn wait(child: &mut Child, time: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= time {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// The other side: bounds this process to `memory` bytes of address space,
/// reads a component from standard input and writes its machine code to
/// standard output. A program that embeds the sandbox calls it, and nothing
/// else, when it was started as [`Compiler::Worker`] says; `memory` is the last
/// argument.
#[must_use]
pub fn compile_worker(memory: u64) -> ExitCode {
    match compile_stdin(memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = match error {
                SandboxError::InvalidComponent(why) => why,
                other => other.to_string(),
            };
            // Nobody is left to tell when this fails.
            let _ = std::io::stderr().write_all(message.as_bytes());
            ExitCode::from(REJECTED)
        }
    }
}

fn compile_stdin(memory: u64) -> Result<(), SandboxError> {
    bound_this_process(memory).map_err(|e| SandboxError::host("bound the compiling process", e))?;
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|e| SandboxError::host("read the component", e))?;
    let artifact = compiling_engine()?
        .precompile_component(&bytes)
        .map_err(rejected)?;
    std::io::stdout()
        .write_all(&artifact)
        .map_err(|e| SandboxError::host("hand over the artifact", e))
}

#[cfg(unix)]
fn bound_this_process(memory: u64) -> Result<(), rustix::io::Errno> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |n| Rlimit {
        current: Some(n),
        maximum: Some(n),
    };
    setrlimit(Resource::As, at_most(memory))?;
    setrlimit(Resource::Core, at_most(0))
}

#[cfg(not(unix))]
fn bound_this_process(_: u64) -> Result<(), std::io::Error> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(program: &str, args: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(args);
        match in_worker(command, b"component", Duration::from_secs(1)) {
            Err(SandboxError::CompileStopped(why)) => why,
            other => panic!("{:?}", other.map(|artifact| artifact.len())),
        }
    }

    #[test]
    fn pl_19_the_host_takes_no_more_from_a_worker_than_its_bound() {
        assert!(stopped("cat", &["/dev/zero"]).contains("bytes of machine code"));
    }

    #[test]
    fn pl_19_a_worker_that_takes_too_long_or_dies_is_stopped() {
        assert!(stopped("sleep", &["60"]).contains("longer than 1000 ms"));
        assert!(stopped("false", &[]).contains("ended with"));
    }
}
