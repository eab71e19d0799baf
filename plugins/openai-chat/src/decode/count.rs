//! Usage in one meaning (PV-9), from what services call it.

use sectile_sdk::provider::Usage;
use sectile_wire::usage::{counter, first, without};
use serde_json::Value;

pub(super) fn usage(raw: &Value) -> Usage {
    let input = counter(raw, "/prompt_tokens");
    let cache_read = first(
        raw,
        &[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/num_cached_tokens",
            "/cache_read_input_tokens",
        ],
    );
    let cache_write = first(
        raw,
        &[
            "/prompt_tokens_details/cache_write_tokens",
            "/cache_creation_input_tokens",
        ],
    );
    let mut output = counter(raw, "/completion_tokens");
    let reasoning = first(
        raw,
        &[
            "/completion_tokens_details/reasoning_tokens",
            "/reasoning_tokens",
        ],
    );
    // Some services do not count what was thought as output; their sums show it.
    if let (Some(all), Some(i), Some(o), Some(r)) =
        (counter(raw, "/total_tokens"), input, output, reasoning)
        && r > 0
        && i.checked_add(o).and_then(|sum| sum.checked_add(r)) == Some(all)
    {
        output = Some(o.saturating_add(r));
    }
    Usage {
        input_tokens: without(input, &[cache_read, cache_write]),
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        // More than everything cannot have been thought.
        reasoning_tokens: reasoning.map(|r| output.map_or(r, |o| r.min(o))),
        raw: raw.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pv_9_usage_means_the_same_wherever_it_comes_from() {
        for (raw, expected) in [
            (
                json!({"prompt_tokens": 10, "completion_tokens": 4}),
                (Some(10), Some(4), None, None),
            ),
            (
                json!({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 6}, "completion_tokens": 4,
                       "completion_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 14}),
                (Some(4), Some(4), Some(6), Some(3)),
            ),
            (
                json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 8}),
                (Some(2), None, Some(8), None),
            ),
            (
                json!({"prompt_tokens": 10, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 5},
                       "total_tokens": 19}),
                (Some(10), Some(9), None, Some(5)),
            ),
            (
                json!({"prompt_tokens": 10, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 9},
                       "prompt_tokens_details": null, "total_tokens": 14}),
                (Some(10), Some(4), None, Some(4)),
            ),
            (json!({}), (None, None, None, None)),
        ] {
            let found = usage(&raw);
            let found = (
                found.input_tokens,
                found.output_tokens,
                found.cache_read_tokens,
                found.reasoning_tokens,
            );
            assert_eq!(found, expected, "{raw}");
        }
    }
}
