//! Attacks with computation, memory and time.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

pub fn kilobytes() -> String {
    "0123456789abcde\n".repeat(64)
}

pub fn endless_loop() -> String {
    let mut n = 0u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

pub fn recursion() -> String {
    fn deeper(n: u64) -> u64 {
        black_box(deeper(black_box(n + 1)) + 1)
    }
    deeper(0).to_string()
}

pub fn memory() -> String {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// Takes handles of the host until it refuses.
pub fn handles() -> String {
    #[cfg(target_family = "wasm")]
    {
        let mut kept = Vec::new();
        loop {
            kept.push(wasip2::clocks::monotonic_clock::subscribe_duration(1));
        }
    }
    #[cfg(not(target_family = "wasm"))]
    String::new()
}

/// A body of 32 MiB: inside its own memory, far above what the host takes.
pub fn large_output() -> String {
    "x".repeat(32 << 20)
}

/// A body that says it has a gigabyte and has a few bytes.
pub fn crafted_length() -> String {
    const CLAIMED: usize = 1 << 30;
    let real = std::mem::ManuallyDrop::new(String::from("short"));
    // Wrong on purpose: nothing in the guest looks at the bytes before the host does.
    unsafe { String::from_raw_parts(real.as_ptr().cast_mut(), CLAIMED, CLAIMED) }
}

/// How often this instance was called: always once, when every call is fresh.
pub fn state() -> String {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    (CALLS.fetch_add(1, Ordering::Relaxed) + 1).to_string()
}

pub fn sleep() -> String {
    let before = Instant::now();
    std::thread::sleep(Duration::from_secs(1_000_000));
    format!("slept {} s", before.elapsed().as_secs())
}

pub fn time() -> String {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    since.as_secs().to_string()
}

pub fn random() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish().to_string()
}

/// More randomness at once than any guest needs.
pub fn many_random_bytes() -> String {
    #[cfg(target_family = "wasm")]
    return wasip2::random::random::get_random_bytes(1 << 30)
        .len()
        .to_string();
    #[cfg(not(target_family = "wasm"))]
    String::new()
}

/// A body that is no text.
pub fn bad_utf8() -> String {
    // Wrong on purpose: the host has to notice.
    unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe, 0xc0]) }
}

pub fn environment() -> String {
    let vars: Vec<_> = std::env::vars().map(|(k, v)| format!("{k}={v}")).collect();
    let args: Vec<_> = std::env::args().collect();
    format!("{vars:?} {args:?}")
}
