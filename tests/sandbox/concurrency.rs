//! Runaways beside calls that behave (PL-25, R18).

use crate::{asking, attack, guest, sandbox, text};
use sectile_sandbox::{Call, CancelToken, Imports, Limits};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn pl_25_four_looping_guests_do_not_hold_up_an_unrelated_one() {
    let other = sandbox()
        .load(sectile_tests::ATTACKS, Imports::default())
        .unwrap()
        .plugin
        .section()
        .unwrap();
    guest();
    let cancel = CancelToken::new();
    let looping: Vec<_> = (0..4)
        .map(|_| {
            let call = Call {
                cancel: cancel.clone(),
                limits: Limits {
                    time: Duration::from_secs(60),
                    ..Limits::default()
                },
                ..Call::default()
            };
            thread::spawn(move || attack("loop", &call))
        })
        .collect();
    thread::sleep(Duration::from_millis(100));
    let mut slowest = Duration::ZERO;
    for _ in 0..10 {
        let started = Instant::now();
        assert_eq!(text(other.render("attack/echo", &asking("here"))), "here");
        slowest = slowest.max(started.elapsed());
    }
    assert!(looping.iter().all(|thread| !thread.is_finished()));
    cancel.cancel();
    for thread in looping {
        thread.join().unwrap();
    }
    // 100 ms is the aim, and what an otherwise idle machine shows; a loaded one gets ten times that.
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
fn r15_more_calls_than_slots_are_all_answered() {
    guest();
    let calls: Vec<_> = (0..100)
        .map(|n| thread::spawn(move || text(attack("echo", &asking(&n.to_string())))))
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.join().unwrap(), n.to_string());
    }
}
