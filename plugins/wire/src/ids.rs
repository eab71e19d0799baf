//! Ids of tool calls in a protocol's alphabet and length, unique in a request.

use std::collections::{BTreeMap, BTreeSet};

/// What ids of a protocol look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRule {
    /// The shortest one.
    pub min: usize,
    /// The longest one; at least 8.
    pub max: usize,
    /// Whether `_` and `-` are allowed beside ASCII letters and digits.
    pub punctuation: bool,
}

impl IdRule {
    fn allows(self, id: &str) -> bool {
        (self.min..=self.max).contains(&id.len()) && id.chars().all(|c| self.allows_char(c))
    }

    fn allows_char(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || (self.punctuation && matches!(c, '_' | '-'))
    }
}

/// Gives every call of a request an id of its own. An id that is legal and not
/// yet taken stays as it is; any other becomes a digest of it, which depends on
/// nothing but the request. What one message calls `a` and a later one too are
/// two calls, and a result belongs to the later.
#[derive(Debug)]
pub struct Ids {
    rule: IdRule,
    taken: BTreeSet<String>,
    latest: BTreeMap<String, String>,
}

impl Ids {
    /// Ids by `rule`.
    #[must_use]
    pub fn new(rule: IdRule) -> Self {
        Self {
            rule,
            taken: BTreeSet::new(),
            latest: BTreeMap::new(),
        }
    }

    /// The id for a new call that the conversation calls `id`.
    pub fn assign(&mut self, id: &str) -> String {
        let mut wire = id.to_owned();
        let mut salt = 0;
        while !self.rule.allows(&wire) || self.taken.contains(&wire) {
            wire = digest(id, salt, self.rule.max);
            salt += 1;
        }
        self.taken.insert(wire.clone());
        self.latest.insert(id.to_owned(), wire.clone());
        wire
    }
}

/// At most 13 digits and small letters that stand for `text`.
#[must_use]
pub fn digest(text: &str, salt: u32, length: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // FNV-1a, then a finaliser so that short texts differ in every digit.
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ u64::from(salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    let mut out = String::new();
    for _ in 0..length.min(13) {
        let digit = usize::try_from(hash % 36).unwrap_or_default();
        out.push(DIGITS.get(digit).copied().map_or('0', char::from));
        hash /= 36;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NINE: IdRule = IdRule {
        min: 9,
        max: 9,
        punctuation: false,
    };
    const ANY: IdRule = IdRule {
        min: 1,
        max: 40,
        punctuation: true,
    };

    #[test]
    fn pv_3_a_legal_id_stays_and_a_second_one_differs() {
        let mut ids = Ids::new(ANY);
        assert_eq!(ids.assign("call_1"), "call_1");
        let second = ids.assign("call_1");
        assert_ne!(second, "call_1");
        assert!(ANY.allows(&second));
    }

    #[test]
    fn pv_3_nine_characters_are_nine_characters() {
        let mut ids = Ids::new(NINE);
        assert_eq!(ids.assign("abcDEF123"), "abcDEF123");
        for foreign in ["call_9LKqDUcF", "", "ä", "toolu_01.x:y|z"] {
            let id = ids.assign(foreign);
            assert!(NINE.allows(&id), "{id}");
        }
    }

    proptest! {
        #[test]
        fn pv_3_ids_are_legal_unique_and_the_same_every_time(
            given in prop::collection::vec("[a-c.|_]{0,4}|.{0,60}", 0..30), nine: bool,
        ) {
            let rule = if nine { NINE } else { ANY };
            let assign = || {
                let mut ids = Ids::new(rule);
                given.iter().map(|id| ids.assign(id)).collect::<Vec<_>>()
            };
            let first = assign();
            prop_assert_eq!(&first, &assign());
            prop_assert!(first.iter().all(|id| rule.allows(id)));
            let distinct: BTreeSet<_> = first.iter().collect();
            prop_assert_eq!(distinct.len(), given.len());
        }
    }
}
