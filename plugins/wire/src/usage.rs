//! Counters of tokens in one meaning (PV-9): input that came from no cache and
//! went into none, cache reads, cache writes, output with thinking. Unknown is
//! not zero.

use sectile_sdk::provider::Usage;
use serde_json::Value;

/// Nothing is known.
#[must_use]
pub fn unknown() -> Usage {
    Usage {
        input_tokens: None,
        output_tokens: None,
        cache_read_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
        raw: "{}".to_owned(),
    }
}

/// The counter at `pointer`, a JSON pointer.
#[must_use]
pub fn counter(object: &Value, pointer: &str) -> Option<u64> {
    object.pointer(pointer)?.as_u64()
}

/// The first of the counters at `pointers` that is there.
#[must_use]
pub fn first(object: &Value, pointers: &[&str]) -> Option<u64> {
    pointers.iter().find_map(|at| counter(object, at))
}

/// What is left of `total` without `parts`, of which unknown ones count nothing.
#[must_use]
pub fn without(total: Option<u64>, parts: &[Option<u64>]) -> Option<u64> {
    let part = parts
        .iter()
        .flatten()
        .fold(0u64, |sum, n| sum.saturating_add(*n));
    total.map(|total| total.saturating_sub(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pv_9_unknown_is_not_zero() {
        let object = json!({"a": 3, "b": {"c": 0}, "d": null, "f": -1, "g": "7", "h": 1.5});
        for (pointer, expected) in [
            ("/a", Some(3)),
            ("/b/c", Some(0)),
            ("/b/x", None),
            ("/d", None),
            ("/d/x", None),
            ("/f", None),
            ("/g", None),
            ("/h", None),
        ] {
            assert_eq!(counter(&object, pointer), expected, "{pointer}");
        }
        assert_eq!(without(None, &[Some(1)]), None);
        assert_eq!(without(Some(5), &[None, Some(2)]), Some(3));
        assert_eq!(without(Some(5), &[Some(9)]), Some(0));
    }
}
