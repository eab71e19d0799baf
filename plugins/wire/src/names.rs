//! Names of tools in a protocol's alphabet and length, and back again.

use crate::ids::digest;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Two ways between the names of a request and those of its protocol, which are
/// made of ASCII letters, digits, `_` and `-`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    to_wire: BTreeMap<String, String>,
}

impl Names {
    /// Names of at most `max` bytes for `names`. A legal name stays as it is.
    #[must_use]
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, max: usize) -> Self {
        let names: BTreeSet<_> = names.into_iter().collect();
        let (legal, other): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| is_legal(name, max));
        let mut taken: BTreeSet<String> = legal.into_iter().map(str::to_owned).collect();
        let mut to_wire = BTreeMap::new();
        for name in other {
            let mut salt = 0;
            let mut wire = legalised(name, salt, max);
            while !taken.insert(wire.clone()) {
                salt += 1;
                wire = legalised(name, salt, max);
            }
            to_wire.insert(name.to_owned(), wire);
        }
        Self { to_wire }
    }

    /// The protocol's name for `name`.
    #[must_use]
    pub fn to_wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.to_wire.get(name).map_or(name, String::as_str)
    }

    /// The names that were changed, with what they became.
    pub fn changed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.to_wire.iter().map(|(a, b)| (a.as_str(), b.as_str()))
    }

    /// For the decoder: an object from the protocol's names to ours.
    #[must_use]
    pub fn carry(&self) -> Value {
        let entry = |(ours, wire): (&str, &str)| (wire.to_owned(), Value::from(ours));
        Value::Object(self.changed().map(entry).collect::<Map<_, _>>())
    }
}

/// Our name for the protocol's, by what [`Names::carry`] gave.
#[must_use]
pub fn from_wire<'a>(carry: &'a Value, wire: &'a str) -> &'a str {
    carry.get(wire).and_then(Value::as_str).unwrap_or(wire)
}

fn is_legal(name: &str, max: usize) -> bool {
    (1..=max).contains(&name.len()) && name.chars().all(is_legal_char)
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Still to be recognised by people and models, and different from others by
/// its digest.
fn legalised(name: &str, salt: u32, max: usize) -> String {
    let digest = digest(name, salt, 6);
    let kept = max.saturating_sub(digest.len() + 1);
    let legal = |c| if is_legal_char(c) { c } else { '_' };
    let text: String = name.chars().map(legal).take(kept).collect();
    format!("{text}_{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pv_3_a_legal_name_stays_and_any_other_comes_back() {
        let names = Names::new(["read", "fs.read", "fs:read", "fs_read"], 64);
        assert_eq!(names.to_wire("read"), "read");
        assert_eq!(names.to_wire("fs_read"), "fs_read");
        assert_eq!(names.changed().count(), 2);
        let carry = names.carry();
        assert_eq!(from_wire(&carry, names.to_wire("fs.read")), "fs.read");
        assert_eq!(from_wire(&carry, "read"), "read");
        assert_eq!(from_wire(&Value::Null, "x"), "x");
    }

    proptest! {
        #[test]
        fn pv_3_names_are_legal_unique_and_reversible(
            given in prop::collection::btree_set("[a._]{0,3}|.{0,80}", 0..20),
        ) {
            let names = Names::new(given.iter().map(String::as_str), 64);
            let carry = names.carry();
            let mut seen = BTreeSet::new();
            for name in &given {
                let wire = names.to_wire(name);
                prop_assert!(is_legal(wire, 64));
                prop_assert!(seen.insert(wire));
                prop_assert_eq!(from_wire(&carry, wire), name.as_str());
            }
        }
    }
}
