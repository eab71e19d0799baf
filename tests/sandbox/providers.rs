//! A hostile provider adapter: bounded, judged, and never believed (PV-5, PL-20).

use super::sandbox;
use sectile_model::{ModelRequest, ProviderEvent, ProviderRequest};
use sectile_sandbox::{Call, CancelToken, DecodeError, Imports, Limits, ProviderPlugin};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

fn hostile() -> ProviderPlugin {
    static GUEST: OnceLock<ProviderPlugin> = OnceLock::new();
    let load = || {
        let loaded = sandbox()
            .load(sectile_tests::HOSTILE_PROVIDER, Imports::default())
            .unwrap();
        loaded.plugin.provider().unwrap()
    };
    GUEST.get_or_init(load).clone()
}

fn call() -> Call {
    Call {
        limits: Limits {
            time: Duration::from_millis(300),
            memory: 256 << 20,
            output: 64 << 20,
            ..Limits::default()
        },
        ..Call::default()
    }
}

fn request(model: &str) -> ProviderRequest {
    ProviderRequest {
        request: ModelRequest {
            model: model.to_owned(),
            system: vec![],
            messages: vec![],
            tools: vec![],
            max_output_tokens: 1,
        },
        intents: Default::default(),
        cache: Default::default(),
    }
}

fn code<T>(result: Result<T, DecodeError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(DecodeError::Sandbox(error)) => error.code(),
        Err(DecodeError::Provider(error)) => error.class.name(),
    }
}

#[test]
fn r1_an_adapter_that_loops_is_cut_at_its_time_wherever_it_loops() {
    let (adapter, call) = (hostile(), call());
    let looped = adapter.capabilities("loop", None, &call).result;
    assert_eq!(looped.unwrap_err().code(), "limit_exceeded");
    let looped = adapter.encode(&request("loop"), &call).result;
    assert_eq!(looped.unwrap_err().code(), "limit_exceeded");
    let at_once = adapter.decoder("loop at once", "", &call);
    assert_eq!(at_once.err().map(|e| e.code()), Some("limit_exceeded"));
    let mut decoder = adapter.decoder("loop", "", &call).unwrap();
    let started = Instant::now();
    assert_eq!(code(decoder.push(b"x")), "limit_exceeded");
    assert!(started.elapsed() < Duration::from_secs(3));
    // What failed once says nothing more.
    assert_eq!(decoder.push(b"x").unwrap(), []);
    assert!(!decoder.is_finished());
}

#[test]
fn r3_a_decoder_that_keeps_all_it_sees_runs_into_its_memory() {
    let mut decoder = hostile().decoder("grow", "", &call()).unwrap();
    let failed = (0..100)
        .map(|_| code(decoder.push(b"x")))
        .find(|code| *code != "ok");
    assert_eq!(failed, Some("limit_exceeded"));
}

#[test]
fn r8_what_an_adapter_hands_over_is_bounded() {
    let (adapter, call) = (hostile(), call());
    let huge = adapter.encode(&request("huge"), &call).result;
    assert_eq!(huge.unwrap_err().code(), "limit_exceeded");
    let mut decoder = adapter.decoder("many", "", &call).unwrap();
    assert_eq!(code(decoder.push(b"x")), "limit_exceeded");
}

#[test]
fn pv_5_there_is_one_end_and_nothing_after_it_and_without_one_it_is_truncated() {
    let (adapter, call) = (hostile(), call());
    let mut decoder = adapter.decoder("two ends", "", &call).unwrap();
    let events = decoder.push(b"x").unwrap();
    assert!(
        matches!(events.as_slice(), [ProviderEvent::Finished(_)]),
        "{events:?}"
    );
    assert!(decoder.is_finished() && decoder.push(b"x").unwrap().is_empty());
    let mut silent = adapter.decoder("silent", "", &call).unwrap();
    assert!(silent.push(b"x").unwrap().is_empty());
    assert_eq!(code(silent.finish()), "truncated");
}

#[test]
fn b7_json_that_is_none_is_the_adapter_s_fault_and_no_panic() {
    for carry in ["bad json", "bad notice"] {
        let mut decoder = hostile().decoder(carry, "", &call()).unwrap();
        assert_eq!(code(decoder.push(b"x")), "malformed_json", "{carry}");
    }
    let mut decoder = hostile().decoder("panic", "", &call()).unwrap();
    assert_eq!(code(decoder.push(b"x")), "trap");
}

#[test]
fn t22_what_an_adapter_says_of_an_error_drives_no_terminal() {
    let outcome = hostile().classify_error(500, &[], b"\x1b[2J", &call());
    assert!(!outcome.result.unwrap().message.contains('\u{1b}'));
    let failure = hostile()
        .capabilities("m", None, &call())
        .result
        .unwrap_err();
    assert!(!failure.to_string().contains('\u{1b}'));
}

#[test]
fn pl_24_a_cancelled_decoder_stops_at_once() {
    let cancel = CancelToken::new();
    let call = Call {
        limits: Limits {
            time: Duration::from_secs(60),
            ..call().limits
        },
        cancel: cancel.clone(),
        ..Call::default()
    };
    let mut decoder = hostile().decoder("loop", "", &call).unwrap();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        cancel.cancel();
    });
    let started = Instant::now();
    assert_eq!(code(decoder.push(b"x")), "cancelled");
    assert!(started.elapsed() < Duration::from_secs(5));
}
