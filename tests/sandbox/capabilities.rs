//! Nothing is granted by default (PL-10).

use crate::{attack, text};
use sectile_sandbox::{Call, Capabilities};
use std::sync::Arc;

fn granted(capabilities: Capabilities) -> Call {
    Call {
        capabilities: Arc::new(capabilities),
        ..Call::default()
    }
}

#[test]
fn x1_pl_26_the_environment_and_the_command_line_are_empty() {
    assert_eq!(text(attack("environment", &Call::default())), "[] []");
    let call = granted(Capabilities {
        environment: vec![("LANG".into(), "C".into())],
        ..Capabilities::default()
    });
    assert_eq!(text(attack("environment", &call)), "[\"LANG=C\"] []");
}

#[test]
fn pl_10_time_stands_still_unless_granted() {
    assert_eq!(text(attack("time", &Call::default())), "0");
    let call = granted(Capabilities {
        clock: true,
        ..Capabilities::default()
    });
    assert!(text(attack("time", &call)).parse::<u64>().unwrap() > 1_700_000_000);
}

#[test]
fn pl_10_randomness_is_one_fixed_stream_unless_granted() {
    let random = |call: &Call| text(attack("random", call));
    assert_eq!(random(&Call::default()), random(&Call::default()));
    let call = granted(Capabilities {
        random: true,
        ..Capabilities::default()
    });
    assert_ne!(random(&call), random(&call));
}

#[test]
fn pl_10_without_a_grant_there_is_no_directory_at_all() {
    let outcome = crate::script(vec![], "open /etc/passwd");
    assert!(matches!(
        outcome.result,
        Err(sectile_sandbox::SandboxError::Trap { .. })
    ));
}
