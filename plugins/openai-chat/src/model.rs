//! What is known of OpenAI's models, by their names.

/// A model of OpenAI, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    /// It reasons before it answers, and refuses sampling and stop texts.
    pub(crate) reasons: bool,
    /// It takes no system context, neither from the system nor the developer.
    pub(crate) no_system: bool,
    /// Efforts that it knows, in order.
    pub(crate) efforts: &'static [&'static str],
    /// It knows breakpoints of the prompt cache.
    pub(crate) breakpoints: bool,
    /// Tokens of input and output together.
    pub(crate) context_window: u32,
    /// Tokens that it may answer with.
    pub(crate) max_output: u32,
}

/// Efforts of all models, in order.
pub(crate) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A model of which nothing is known.
const UNKNOWN: Model = Model {
    reasons: false,
    no_system: false,
    efforts: &[],
    breakpoints: false,
    context_window: 32_768,
    max_output: 4_096,
};

const REASONING: Model = Model {
    reasons: true,
    efforts: &["low", "medium", "high"],
    context_window: 200_000,
    max_output: 100_000,
    ..UNKNOWN
};

/// What is known of the model called `name`.
pub(crate) fn named(name: &str) -> Model {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    if name.starts_with("o1-mini") || name.starts_with("o1-preview") {
        return Model {
            no_system: true,
            efforts: &[],
            context_window: 128_000,
            max_output: 32_768,
            ..REASONING
        };
    }
    if ["o1", "o3", "o4"]
        .iter()
        .any(|family| name.starts_with(family))
    {
        return REASONING;
    }
    let Some(rest) = name.strip_prefix("gpt-") else {
        return UNKNOWN;
    };
    let version: String = rest
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().ok());
    let version = (
        numbers.next().flatten(),
        numbers.next().flatten().unwrap_or(0),
    );
    match version {
        (Some(5..), _) if rest.contains("-chat") => Model {
            context_window: 128_000,
            max_output: 16_384,
            ..UNKNOWN
        },
        (Some(major @ 5..), minor) => Model {
            efforts: match (major, minor) {
                (5, 0) => &["minimal", "low", "medium", "high"],
                (5, 1) => &["none", "low", "medium", "high"],
                (5, 2..=5) => &["none", "low", "medium", "high", "xhigh"],
                _ => &["none", "low", "medium", "high", "xhigh", "max"],
            },
            breakpoints: (major, minor) >= (5, 6),
            context_window: 400_000,
            max_output: 128_000,
            ..REASONING
        },
        (Some(4), 1) => Model {
            context_window: 1_047_576,
            max_output: 32_768,
            ..UNKNOWN
        },
        (Some(4), _) if rest.starts_with("4o") => Model {
            context_window: 128_000,
            max_output: 16_384,
            ..UNKNOWN
        },
        _ => Model {
            context_window: 8_192,
            ..UNKNOWN
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_4_a_name_tells_what_a_model_takes() {
        for (name, reasons, efforts, breakpoints) in [
            ("gpt-4o-mini", false, 0, false),
            ("gpt-4.1-nano", false, 0, false),
            ("o1-mini", true, 0, false),
            ("o4-mini", true, 3, false),
            ("openai/gpt-5-nano", true, 4, false),
            ("gpt-5.2", true, 5, false),
            ("gpt-5.6", true, 6, true),
            ("gpt-5-chat-latest", false, 0, false),
            ("llama-3", false, 0, false),
        ] {
            let model = named(name);
            assert_eq!(
                (model.reasons, model.efforts.len(), model.breakpoints),
                (reasons, efforts, breakpoints),
                "{name}"
            );
        }
    }
}
