//! The intent to think in the form that the model takes (PV-4).

use super::Context;
use super::messages::Messages;
use crate::model::{EFFORTS, ThinkingForm};
use sectile_sdk::provider::Thinking;
use serde_json::{Map, Value, json};

/// Tokens that a model has to be given to think at all.
const MIN_BUDGET: u32 = 1_024;
/// Tokens for each effort.
const BUDGETS: [u32; 5] = [4_096, 8_192, 16_384, 24_576, 32_768];

/// What is said of thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing.
    Unsaid,
    Disabled,
    Budget(u32),
    Adaptive(Option<&'static str>),
}

impl Decision {
    pub(super) fn is_on(&self) -> bool {
        matches!(self, Self::Budget(_) | Self::Adaptive(_))
    }

    pub(super) fn add_to(&self, body: &mut Map<String, Value>) {
        let thinking = match self {
            Self::Unsaid => return,
            Self::Disabled => json!({"type": "disabled"}),
            Self::Budget(tokens) => json!({"type": "enabled", "budget_tokens": tokens}),
            Self::Adaptive(_) => json!({"type": "adaptive"}),
        };
        body.insert("thinking".to_owned(), thinking);
        if let Self::Adaptive(Some(effort)) = self {
            body.insert("output_config".to_owned(), json!({"effort": effort}));
        }
    }
}

pub(super) fn decide(context: &mut Context, max_tokens: u32, messages: &Messages) -> Decision {
    let decision = match &context.request.thinking {
        None => Decision::Unsaid,
        Some(Thinking::Off | Thinking::Budget(0)) => off(context),
        Some(Thinking::Effort(effort)) if effort == "none" => off(context),
        Some(_) if context.model.thinking == ThinkingForm::None => {
            context
                .notes
                .dropped("thinking", "this model does not think");
            Decision::Unsaid
        }
        Some(Thinking::Auto) => match context.model.thinking {
            ThinkingForm::Budget => context.budget_for("medium", max_tokens),
            _ => Decision::Adaptive(None),
        },
        Some(Thinking::Effort(effort)) => match context.model.thinking {
            ThinkingForm::Budget => context.budget_for(effort, max_tokens),
            _ => Decision::Adaptive(context.effort(effort)),
        },
        Some(Thinking::Budget(tokens)) => match context.model.thinking {
            ThinkingForm::Adaptive => {
                let why = "this model is told an effort and no budget";
                context.notes.approximated("thinking", why);
                let rank = BUDGETS.iter().filter(|budget| **budget < *tokens).count();
                let effort = EFFORTS.get(rank).copied().unwrap_or("max");
                Decision::Adaptive(context.effort(effort))
            }
            _ => context.budget(*tokens, max_tokens),
        },
    };
    if matches!(decision, Decision::Budget(_)) && messages.calls_without_thinking() {
        let why = "the open tool calls were made without thinking, which this model would miss";
        context.notes.dropped("thinking", why);
        return Decision::Unsaid;
    }
    decision
}

fn off(context: &mut Context) -> Decision {
    if context.model.thinking == ThinkingForm::None {
        return Decision::Unsaid;
    }
    if !context.model.can_disable {
        let why = "this model cannot be told not to think";
        context.notes.dropped("thinking", why);
        return Decision::Unsaid;
    }
    Decision::Disabled
}

impl Context<'_> {
    /// The nearest effort that the model knows.
    fn effort(&mut self, asked: &str) -> Option<&'static str> {
        let known = self.model.efforts;
        if let Some(effort) = known.iter().find(|known| **known == asked) {
            return Some(*effort);
        }
        let Some(rank) = rank(asked) else {
            let why = format!("`{asked}` is no effort; known are {}", known.join(", "));
            self.notes.dropped("thinking", &why);
            return None;
        };
        let below = EFFORTS.iter().take(rank + 1).rev();
        let nearest = below
            .filter_map(|effort| known.iter().find(|known| *known == effort))
            .next()
            .or(known.first())
            .copied();
        if let Some(nearest) = nearest {
            let why = format!("`{asked}` is not known to this model, `{nearest}` is");
            self.notes.approximated("thinking", &why);
        }
        nearest
    }

    fn budget_for(&mut self, effort: &str, max_tokens: u32) -> Decision {
        let why = "this model is told a budget and no effort";
        self.notes.approximated("thinking", why);
        let rank = rank(effort).unwrap_or(1);
        let budget = match effort {
            "minimal" => MIN_BUDGET,
            _ => BUDGETS.get(rank).copied().unwrap_or(MIN_BUDGET),
        };
        // Half of the answer is left for what comes after thinking.
        let budget = budget.min((max_tokens / 2).max(MIN_BUDGET));
        self.budget(budget, max_tokens)
    }

    /// A budget has a least size and is smaller than the answer.
    fn budget(&mut self, tokens: u32, max_tokens: u32) -> Decision {
        if max_tokens <= MIN_BUDGET {
            let why = format!("an answer of {max_tokens} tokens leaves no room for thinking");
            self.notes.dropped("thinking", &why);
            return Decision::Unsaid;
        }
        let clamped = tokens.clamp(MIN_BUDGET, max_tokens - 1);
        if clamped != tokens {
            let why =
                format!("a budget is at least {MIN_BUDGET} and less than the answer's tokens");
            self.notes.clamped("thinking", &why);
        }
        Decision::Budget(clamped)
    }
}

fn rank(effort: &str) -> Option<usize> {
    match effort {
        "minimal" => Some(0),
        effort => EFFORTS.iter().position(|known| *known == effort),
    }
}
