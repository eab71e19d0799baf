//! CE-15 to CE-17: what fits, and when to compact.

use crate::EngineError;
use sectile_model::ModelCapabilities;
use serde::{Deserialize, Serialize};

/// Ceiling of one system part (CE-4, CE-17).
pub const MAX_SYSTEM_PART_TOKENS: u64 = 10_000;

/// When the conversation is compacted (CE-16).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactRule {
    /// Input and reserved output together reach the line, which has the output
    /// taken off already.
    #[default]
    Seed,
    /// The input alone reaches the line.
    Once,
}

/// What the model leaves room for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Window less output and reasoning (CE-15).
    pub effective_input_tokens: u64,
    /// 85 % of it, rounded up (CE-16).
    pub auto_compact_token_limit: u64,
    /// The rule that was applied, which may differ from the one asked for.
    pub compact_rule: CompactRule,
    /// Whether the estimated input has reached the line.
    pub must_compact: bool,
}

impl Limits {
    /// Limits of `model` for an input of `estimated_input` tokens.
    ///
    /// # Errors
    /// [`EngineError::InvalidModelLimits`] when nothing is left for input.
    pub fn new(
        model: &ModelCapabilities,
        rule: CompactRule,
        estimated_input: u64,
    ) -> Result<Self, EngineError> {
        let taken = model
            .max_output_tokens
            .saturating_add(model.max_reasoning_tokens);
        let effective = model.context_window.saturating_sub(taken);
        if effective == 0 {
            return Err(EngineError::InvalidModelLimits {
                context_window: model.context_window,
            });
        }
        let line = effective - effective / 100 * 15 - effective % 100 * 15 / 100;
        // Where the reserve alone is at the line, `Seed` would compact for ever.
        let rule = if model.max_output_tokens >= line {
            CompactRule::Once
        } else {
            rule
        };
        let counted = match rule {
            CompactRule::Seed => estimated_input.saturating_add(model.max_output_tokens),
            CompactRule::Once => estimated_input,
        };
        Ok(Self {
            effective_input_tokens: effective,
            auto_compact_token_limit: line,
            compact_rule: rule,
            must_compact: counted >= line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(context_window: u64, max_output_tokens: u64) -> ModelCapabilities {
        ModelCapabilities {
            name: "m".into(),
            context_window,
            max_output_tokens,
            max_reasoning_tokens: 0,
            accepts_data: true,
        }
    }

    #[test]
    fn ce_16_the_line_is_85_percent_rounded_up() {
        for effective in (1..2_000).chain([168_000, u64::MAX - 1, u64::MAX]) {
            let limits = Limits::new(&model(effective, 0), CompactRule::Seed, 0).unwrap();
            let line = (u128::from(effective) * 85).div_ceil(100);
            assert_eq!(
                u128::from(limits.auto_compact_token_limit),
                line,
                "{effective}"
            );
        }
    }

    #[test]
    fn ce_16_200_000_and_32_000_give_168_000_and_142_800() {
        let limits =
            |input| Limits::new(&model(200_000, 32_000), CompactRule::Seed, input).unwrap();
        assert_eq!(
            (
                limits(0).effective_input_tokens,
                limits(0).auto_compact_token_limit
            ),
            (168_000, 142_800)
        );
        assert!(!limits(110_799).must_compact && limits(110_800).must_compact);
    }

    #[test]
    fn ce_16_a_reserve_at_the_line_counts_once() {
        for (window, output) in [(65_536, 32_000), (272_000, 128_000), (256_000, 128_000)] {
            let limits = Limits::new(&model(window, output), CompactRule::Seed, 10).unwrap();
            assert_eq!(
                (limits.compact_rule, limits.must_compact),
                (CompactRule::Once, false),
                "{window}"
            );
        }
    }

    #[test]
    fn ce_15_no_room_for_input_is_an_error() {
        for (window, output) in [(32_000, 32_000), (0, 0), (10, u64::MAX)] {
            assert!(Limits::new(&model(window, output), CompactRule::Once, 0).is_err());
        }
    }
}
