//! Guests that compute too long, too deep or too much (rows R).

use crate::{asking, attack, exceeded, guest, text};
use sectile_sandbox::{Call, CancelToken, LimitKind, Limits, LogSource, SandboxError};
use std::thread;
use std::time::{Duration, Instant};

fn within(time: Duration) -> Call {
    Call {
        limits: Limits {
            time,
            ..Limits::default()
        },
        ..Call::default()
    }
}

#[test]
fn r1_an_infinite_loop_ends_at_its_deadline() {
    let outcome = attack("loop", &within(Duration::from_millis(200)));
    assert_eq!(exceeded(&outcome), LimitKind::Time);
    assert!(outcome.report.elapsed >= Duration::from_millis(200));
    let message = outcome.result.unwrap_err().to_string();
    assert_eq!(message, "the plugin exceeded its time limit of 200 ms");
}

#[test]
fn r5_endless_recursion_ends_the_guest_and_not_the_host() {
    assert_eq!(
        exceeded(&attack("recursion", &Call::default())),
        LimitKind::Stack
    );
}

#[test]
fn r3_a_memory_bomb_stops_at_its_ceiling() {
    let outcome = attack("memory", &Call::default());
    assert_eq!(exceeded(&outcome), LimitKind::Memory);
    assert!(outcome.report.memory <= Limits::default().memory);
}

#[test]
fn r4_r22_f23_handles_are_bounded() {
    assert_eq!(
        exceeded(&attack("table", &Call::default())),
        LimitKind::Handles
    );
}

#[test]
fn r8_a_large_result_is_refused_before_it_is_copied() {
    assert_eq!(
        exceeded(&attack("output", &Call::default())),
        LimitKind::Output
    );
}

#[test]
fn r8_a_result_whose_length_is_a_lie_traps() {
    let outcome = attack("crafted-length", &Call::default());
    assert!(
        matches!(
            outcome.result,
            Err(SandboxError::Trap { .. } | SandboxError::LimitExceeded { .. })
        ),
        "{outcome:?}"
    );
}

#[test]
fn r7_a_large_argument_is_refused_before_it_is_copied() {
    assert_eq!(
        exceeded(&attack("long-argument", &Call::default())),
        LimitKind::Output
    );
}

#[test]
fn r10_a_million_log_lines_cost_a_bounded_log() {
    let mut call = Call::default();
    call.limits.host_calls = 10_000;
    let outcome = attack("log", &call);
    assert_eq!(exceeded(&outcome), LimitKind::HostCalls);
    assert_eq!(outcome.report.log.len(), Limits::default().log_lines);
    assert!(outcome.report.suppressed_log_lines > 9_000);
    assert!(
        outcome
            .report
            .log
            .iter()
            .all(|line| !line.text.contains('\n'))
    );
}

#[test]
fn r11_stdout_goes_to_the_log_bounded_and_escaped() {
    let outcome = attack("print", &Call::default());
    let log = &outcome.report.log;
    assert_eq!(log[0].source, LogSource::Stdout);
    assert_eq!(log[1].source, LogSource::Stderr);
    assert!(log[1].text.starts_with("\\u{1b}]52"), "{}", log[1].text);
    assert!(
        log.iter()
            .all(|line| line.text.len() <= Limits::default().log_line_bytes + 3)
    );
    assert_eq!(text(outcome), "printed");
}

#[test]
fn r12_a_host_call_storm_ends_at_its_budget_or_deadline() {
    let outcome = attack("host-calls", &Call::default());
    assert!(matches!(
        exceeded(&outcome),
        LimitKind::HostCalls | LimitKind::Time
    ));
    assert!(outcome.report.host_calls <= Limits::default().host_calls + 1);
}

#[test]
fn r19_nothing_survives_from_one_call_to_the_next() {
    for _ in 0..3 {
        assert_eq!(text(attack("state", &Call::default())), "1");
    }
}

#[test]
fn r21_sleeping_takes_no_time_of_the_host() {
    let started = Instant::now();
    assert_eq!(text(attack("sleep", &Call::default())), "slept 1000000 s");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn pl_22_a_trap_says_where_and_how_on_one_line() {
    let outcome = attack("panic", &Call::default());
    let error = outcome.result.unwrap_err();
    assert_eq!(error.code(), "trap");
    assert!(
        error
            .to_string()
            .starts_with("the plugin trapped in `section.render`: "),
        "{error}"
    );
    assert_eq!(error.to_string().lines().count(), 1);
    let SandboxError::Trap { backtrace, .. } = error else {
        panic!("it is a trap");
    };
    assert!(!backtrace.is_empty());
    assert!(
        outcome
            .report
            .log
            .iter()
            .any(|line| line.text.contains("on purpose"))
    );
}

#[test]
fn leaving_the_process_ends_the_guest_only() {
    let error = attack("exit", &Call::default()).result.unwrap_err();
    assert!(
        error.to_string().contains("exited with status 1"),
        "{error}"
    );
}

#[test]
fn a_failure_of_the_plugin_is_one_line_with_its_kind() {
    let error = attack("fail", &Call::default()).result.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("rejected", "no\\nsuch \\u{1b}[31mthing")
    );
}

#[test]
fn pl_24_a_cancelled_call_ends_at_once() {
    let cancel = CancelToken::new();
    let call = Call {
        cancel: cancel.clone(),
        ..within(Duration::from_secs(60))
    };
    guest();
    let running = thread::spawn(move || attack("loop", &call));
    thread::sleep(Duration::from_millis(50));
    let asked = Instant::now();
    cancel.cancel();
    let outcome = running.join().unwrap();
    assert_eq!(outcome.result, Err(SandboxError::Cancelled));
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
}

#[test]
fn r9_an_empty_answer_and_an_absent_one_differ() {
    assert_eq!(text(attack("echo", &asking(""))), "");
    assert_eq!(attack("absent", &Call::default()).result, Ok(None));
}

#[test]
fn r20_randomness_is_bounded_by_the_call() {
    assert_eq!(
        exceeded(&attack("random-bytes", &Call::default())),
        LimitKind::RandomBytes
    );
}

#[test]
fn b7_a_body_that_is_no_text_is_an_error_of_the_guest() {
    let error = attack("bad-utf8", &Call::default()).result.unwrap_err();
    assert_eq!(error.code(), "trap");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

#[test]
fn r9_bodies_at_the_output_ceiling_pass_and_above_it_do_not() {
    let echo = |bytes: usize| {
        let mut call = asking(&"x".repeat(bytes));
        call.limits.output = 100_000;
        attack("echo", &call)
    };
    assert_eq!(text(echo(99_000)).len(), 99_000);
    assert_eq!(exceeded(&echo(100_001)), LimitKind::Output);
}
