//! What is known of the models, by their names.

/// What a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    /// How it is told to think.
    pub(crate) thinking: ThinkingForm,
    /// Efforts that it knows.
    pub(crate) efforts: &'static [&'static str],
    /// Whether it can be told not to think.
    pub(crate) can_disable: bool,
    /// Whether it takes temperature and nucleus.
    pub(crate) sampling: bool,
    /// Whether it goes on with an answer that was begun for it.
    pub(crate) prefill: bool,
    /// Whether tools may be deferred.
    pub(crate) defer: bool,
    /// Tokens that it may answer with.
    pub(crate) max_output: u32,
    /// Whether `max_output` is sure to be its limit.
    pub(crate) known: bool,
}

/// How a model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingForm {
    /// Not at all.
    None,
    /// By a budget.
    Budget,
    /// By an effort or by a budget.
    Both,
    /// By an effort.
    Adaptive,
}

/// Efforts by rank.
pub(crate) const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Tokens of input and output together.
pub(crate) const CONTEXT_WINDOW: u32 = 200_000;

const NEWEST: Model = Model {
    thinking: ThinkingForm::Adaptive,
    efforts: &EFFORTS,
    can_disable: true,
    sampling: false,
    prefill: false,
    defer: true,
    max_output: 64_000,
    known: false,
};

const BUDGETED: Model = Model {
    thinking: ThinkingForm::Budget,
    efforts: &[],
    can_disable: true,
    sampling: true,
    prefill: true,
    defer: false,
    max_output: 64_000,
    known: true,
};

/// Another maker's model behind the same protocol.
const FOREIGN: Model = Model {
    max_output: 8_192,
    known: false,
    ..BUDGETED
};

/// What is known of the model called `name`. An unknown Claude model is taken
/// for one of the newest, which refuse the most.
pub(crate) fn named(name: &str) -> Model {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    if !name.contains("claude") {
        return FOREIGN;
    }
    let is = |tier: &str| name.contains(tier);
    match version(&name) {
        Some((3, 0..=4)) => Model {
            thinking: ThinkingForm::None,
            max_output: 4_096,
            ..BUDGETED
        },
        Some((3, 5..=6)) => Model {
            thinking: ThinkingForm::None,
            max_output: 8_192,
            ..BUDGETED
        },
        Some((3, _)) => BUDGETED,
        Some((4, 0..=1)) if is("opus") => Model {
            max_output: 32_000,
            ..BUDGETED
        },
        Some((4, 0..=4)) => BUDGETED,
        Some((4, 5)) => Model {
            defer: true,
            ..BUDGETED
        },
        Some((4, 6)) => Model {
            thinking: ThinkingForm::Both,
            efforts: &["low", "medium", "high", "max"],
            sampling: true,
            ..NEWEST
        },
        _ => Model {
            can_disable: !is("fable"),
            ..NEWEST
        },
    }
}

/// Major and minor version: the first two short numbers of a name.
fn version(name: &str) -> Option<(u32, u32)> {
    let mut numbers = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() <= 2)
        .filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_4_a_name_tells_what_a_model_takes() {
        use ThinkingForm as F;
        for (name, thinking, sampling, prefill) in [
            ("claude-3-5-sonnet-20241022", F::None, true, true),
            ("claude-3-7-sonnet-latest", F::Budget, true, true),
            ("claude-sonnet-4-20250514", F::Budget, true, true),
            ("claude-haiku-4-5", F::Budget, true, true),
            ("claude-sonnet-4-6", F::Both, true, false),
            ("anthropic/claude-opus-4.7", F::Adaptive, false, false),
            ("claude-sonnet-5", F::Adaptive, false, false),
            ("claude-next", F::Adaptive, false, false),
            ("deepseek-v4", F::Budget, true, true),
        ] {
            let model = named(name);
            assert_eq!(
                (model.thinking, model.sampling, model.prefill),
                (thinking, sampling, prefill),
                "{name}"
            );
        }
        assert!(!named("claude-fable-5").can_disable);
        assert_eq!(named("claude-opus-4-1-20250805").max_output, 32_000);
    }
}
