//! The head of a SKILL.md: YAML between two lines of three dashes (WS-42).

use serde::Deserialize;

const MAX_DESCRIPTION: usize = 1_024;

/// What the head says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    /// `name`, when given.
    pub name: Option<String>,
    /// `description` on one line, cut to its limit.
    pub description: String,
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
    let fields = match serde_saphyr::from_str::<Fields>(&yaml) {
        Ok(fields) => fields,
        Err(error) if strict => return Err(not_yaml(&error)),
        Err(error) => by_line(&yaml).ok_or_else(|| not_yaml(&error))?,
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
    })
}

fn not_yaml(error: &serde_saphyr::Error) -> String {
    let first_line = error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    format!("its head is not valid YAML: {first_line}")
}

/// The lines between the two that are exactly `---`.
fn head(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next() != Some("---") {
        return Err("it does not begin with a line `---`".to_owned());
    }
    let mut head = String::new();
    for line in lines {
        if line == "---" {
            return Ok(head);
        }
        head.push_str(line);
        head.push('\n');
    }
    Err("its head is not closed by a line `---`".to_owned())
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
    use super::*;

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
                description: "Works with PDF".into()
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
        assert_eq!(
            parse(text, false).unwrap().description,
            "Use when: the sky is blue"
        );
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
}
