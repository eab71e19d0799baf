//! What one provider must get back with a part, and whom it may be given (PV-2).

use sectile_sdk::provider::{Block, ProviderState};
use serde_json::Value;

/// State of `protocol` and `model` with `data`.
#[must_use]
pub fn state(protocol: &str, model: &str, data: &Value) -> ProviderState {
    ProviderState {
        protocol: protocol.to_owned(),
        model: model.to_owned(),
        data: data.to_string(),
    }
}

/// The state of `block`, when it may be sent to `model` over `protocol`.
#[must_use]
pub fn for_model(block: &Block, protocol: &str, model: &str) -> Option<Value> {
    let state = block.state.as_ref()?;
    let ours = state.protocol == protocol && family(&state.model) == family(model);
    ours.then(|| serde_json::from_str(&state.data).ok())?
}

/// Models whose state is of one kind: the first word of their name, without the
/// publisher. `anthropic/claude-sonnet-4-6` and `claude-opus-4-7` are `claude`.
fn family(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let word = name.chars().take_while(char::is_ascii_alphabetic);
    word.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_sdk::provider::BlockKind;
    use serde_json::json;

    #[test]
    fn pv_2_state_goes_to_its_own_protocol_and_family_alone() {
        let block = Block {
            kind: BlockKind::Text("a".to_owned()),
            state: Some(state("p", "claude-sonnet-4-6", &json!({"x": 1}))),
        };
        for (protocol, model, given) in [
            ("p", "claude-sonnet-4-6", true),
            ("p", "anthropic/Claude-Opus-4-7", true),
            ("q", "claude-sonnet-4-6", false),
            ("p", "gpt-5", false),
            ("p", "", false),
        ] {
            let found = for_model(&block, protocol, model);
            assert_eq!(found, given.then(|| json!({"x": 1})), "{protocol} {model}");
        }
        let none = Block {
            state: None,
            ..block
        };
        assert_eq!(for_model(&none, "p", "claude-sonnet-4-6"), None);
    }
}
