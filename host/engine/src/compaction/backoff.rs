//! CP-7a: after two failures in a row nothing is tried by itself any more.

/// Failures in a row that are one too many.
const MOST: u32 = 2;

/// What is known of compactions that the host began by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
    /// The estimate at the last failure.
    tokens: u64,
}

impl Backoff {
    /// Whether one is tried for a conversation of `tokens`: not after two
    /// failures, unless it has shrunk since.
    #[must_use]
    pub fn may_try(&self, tokens: u64) -> bool {
        self.failures < MOST || tokens < self.tokens
    }

    /// One failed.
    #[must_use]
    pub fn failed(self, tokens: u64) -> Self {
        Self {
            failures: self.failures + 1,
            tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cp_7a_two_failures_in_a_row_end_it_until_it_shrinks() {
        let once = Backoff::default().failed(100);
        assert!(once.may_try(100));
        let twice = once.failed(100);
        assert!(!twice.may_try(100) && !twice.may_try(101) && twice.may_try(99));
    }
}
