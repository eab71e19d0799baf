//! When to send again. Whether, is for others to say (PV-8).

use std::thread;
use std::time::{Duration, Instant};

/// Nobody is asked to wait longer than this.
const LONGEST: Duration = Duration::from_secs(120);
/// How often a wait looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(25);

/// How often and how soon a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Times that it is sent at the most.
    pub max_attempts: u32,
    /// The first wait, doubled each time.
    pub base: Duration,
    /// The longest wait that was not advised.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// The wait before the request is sent again, when it was sent `attempt`
    /// times; `None` gives up. What the provider `advised` is kept to; otherwise
    /// the wait grows, and `jitter` (0 to 1) takes up to half of it off, so that
    /// many who failed together do not come back together.
    #[must_use]
    pub fn delay(&self, attempt: u32, advised: Option<Duration>, jitter: f64) -> Option<Duration> {
        if attempt >= self.max_attempts {
            return None;
        }
        if let Some(advised) = advised {
            return (advised <= LONGEST).then_some(advised);
        }
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let grown = self.base.saturating_mul(doubled).min(self.cap);
        Some(grown.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0))
    }
}

/// A number from 0 to 1; 0 when the system gives no randomness.
#[must_use]
pub fn jitter() -> f64 {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}

/// Waits; `false` when it was cancelled meanwhile.
#[must_use]
pub fn wait(duration: Duration, cancelled: &dyn Fn() -> bool) -> bool {
    let started = Instant::now();
    while !cancelled() {
        let left = duration.saturating_sub(started.elapsed());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(LOOK));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_8_waits_double_up_to_their_cap_and_attempts_end() {
        let policy = RetryPolicy {
            max_attempts: 8,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(4),
        };
        let waits: Vec<_> = (1..=8)
            .map(|n| policy.delay(n, None, 0.0).map(|d| d.as_millis()))
            .collect();
        assert_eq!(
            waits,
            [
                Some(500),
                Some(1000),
                Some(2000),
                Some(4000),
                Some(4000),
                Some(4000),
                Some(4000),
                None
            ]
        );
        assert_eq!(policy.delay(1, None, 1.0), Some(Duration::from_millis(250)));
    }

    #[test]
    fn pv_8_advice_is_kept_to_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let seconds = Duration::from_secs;
        assert_eq!(policy.delay(1, Some(seconds(17)), 0.9), Some(seconds(17)));
        assert_eq!(policy.delay(1, Some(seconds(121)), 0.0), None);
        assert_eq!(policy.delay(4, Some(seconds(1)), 0.0), None);
    }

    #[test]
    fn a_wait_can_be_cancelled() {
        let started = Instant::now();
        assert!(!wait(Duration::from_secs(60), &|| true));
        assert!(started.elapsed() < Duration::from_secs(5));
        assert!(wait(Duration::ZERO, &|| false));
    }
}
