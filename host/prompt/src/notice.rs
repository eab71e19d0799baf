//! What is said when a section changes or is gone (WS-10).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Language of fixed texts, a BCP 47 tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Locale(String);

impl Locale {
    /// The locale with this tag.
    pub fn new(tag: impl Into<String>) -> Self {
        Self(tag.into())
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn language(&self) -> &str {
        self.0.split('-').next().unwrap_or(&self.0)
    }
}

impl Default for Locale {
    fn default() -> Self {
        Self::new("en")
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The two notices of a section in one language, one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeTexts {
    /// Before a body that replaces an earlier one.
    pub replaced: String,
    /// When the section is gone.
    pub expired: String,
}

/// The notices of a section in all its languages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notices(BTreeMap<String, NoticeTexts>);

impl Notices {
    /// The notices of a manifest, completed by the host's generic ones for the
    /// languages it leaves out. `tag` names the section in those.
    #[must_use]
    pub fn new(of_manifest: BTreeMap<String, NoticeTexts>, tag: &str) -> Self {
        let mut all = of_manifest;
        for (locale, texts) in generic(tag) {
            all.entry(locale.to_owned()).or_insert(texts);
        }
        Self(all)
    }

    /// The notices for `locale`, for its language, or in English.
    #[must_use]
    pub fn for_locale(&self, locale: &Locale) -> Option<&NoticeTexts> {
        let same_language = || {
            let mut others = self.0.iter();
            others.find(|(tag, _)| Locale::new(tag.as_str()).language() == locale.language())
        };
        self.0
            .get(locale.as_str())
            .or_else(|| same_language().map(|(_, texts)| texts))
            .or_else(|| self.0.get("en"))
    }

    /// The notices in every language: a conversation may have been held in
    /// another one before.
    pub fn all(&self) -> impl Iterator<Item = &NoticeTexts> {
        self.0.values()
    }
}

fn generic(tag: &str) -> [(&'static str, NoticeTexts); 2] {
    [
        (
            "en",
            NoticeTexts {
                replaced: format!("The following {tag} replaces every {tag} given earlier."),
                expired: format!("The {tag} given earlier no longer applies."),
            },
        ),
        (
            "zh-CN",
            NoticeTexts {
                replaced: format!("以下 {tag} 取代先前提供的全部 {tag}。"),
                expired: format!("先前提供的 {tag} 不再适用。"),
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ws_10_locales_fall_back_to_their_language_and_then_to_english() {
        let notices = Notices::new(BTreeMap::new(), "git_status");
        let expired = |locale: &str| {
            notices
                .for_locale(&Locale::new(locale))
                .unwrap()
                .expired
                .clone()
        };
        assert!(expired("zh-CN").contains("不再适用"));
        assert_eq!(expired("zh"), expired("zh-CN"));
        assert_eq!(expired("zh-TW"), expired("zh-CN"));
        assert!(expired("fr").contains("no longer applies"));
        assert_eq!(expired("en-GB"), expired("en"));
    }

    #[test]
    fn ws_10_a_sections_own_notices_win() {
        let own = NoticeTexts {
            replaced: "r".into(),
            expired: "e".into(),
        };
        let notices = Notices::new([("en".to_owned(), own.clone())].into(), "git_status");
        assert_eq!(notices.for_locale(&Locale::default()), Some(&own));
        assert!(
            notices
                .for_locale(&Locale::new("zh-CN"))
                .unwrap()
                .replaced
                .contains("取代")
        );
    }
}
