//! The intent to think in the form that the service takes (PV-4).

use super::Context;
use crate::dialect::ThinkingSwitch;
use crate::model::EFFORTS;
use sectile_sdk::provider::{Thinking, ToolChoice};
use serde_json::{Map, Value, json};

/// Adds what is said of thinking; true when the model will think, as far as
/// the choice of a tool depends on it.
pub(super) fn decide(
    context: &mut Context,
    has_tools: bool,
    body: &mut Map<String, Value>,
) -> bool {
    let request = context.request;
    let forced = has_tools
        && matches!(
            request.tool_choice,
            ToolChoice::Required | ToolChoice::Named(_)
        );
    let mut intent = request.thinking.clone().map(normalised);
    let default_on = context.dialect.free_choice_thinking;
    if intent.is_none() && forced && default_on {
        // Asked for a call and not for thinking: the call counts.
        intent = Some(Thinking::Off);
    }
    match context.dialect.thinking {
        ThinkingSwitch::None => context.none(intent.as_ref()),
        ThinkingSwitch::Effort => context.effort(intent.as_ref(), body),
        ThinkingSwitch::ThinkingType => {
            if let Some(on) = context.switch(intent.as_ref()) {
                let kind = if on { "enabled" } else { "disabled" };
                body.insert("thinking".to_owned(), json!({"type": kind}));
            }
        }
        ThinkingSwitch::EnableThinking => context.enable(&mut intent, body),
        ThinkingSwitch::ReasoningObject => {
            let reasoning = match &intent {
                None => return false,
                Some(Thinking::Off) => json!({"enabled": false}),
                Some(Thinking::Auto) => json!({"enabled": true}),
                Some(Thinking::Effort(effort)) => json!({"effort": effort}),
                Some(Thinking::Budget(tokens)) => json!({"max_tokens": tokens}),
            };
            body.insert("reasoning".to_owned(), reasoning);
        }
        ThinkingSwitch::Template => {
            if let Some(on) = context.switch(intent.as_ref()) {
                let template = json!({"enable_thinking": on});
                body.insert("chat_template_kwargs".to_owned(), template);
            }
        }
    }
    // A model that only reasons cannot be told otherwise.
    let always = request.model.to_ascii_lowercase().contains("reasoner");
    match intent {
        Some(Thinking::Off) => always,
        None => default_on,
        Some(_) => true,
    }
}

/// Other ways to say "not at all".
fn normalised(intent: Thinking) -> Thinking {
    match intent {
        Thinking::Budget(0) => Thinking::Off,
        Thinking::Effort(effort) if effort == "none" => Thinking::Off,
        intent => intent,
    }
}

/// The effort that comes nearest to a budget.
fn effort_of(budget: u32) -> &'static str {
    match budget {
        0..=1_024 => "minimal",
        1_025..=4_096 => "low",
        4_097..=16_384 => "medium",
        _ => "high",
    }
}

impl Context<'_> {
    fn none(&mut self, intent: Option<&Thinking>) {
        if !matches!(intent, None | Some(Thinking::Off)) {
            let why = "this service is not told how much to think";
            self.notes.dropped("thinking", why);
        }
    }

    /// On or off, where nothing finer is known.
    fn switch(&mut self, intent: Option<&Thinking>) -> Option<bool> {
        match intent? {
            Thinking::Off => Some(false),
            Thinking::Auto => Some(true),
            Thinking::Effort(_) | Thinking::Budget(_) => {
                let why = "this service is told to think, and not how much";
                self.notes.approximated("thinking", why);
                Some(true)
            }
        }
    }

    fn effort(&mut self, intent: Option<&Thinking>, body: &mut Map<String, Value>) {
        let asked = match intent {
            None | Some(Thinking::Auto) => return,
            Some(Thinking::Off) => "none",
            Some(Thinking::Effort(effort)) => effort.as_str(),
            Some(Thinking::Budget(tokens)) => {
                let why = "this service is told an effort and no budget";
                self.notes.approximated("thinking", why);
                effort_of(*tokens)
            }
        };
        let known = match self.model {
            Some(model) if !model.reasons || model.efforts.is_empty() => {
                if asked != "none" {
                    let why = "this model is not told how much to think";
                    self.notes.dropped("thinking", why);
                }
                return;
            }
            Some(model) => model.efforts,
            // Another maker's model, which the service knows better.
            None => &["none", "low", "medium", "high"],
        };
        match nearest(asked, known) {
            Some(effort) => {
                if effort != asked {
                    let why = format!("`{asked}` is not known to this model, `{effort}` is");
                    self.notes.approximated("thinking", &why);
                }
                body.insert("reasoning_effort".to_owned(), json!(effort));
            }
            None => {
                let why = format!("`{asked}` is no effort; known are {}", known.join(", "));
                self.notes.dropped("thinking", &why);
            }
        }
    }

    /// Thinking is refused in answers that do not come as a stream.
    fn enable(&mut self, intent: &mut Option<Thinking>, body: &mut Map<String, Value>) {
        if !self.request.streaming {
            if !matches!(intent, None | Some(Thinking::Off)) {
                let why = "this service thinks in streamed answers alone";
                self.notes.dropped("thinking", why);
            }
            *intent = Some(Thinking::Off);
        }
        let on = match intent {
            None => return,
            Some(intent) => *intent != Thinking::Off,
        };
        body.insert("enable_thinking".to_owned(), json!(on));
        let budget = match intent {
            Some(Thinking::Budget(tokens)) => *tokens,
            Some(Thinking::Effort(effort)) => {
                let why = "this service is told a budget and no effort";
                self.notes.approximated("thinking", why);
                match effort.as_str() {
                    "minimal" => 1_024,
                    "low" => 4_096,
                    "medium" => 8_192,
                    _ => 16_384,
                }
            }
            _ => return,
        };
        body.insert("thinking_budget".to_owned(), json!(budget));
    }
}

/// The known effort that is next to `asked`, a lower one rather than a higher.
fn nearest(asked: &str, known: &[&'static str]) -> Option<&'static str> {
    let rank = EFFORTS.iter().position(|effort| *effort == asked)?;
    let is_known = |effort: &&'static str| known.contains(effort);
    let below = EFFORTS.iter().take(rank + 1).rev().copied();
    // `none` is no small effort: who asks for a little gets a little.
    let below = below.filter(|effort| asked == "none" || *effort != "none");
    let above = EFFORTS.iter().skip(rank).copied();
    below.filter(is_known).chain(above.filter(is_known)).next()
}
