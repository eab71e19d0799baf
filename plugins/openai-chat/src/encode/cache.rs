//! Where the service's prompt cache may end (PV-10).

use super::Context;
use super::messages::WireMessage;
use crate::capabilities::CACHE_MARKS;
use crate::dialect::CacheForm;
use serde_json::json;

/// Marks the system context, then the messages, the newest first. Messages of
/// the model and of tools are not marked; the user's before them is.
pub(super) fn mark(context: &mut Context, messages: &mut [WireMessage]) {
    let knows_breakpoints = context.model.is_some_and(|model| model.breakpoints);
    let (key, mark) = match context.dialect.cache {
        CacheForm::Breakpoint if knows_breakpoints => {
            ("prompt_cache_breakpoint", json!({"mode": "explicit"}))
        }
        CacheForm::Control if knows_control(&context.request.model) => {
            ("cache_control", json!({"type": "ephemeral"}))
        }
        _ => return,
    };
    let is_system = |m: &WireMessage| matches!(m.role, "system" | "developer");
    let (system, said): (Vec<_>, Vec<_>) = messages.iter_mut().partition(|m| is_system(m));
    let mut left = CACHE_MARKS;
    let mut wanted = false;
    for message in system.into_iter().chain(said.into_iter().rev()) {
        wanted |= message.content.hint;
        if !wanted || matches!(message.role, "assistant" | "tool") {
            continue;
        }
        wanted = false;
        if left == 0 {
            let why = format!("at most {CACHE_MARKS} boundaries are taken");
            context.notes.dropped("cache_hint", &why);
            return;
        }
        left -= 1;
        message.content.mark(key, &mark);
    }
}

/// Services pass the marks on to the makers that know them.
fn knows_control(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    model.contains("claude") || model.contains("gemini")
}
