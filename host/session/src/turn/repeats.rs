//! SR-25: the same call again and again is a loop that thinking will not end.

use sectile_model::{CallInput, ToolCall};
use serde_json::Value;

/// Times in a row at which a call does not run any more.
const DOOM: u32 = 3;

/// The last call of a turn, and how often it came in a row.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<(String, String)>,
    times: u32,
}

impl Repeats {
    /// Counts `call` and says whether it is one too many.
    pub(crate) fn is_doom(&mut self, call: &ToolCall) -> bool {
        let this = (call.name.clone(), canonical(&call.input));
        self.times = match &self.last {
            Some(last) if *last == this => self.times + 1,
            _ => 1,
        };
        self.last = Some(this);
        self.times >= DOOM
    }
}

/// The arguments as text that does not depend on the order of keys.
fn canonical(input: &CallInput) -> String {
    match input {
        CallInput::Raw(text) => text.clone(),
        CallInput::Parsed(value) => {
            let mut value = value.clone();
            value.sort_all_objects();
            Value::to_string(&value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall {
            id: "c".to_owned(),
            name: name.to_owned(),
            input: CallInput::Parsed(input),
        }
    }

    #[test]
    fn sr_25_the_third_equal_call_in_a_row_is_one_too_many() {
        let mut repeats = Repeats::default();
        let a = call("t", json!({"x": 1, "y": {"b": 1, "a": 2}}));
        let same = call("t", json!({"y": {"a": 2, "b": 1}, "x": 1}));
        assert!(!repeats.is_doom(&a) && !repeats.is_doom(&same) && repeats.is_doom(&a));
    }

    #[test]
    fn sr_25_another_call_in_between_begins_anew() {
        let mut repeats = Repeats::default();
        let (a, b) = (call("t", json!({"x": 1})), call("t", json!({"x": 2})));
        let other = call("u", json!({"x": 1}));
        for call in [&a, &a, &b, &a, &a, &other, &a, &a] {
            assert!(!repeats.is_doom(call));
        }
        assert!(repeats.is_doom(&a));
    }
}
