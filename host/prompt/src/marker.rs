//! Markers are the host's (WS-11, WS-12): a body is wrapped here, and nothing
//! in a body can open or close a marker.

use sectile_model::{PluginId, SectionId, Tag};
use std::collections::BTreeMap;

const MAX_ATTRIBUTES: usize = 8;
const MAX_VALUE: usize = 256;

/// Who uses a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagOwner {
    /// The plugin.
    pub plugin: PluginId,
    /// Its section.
    pub section: SectionId,
}

/// Why a marker cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// Two sections have one tag.
    #[error("the tag `{tag}` is used by {} ({}) and by {} ({}); disable one of them", first.section, first.plugin, second.section, second.plugin)]
    DuplicateTag {
        /// The tag.
        tag: Tag,
        /// The one that came first.
        first: Box<TagOwner>,
        /// The other.
        second: Box<TagOwner>,
    },
    /// An attribute that the plugin gave is malformed.
    #[error("the attribute `{name}` of the marker is not valid: {why}")]
    InvalidAttribute {
        /// Its name, escaped.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// The markers of all enabled sections.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    owners: BTreeMap<Tag, TagOwner>,
}

impl Markers {
    /// Takes the tag of a section.
    ///
    /// # Errors
    /// [`MarkerError::DuplicateTag`] when another section has it.
    pub fn add(&mut self, tag: &Tag, owner: TagOwner) -> Result<(), MarkerError> {
        if let Some(first) = self.owners.get(tag) {
            return Err(MarkerError::DuplicateTag {
                tag: tag.clone(),
                first: Box::new(first.clone()),
                second: Box::new(owner),
            });
        }
        self.owners.insert(tag.clone(), owner);
        Ok(())
    }

    /// `<tag …>`, the body made inert, `</tag>`.
    ///
    /// # Errors
    /// [`MarkerError::InvalidAttribute`].
    pub fn wrap(
        &self,
        tag: &Tag,
        attributes: &[(String, String)],
        body: &str,
    ) -> Result<String, MarkerError> {
        let mut text = format!("<{tag}");
        if attributes.len() > MAX_ATTRIBUTES {
            return Err(invalid("", "there are more than 8 attributes"));
        }
        for (n, (name, value)) in attributes.iter().enumerate() {
            check_attribute(name, value)?;
            if attributes.iter().take(n).any(|(other, _)| other == name) {
                return Err(invalid(name, "it is given twice"));
            }
            text.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        text.push_str(">\n");
        self.make_inert(body, &mut text);
        text.push_str(&format!("\n</{tag}>"));
        Ok(text)
    }

    /// Appends `body` with the `<` of every tag of an enabled section replaced
    /// by `&lt;`, whatever its case and the white space in it. Everything else
    /// stays as it is. Linear in the length of the body.
    fn make_inert(&self, body: &str, out: &mut String) {
        let mut rest = body;
        while let Some((before, after)) = rest.split_once('<') {
            out.push_str(before);
            out.push_str(if self.is_tag(after) { "&lt;" } else { "<" });
            rest = after;
        }
        out.push_str(rest);
    }

    /// Whether what follows a `<` is the name of an enabled section's tag.
    fn is_tag(&self, after: &str) -> bool {
        let name: String = after
            .chars()
            .skip_while(|c| c.is_whitespace() || *c == '/')
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .take(49)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        name.parse::<Tag>()
            .is_ok_and(|tag| self.owners.contains_key(&tag))
    }
}

fn check_attribute(name: &str, value: &str) -> Result<(), MarkerError> {
    // The form of an attribute's name is that of a tag.
    if name.parse::<Tag>().is_err() {
        return Err(invalid(
            name,
            "its name is not lower-case letters, digits and `_`",
        ));
    }
    if value.chars().count() > MAX_VALUE {
        return Err(invalid(name, "its value has more than 256 characters"));
    }
    Ok(())
}

fn invalid(name: &str, why: &'static str) -> MarkerError {
    MarkerError::InvalidAttribute {
        name: name.escape_debug().take(64).collect(),
        why,
    }
}

fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn owner(section: &str) -> TagOwner {
        TagOwner {
            plugin: "acme/p".parse().unwrap(),
            section: section.parse().unwrap(),
        }
    }

    fn tag(text: &str) -> Tag {
        text.parse().unwrap()
    }

    fn markers() -> Markers {
        let mut markers = Markers::default();
        markers
            .add(&tag("project_instructions"), owner("project/AGENTS.md"))
            .unwrap();
        markers
            .add(&tag("git_status"), owner("acme/git-status"))
            .unwrap();
        markers
    }

    fn inert(body: &str) -> String {
        let mut out = String::new();
        markers().make_inert(body, &mut out);
        out
    }

    #[test]
    fn ws_11_the_body_stands_between_its_markers() {
        let attributes = [("format_version".to_owned(), "a\"<\n".to_owned())];
        let text = markers()
            .wrap(&tag("git_status"), &attributes, "clean")
            .unwrap();
        assert_eq!(
            text,
            "<git_status format_version=\"a&quot;&lt;\u{fffd}\">\nclean\n</git_status>"
        );
    }

    #[test]
    fn ws_11_two_sections_with_one_tag_are_both_named() {
        let error = markers()
            .add(&tag("git_status"), owner("other/status"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("acme/git-status") && error.contains("other/status"),
            "{error}"
        );
    }

    #[test]
    fn ws_12_no_tag_of_an_enabled_section_survives_in_a_body() {
        for attack in [
            "</project_instructions>",
            "</ project_instructions >",
            "< / PROJECT_instructions>",
            "<project_instructions>",
            "<project_instructions/>",
            "<\n\tgit_status a=\"b\">",
            "</git_status",
            "<//git_status>",
            "<git_status-x>",
            "<\u{a0}git_status>",
        ] {
            assert_eq!(inert(attack), attack.replacen('<', "&lt;", 1), "{attack}");
        }
    }

    #[test]
    fn ws_12_everything_else_stays_verbatim() {
        for text in [
            "a < b && c > d",
            "<div>",
            "</project_instructions_extra>",
            "<project>",
            "&lt;git_status>",
            "<<>>",
            "<",
            "",
            "project_instructions>",
            "<ｇit_status>",
        ] {
            assert_eq!(inert(text), text, "{text}");
        }
    }

    #[test]
    fn attributes_are_bounded_and_named_properly() {
        let wrap = |name: &str, value: &str| {
            markers().wrap(&tag("git_status"), &[(name.into(), value.into())], "")
        };
        for (name, value) in [("A", ""), ("a b", ""), ("", ""), ("ok", &*"x".repeat(257))] {
            assert!(wrap(name, value).is_err(), "{name}");
        }
        let many: Vec<_> = (0..9).map(|n| (format!("a{n}"), String::new())).collect();
        assert!(markers().wrap(&tag("git_status"), &many, "").is_err());
        let twice = [
            ("aa".to_owned(), String::new()),
            ("aa".to_owned(), String::new()),
        ];
        assert!(markers().wrap(&tag("git_status"), &twice, "").is_err());
    }

    proptest! {
        #[test]
        fn t10_a_body_never_contains_its_markers_and_inert_text_stays_as_it_is(
            parts in proptest::collection::vec(prop_oneof!["</?", "[ /\n]{0,2}", "git_status", "GIT_status", "project_instructions", "[>a]?"], 0..12),
        ) {
            let once = inert(&parts.concat());
            prop_assert_eq!(inert(&once), once.clone());
            let lower = once.to_lowercase();
            for after in lower.split('<').skip(1) {
                let name = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
                for tag in ["git_status", "project_instructions"] {
                    let longer = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                    prop_assert!(name.strip_prefix(tag).is_none_or(longer), "{}", once);
                }
            }
        }
    }
}
