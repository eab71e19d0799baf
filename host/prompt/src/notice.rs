//! What is said when a section changes or is gone, by language (WS-10).

use sectile_model::Tag;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Characters of a notice.
const MAX_CHARACTERS: usize = 200;

/// Language of fixed texts: a BCP 47 tag such as `en` or `zh-CN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Locale(String);

/// A text that is not a locale.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a locale; expected a language tag such as `en` or `zh-CN`")]
pub struct LocaleError {
    /// The text, control characters escaped, shortened.
    pub text: String,
}

impl LocaleError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_locale"
    }
}

impl Locale {
    /// The tag as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    fn speaks(&self, language: &str) -> bool {
        self.language().eq_ignore_ascii_case(language)
    }

    fn language(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }
}

impl Default for Locale {
    fn default() -> Self {
        Self("en".to_owned())
    }
}

impl FromStr for Locale {
    type Err = LocaleError;

    fn from_str(text: &str) -> Result<Self, LocaleError> {
        let subtag = |part: &str| {
            (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        let language = text.split('-').next().unwrap_or_default();
        let is_language = language.len() >= 2 && language.chars().all(|c| c.is_ascii_alphabetic());
        if is_language && text.len() <= 35 && text.split('-').all(subtag) {
            return Ok(Self(text.to_owned()));
        }
        Err(LocaleError {
            text: text.escape_debug().take(64).collect(),
        })
    }
}

impl TryFrom<String> for Locale {
    type Error = LocaleError;

    fn try_from(text: String) -> Result<Self, LocaleError> {
        text.parse()
    }
}

impl From<Locale> for String {
    fn from(locale: Locale) -> Self {
        locale.0
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The two notices of a section in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeTexts {
    /// Stands before a body that replaces an earlier one.
    pub replaced: String,
    /// Stands alone when the section is gone.
    pub expired: String,
}

/// A notice that could be taken for something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the `{locale}` notice `{text}` is not valid: {why}")]
pub struct NoticeError {
    /// Its language.
    pub locale: Locale,
    /// The notice, control characters escaped, shortened.
    pub text: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

impl NoticeError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_notice"
    }
}

/// The notices of a section in every language: its own, and the host's generic
/// ones where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notices {
    own: BTreeMap<Locale, NoticeTexts>,
    english: NoticeTexts,
    chinese: NoticeTexts,
}

impl Notices {
    /// The notices of a manifest for the section with this `tag`, by which the
    /// generic ones name it.
    ///
    /// # Errors
    /// [`NoticeError`] for a notice that is not one plain line: it would not be
    /// recognised again, or could be taken for a marker.
    pub fn new(tag: &Tag, own: BTreeMap<Locale, NoticeTexts>) -> Result<Self, NoticeError> {
        for (locale, notice) in &own {
            check(locale, &notice.replaced)?;
            check(locale, &notice.expired)?;
        }
        Ok(Self {
            own,
            english: NoticeTexts {
                replaced: format!("The following {tag} replaces every {tag} given earlier."),
                expired: format!("The {tag} given earlier no longer applies."),
            },
            chinese: NoticeTexts {
                replaced: format!("以下 {tag} 取代先前提供的全部 {tag}。"),
                expired: format!("先前提供的 {tag} 不再适用。"),
            },
        })
    }

    /// The notices for `locale`: the section's own for exactly this tag, then its
    /// own in the language, then the host's in the language, and English last.
    #[must_use]
    pub fn get(&self, locale: &Locale) -> &NoticeTexts {
        let own = self.own.iter();
        own.clone()
            .find(|(tag, _)| tag.is(locale))
            .or_else(|| own.clone().find(|(tag, _)| tag.speaks(locale.language())))
            .map(|(_, notice)| notice)
            .or_else(|| locale.speaks("zh").then_some(&self.chinese))
            .or_else(|| {
                own.clone()
                    .find(|(tag, _)| tag.speaks("en"))
                    .map(|(_, notice)| notice)
            })
            .unwrap_or(&self.english)
    }

    /// Every notice that a message may begin with: a conversation can be older
    /// than the language it is held in now, and than the section's own notices.
    pub(crate) fn all(&self) -> impl Iterator<Item = &NoticeTexts> {
        self.own.values().chain([&self.english, &self.chinese])
    }
}

fn check(locale: &Locale, text: &str) -> Result<(), NoticeError> {
    let is_markup = |c: char| matches!(c, '<' | '>' | '&');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let why = if text.trim() != text || text.is_empty() {
        "it is blank, or has white space at an end"
    } else if text.chars().count() > MAX_CHARACTERS {
        "it has more than 200 characters"
    } else if text.contains(breaks) {
        "it is more than one line, or has control characters"
    } else if text.contains(is_markup) {
        "it contains `<`, `>` or `&`, and could be taken for a marker"
    } else {
        return Ok(());
    };
    Err(NoticeError {
        locale: locale.clone(),
        text: text.escape_debug().take(80).collect(),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locale(tag: &str) -> Locale {
        tag.parse().unwrap()
    }

    fn notices(own: &[(&str, &str)]) -> Notices {
        let own = own.iter().map(|(tag, text)| {
            let notice = NoticeTexts {
                replaced: format!("{text} new"),
                expired: format!("{text} gone"),
            };
            (locale(tag), notice)
        });
        Notices::new(&"git_status".parse().unwrap(), own.collect()).unwrap()
    }

    #[test]
    fn ws_10_generic_notices_fall_back_to_the_language_and_then_to_english() {
        let generic = notices(&[]);
        let english = "The git_status given earlier no longer applies.";
        let chinese = "先前提供的 git_status 不再适用。";
        for (tag, expired) in [
            ("en", english),
            ("en-GB", english),
            ("fr", english),
            ("zh-CN", chinese),
            ("zh", chinese),
            ("ZH-cn", chinese),
            ("zh-TW", chinese),
        ] {
            assert_eq!(generic.get(&locale(tag)).expired, expired, "{tag}");
        }
    }

    #[test]
    fn ws_10_a_sections_own_notices_come_first() {
        for (own, asked, expected) in [
            (&[("en", "E"), ("zh-CN", "Z")][..], "zh", "Z gone"),
            (&[("en", "E"), ("zh-CN", "Z")], "fr", "E gone"),
            (&[("en", "E")], "zh-CN", "先前提供的 git_status 不再适用。"),
            (&[("zh-TW", "T")], "zh-CN", "T gone"),
            (&[("zh-CN", "Z"), ("zh-TW", "T")], "zh-TW", "T gone"),
            (&[("fr", "F")], "fr-CA", "F gone"),
            (
                &[("fr", "F")],
                "de",
                "The git_status given earlier no longer applies.",
            ),
        ] {
            let chosen = notices(own).get(&locale(asked)).expired.clone();
            assert_eq!(chosen, expected, "{own:?} {asked}");
        }
    }

    #[test]
    fn ws_10_a_notice_is_one_plain_line() {
        let new = |text: &str| {
            let notice = NoticeTexts {
                replaced: "fine".into(),
                expired: text.into(),
            };
            Notices::new(&"ab".parse().unwrap(), [(locale("en"), notice)].into())
        };
        assert!(new(&"界".repeat(200)).is_ok());
        let too_long = "x".repeat(201);
        for bad in [
            "",
            "  ",
            " x",
            "x ",
            "x\n",
            "a\nb",
            "a\u{2028}b",
            "a\u{1b}b",
            "<ab>",
            "a > b",
            "&#1;",
            &too_long,
        ] {
            let error = new(bad).unwrap_err();
            assert_eq!(error.code(), "invalid_notice", "{bad:?}");
            assert!(!error.to_string().contains('\u{1b}'));
        }
    }

    #[test]
    fn locales_are_language_tags() {
        for bad in [
            "",
            "e",
            "zh_CN",
            "en-",
            "-en",
            "12",
            "en us",
            "中文",
            "abcdefghi",
        ] {
            assert_eq!(
                bad.parse::<Locale>().unwrap_err().code(),
                "invalid_locale",
                "{bad}"
            );
        }
        assert_eq!(locale("zh-Hans-CN").to_string(), "zh-Hans-CN");
    }
}
