//! Decoding one answer in one piece and in many (PV-5).

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sectile_sdk::provider::{Decoder, Event, ProviderError};

/// The events of an answer, and the error that ended it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// In order.
    pub events: Vec<Event>,
    /// `None` when the answer came to its end.
    pub error: Option<ProviderError>,
}

/// Decodes an answer that comes in `chunks`.
#[must_use]
pub fn decode<'a, D: Decoder>(
    carry: &str,
    content_type: &str,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let mut decoder = D::new(carry, content_type);
    let mut events = Vec::new();
    for chunk in chunks {
        match decoder.push(chunk) {
            Ok(more) => events.extend(more),
            Err(error) => {
                return Outcome {
                    events,
                    error: Some(error),
                };
            }
        }
    }
    let error = match decoder.finish() {
        Ok(more) => {
            events.extend(more);
            None
        }
        Err(error) => Some(error),
    };
    Outcome { events, error }
}

/// Decodes `body` in one piece, and holds every other split to the same outcome:
/// each single cut of a small body, pieces of 1 to 17 bytes, and random cuts.
#[must_use]
pub fn in_every_split<D: Decoder>(carry: &str, content_type: &str, body: &[u8]) -> Outcome {
    const SMALL: usize = 3_000;
    let whole = decode::<D>(carry, content_type, [body]);
    if body.len() <= SMALL {
        for at in 0..=body.len() {
            let (a, b) = body.split_at(at);
            let cut = decode::<D>(carry, content_type, [a, b]);
            assert_eq!(cut, whole, "cut at {at}");
        }
    }
    for size in 1..=17 {
        let pieces = decode::<D>(carry, content_type, body.chunks(size));
        assert_eq!(pieces, whole, "pieces of {size} bytes");
    }
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 1..8);
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&cuts, |cuts| {
        let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let chunks = at.windows(2).map(|w| &body[w[0]..w[1]]);
        prop_assert_eq!(&decode::<D>(carry, content_type, chunks), &whole);
        Ok(())
    });
    result.unwrap();
    whole
}
