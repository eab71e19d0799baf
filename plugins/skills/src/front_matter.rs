//! The head of a SKILL.md: YAML between two lines of three dashes (WS-42).

use serde::Deserialize;
use serde_saphyr::{Error, Options, budget, options};

const MAX_DESCRIPTION: usize = 1_024;

/// What the head says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    /// `name`, when given.
    pub name: Option<String>,
    /// `description` on one line, cut to its limit.
    pub description: String,
    /// What is wrong with it although it could be read.
    pub warning: Option<String>,
}

#[derive(Deserialize)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
}

/// Reads the head of `text`. `strict` takes YAML at its word; otherwise a head
/// that is no YAML is read line by line, since `description: Use when: …` is
/// what many people write.
pub(crate) fn parse(text: &str, strict: bool) -> Result<FrontMatter, String> {
    let yaml = head(text)?;
    let (fields, warning) = match serde_saphyr::from_str_with_options::<Fields>(&yaml, limits()) {
        Ok(fields) => (fields, None),
        Err(error) if strict => return Err(not_yaml(&error)),
        Err(error) => match by_line(&yaml) {
            Some(fields) => (fields, Some(format!("{}; read by line", not_yaml(&error)))),
            None => return Err(not_yaml(&error)),
        },
    };
    let description = collapse(&fields.description.unwrap_or_default());
    if description.is_empty() {
        return Err("it has no description".to_owned());
    }
    Ok(FrontMatter {
        name: fields
            .name
            .map(|name| collapse(&name))
            .filter(|name| !name.is_empty()),
        description: description.chars().take(MAX_DESCRIPTION).collect(),
        warning,
    })
}

/// More than a head needs, and less than a guest's stack and time: the parser
/// recurses, and a trap would cost the whole catalogue.
fn limits() -> Options {
    options! {
        budget: budget! {
            max_depth: 8,
            flow_nesting_limit: 8,
            max_events: 20_000,
            max_aliases: 100,
        },
        with_snippet: false,
    }
}

fn not_yaml(error: &Error) -> String {
    let said = error.to_string();
    let first_line = said.lines().next().unwrap_or_default();
    format!("its head is not valid YAML: {}", collapse(first_line))
}

/// What stands below the head, verbatim.
pub(crate) fn body(text: &str) -> Result<&str, String> {
    split(text).map(|(_, body)| body)
}

fn head(text: &str) -> Result<String, String> {
    split(text).map(|(head, _)| head)
}

/// The lines between the two that are exactly `---`, and the text below.
fn split(text: &str) -> Result<(String, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, mut rest) = text.split_once('\n').unwrap_or((text, ""));
    if bare(first) != "---" {
        return Err("it does not begin with a line `---`".to_owned());
    }
    let mut head = String::new();
    while !rest.is_empty() {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        if bare(line) == "---" {
            return Ok((head, below));
        }
        head.push_str(bare(line));
        head.push('\n');
        rest = below;
    }
    Err("its head is not closed by a line `---`".to_owned())
}

/// A line without the carriage return of a CRLF.
fn bare(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

fn by_line(head: &str) -> Option<Fields> {
    let value = |key: &str| {
        let line = head
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let text = line.trim();
        let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        Some(unquoted.unwrap_or(text).to_owned())
    };
    let description = value("description")
        .filter(|text| !text.is_empty() && !text.starts_with(['|', '>', '[', '{']))?;
    Some(Fields {
        name: value("name"),
        description: Some(description),
    })
}

/// White space collapsed and control characters gone: a description is one
/// line and cannot begin another entry.
fn collapse(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn sr_20_the_body_is_what_stands_below_the_head() {
        for (text, body) in [
            ("---\ndescription: d\n---\nDo it.\n---\nx", "Do it.\n---\nx"),
            ("\u{feff}---\r\ndescription: d\r\n---\r\nDo\r\n", "Do\r\n"),
            ("---\ndescription: d\n---", ""),
        ] {
            assert_eq!(super::body(text), Ok(body), "{text}");
        }
        assert!(super::body("no head").is_err());
    }

    use super::*;
    use proptest::prelude::*;

    fn described(text: &str) -> String {
        parse(text, true).unwrap().description
    }

    #[test]
    fn ws_42_name_and_description_are_read_and_collapsed() {
        let text = "---\nname: pdf\ndescription: >\n  Works\n  with  PDF\nlicense: MIT\nallowed-tools: [a]\n---\nbody";
        assert_eq!(
            parse(text, true).unwrap(),
            FrontMatter {
                name: Some("pdf".into()),
                description: "Works with PDF".into(),
                warning: None,
            }
        );
    }

    #[test]
    fn ws_43a_byte_order_mark_crlf_and_dashes_inside_a_value_are_fine() {
        assert_eq!(described("\u{feff}---\r\ndescription: a\r\n---\r\n"), "a");
        assert_eq!(
            described("---\ndescription: use --- to split\n---\n"),
            "use --- to split"
        );
    }

    #[test]
    fn ws_42_a_description_is_cut_at_1024_characters() {
        assert_eq!(
            described(&format!("---\ndescription: {}\n---\n", "漢".repeat(1_025)))
                .chars()
                .count(),
            1_024
        );
    }

    #[test]
    fn ws_43_each_defect_has_its_own_reason() {
        for (text, says) in [
            ("", "does not begin"),
            ("\n---\ndescription: a\n---\n", "does not begin"),
            ("-----\ndescription: a\n-----\n", "does not begin"),
            ("---\ndescription: a\n", "not closed"),
            ("---\nname: a\n---\n", "no description"),
            ("---\ndescription: ' '\n---\n", "no description"),
            ("---\ndescription: [a, b]\n---\n", "not valid YAML"),
            (
                "---\ndescription: a\ndescription: b\n---\n",
                "not valid YAML",
            ),
            ("---\ndescription: Use when: x\n---\n", "not valid YAML"),
        ] {
            let error = parse(text, true).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }

    #[test]
    fn ws_43a_a_colon_in_a_description_is_understood_unless_strict() {
        let text = "---\nname: x\ndescription: Use when: the sky is blue\n---\n";
        let head = parse(text, false).unwrap();
        assert_eq!(head.description, "Use when: the sky is blue");
        assert!(head.warning.unwrap().contains("not valid YAML"));
    }

    #[test]
    fn ws_42_plain_scalars_are_text() {
        let head = parse("---\nname: 3000\ndescription: true\n---\n", true).unwrap();
        assert_eq!(
            (head.name.as_deref(), head.description.as_str()),
            (Some("3000"), "true")
        );
    }

    #[test]
    fn s4_deep_nesting_is_refused_on_a_small_stack() {
        let texts = [
            format!("---\ndescription: x\na: {}\n---\n", "[".repeat(30_000)),
            format!("---\ndescription: x\na:\n {}b\n---\n", "- ".repeat(30_000)),
            format!("---\ndescription: x\na: {}x\n---\n", "{a: ".repeat(10_000)),
        ];
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let thread = small.spawn(move || texts.map(|text| parse(&text, true).is_err()));
        assert_eq!(thread.unwrap().join().unwrap(), [true; 3]);
    }

    #[test]
    fn s4_an_alias_bomb_is_refused() {
        let mut yaml = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
            yaml.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
        }
        yaml.push_str("description: boom\n---\n");
        assert!(parse(&yaml, true).is_err());
    }
    proptest! {
        #[test]
        fn ws_42_whatever_stands_in_a_file_a_description_is_one_bounded_line(
            head in "(?s)[ -~\n\r\t\u{85}\u{2028}\u{feff}漢]{0,80}", strict in any::<bool>()
        ) {
            let texts = [head.clone(), format!("---\n{head}\n---\n"), format!("---\ndescription: {head}\n---\n")];
            for text in texts {
                if let Ok(head) = parse(&text, strict) {
                    prop_assert!((1..=MAX_DESCRIPTION).contains(&head.description.chars().count()));
                    let breaks = head.description.contains(['\n', '\r', '\u{85}', '\u{2028}']);
                    prop_assert!(!breaks);
                }
            }
        }
    }
}
