//! CE-13: how many tokens the request is, by its own bytes.

use sectile_model::ModelRequest;
use serde::Serialize;
use std::io;

/// How tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetRule {
    /// Bytes of compact JSON divided by four, rounded up.
    #[serde(rename = "json_bytes_div_4")]
    JsonBytesDiv4,
}

/// Estimated tokens of each region of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// How they were counted.
    pub rule: BudgetRule,
    /// The system parts.
    pub system_context_tokens: u64,
    /// The messages.
    pub conversation_tokens: u64,
    /// The tool definitions.
    pub tool_surface_tokens: u64,
    /// The sum.
    pub estimated_input_tokens: u64,
    /// The model's output ceiling (CE-14).
    pub reserved_output_tokens: u64,
}

impl Budget {
    /// Measures `request` and changes nothing of it.
    #[must_use]
    pub fn measure(request: &ModelRequest) -> Self {
        let system = region(&request.system);
        let conversation = region(&request.messages);
        let tools = region(&request.tools);
        Self {
            rule: BudgetRule::JsonBytesDiv4,
            system_context_tokens: system,
            conversation_tokens: conversation,
            tool_surface_tokens: tools,
            estimated_input_tokens: system + conversation + tools,
            reserved_output_tokens: request.max_output_tokens,
        }
    }
}

fn region<T: Serialize>(entries: &[T]) -> u64 {
    if entries.is_empty() {
        0
    } else {
        estimate_tokens(entries)
    }
}

/// Estimated tokens of anything that is sent as JSON: its compact bytes divided
/// by four, rounded up.
pub fn estimate_tokens<T: Serialize + ?Sized>(value: &T) -> u64 {
    json_bytes(value).div_ceil(4)
}

/// Bytes of the compact JSON of `value`, without making it.
pub(crate) fn json_bytes<T: Serialize + ?Sized>(value: &T) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Our types have string keys only and counting never fails, so neither does this.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ce_13_bytes_of_compact_json_divided_by_four_rounded_up() {
        assert_eq!(estimate_tokens("ab"), 1);
        assert_eq!(estimate_tokens("abc"), 2);
        // A newline is two bytes in JSON, a Chinese character three.
        assert_eq!(estimate_tokens("\n漢a"), 2);
        assert_eq!(region::<String>(&[]), 0);
    }
}
