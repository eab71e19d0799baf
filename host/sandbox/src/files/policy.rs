//! Which paths of a mount may be opened, judged on the true path.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// What a mount may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Directories can be listed; no file can be opened.
    List,
    /// Files can be read.
    Read,
    /// Files can be read and changed.
    ReadWrite,
}

impl Access {
    /// Its name in manifests and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::ReadWrite => "read-write",
        }
    }
}

/// A glob that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a path pattern: {why}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Names that no grant opens unless the operator lifts them (PL-14). They are
/// compared without regard to case, because some file systems do the same.
const BUILT_IN_DENY: &[&str] = &[
    ".env*",
    "*.pem",
    "id_*",
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".sectile",
    ".git/hooks",
];

/// Readable, never writable.
const BUILT_IN_READ_ONLY: &[&str] = &[".git"];

/// Patterns that refuse a path and everything below it, at any depth.
#[derive(Debug, Clone)]
pub struct DenyList {
    never: GlobSet,
    read_only: GlobSet,
    /// Below this folder files can be read all the same.
    readable: Option<Vec<String>>,
}

impl DenyList {
    /// The built-in list without the entries in `lifted`, which are spelled as
    /// in the list.
    ///
    /// # Errors
    /// [`PatternError`] when a pattern does not parse.
    pub fn built_in(lifted: &[&str]) -> Result<Self, PatternError> {
        let kept = |list: &[&'static str]| {
            let kept: Vec<_> = list
                .iter()
                .filter(|p| !lifted.contains(p))
                .copied()
                .collect();
            anywhere(&kept)
        };
        Ok(Self {
            never: kept(BUILT_IN_DENY)?,
            read_only: kept(BUILT_IN_READ_ONLY)?,
            readable: None,
        })
    }

    /// The same list, but what lies below `folder`, names joined by `/` from
    /// the root of the mount, can be read; nothing in it can be changed.
    #[must_use]
    pub fn but_readable_below(mut self, folder: &str) -> Self {
        self.readable = Some(folder.split('/').map(str::to_owned).collect());
        self
    }

    fn forbids_change(&self, path: &[String]) -> bool {
        matches_any_prefix(&self.never, path) || matches_any_prefix(&self.read_only, path)
    }

    fn forbids_reading(&self, path: &[String]) -> bool {
        let readable = self.readable.as_ref();
        matches_any_prefix(&self.never, path)
            && !readable.is_some_and(|folder| path.starts_with(folder))
    }
}

/// Allow and deny rules of one mount.
#[derive(Debug, Clone)]
pub struct PathRules {
    access: Access,
    allow: Option<GlobSet>,
    deny: DenyList,
}

/// Why a path may not be opened; shown to the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    ListOnly,
    ReadOnly,
    NotAllowed,
    DenyList,
}

impl Denied {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::ListOnly => "the grant lists directories only",
            Self::ReadOnly => "the grant is read-only",
            Self::NotAllowed => "no allow pattern of the grant matches",
            Self::DenyList => "it is on the deny list",
        }
    }
}

impl PathRules {
    /// Rules for a mount: `allow` holds globs relative to its root (`*` stays
    /// within one name, `**` crosses names); an empty list allows every file.
    ///
    /// # Errors
    /// [`PatternError`] when a glob does not parse.
    pub fn new(access: Access, allow: &[String], deny: DenyList) -> Result<Self, PatternError> {
        let allow = if allow.is_empty() {
            None
        } else {
            Some(set(allow.iter().map(|p| glob(p, false)))?)
        };
        Ok(Self {
            access,
            allow,
            deny,
        })
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Whether only some files of the mount may be opened.
    pub(crate) fn is_selective(&self) -> bool {
        self.allow.is_some()
    }

    /// May the directory at `path` be opened? Its names say nothing that the
    /// allow list keeps secret, so only the deny list counts.
    pub(crate) fn directory(&self, path: &[String]) -> Result<(), Denied> {
        if self.deny.forbids_reading(path) {
            return Err(Denied::DenyList);
        }
        Ok(())
    }

    /// May the file at `path` be opened for reading?
    pub(crate) fn read(&self, path: &[String]) -> Result<(), Denied> {
        if self.access == Access::List {
            return Err(Denied::ListOnly);
        }
        if self.deny.forbids_reading(path) {
            return Err(Denied::DenyList);
        }
        match &self.allow {
            Some(allow) if !allow.is_match(path.join("/")) => Err(Denied::NotAllowed),
            _ => Ok(()),
        }
    }

    /// May the object at `path` be created, changed, renamed or removed?
    pub(crate) fn write(&self, path: &[String]) -> Result<(), Denied> {
        if self.access != Access::ReadWrite {
            return Err(Denied::ReadOnly);
        }
        if self.deny.forbids_change(path) {
            return Err(Denied::DenyList);
        }
        self.read(path)
    }

    /// May the directory at `path` be created or removed? Files in it are
    /// judged on their own.
    pub(crate) fn write_directory(&self, path: &[String]) -> Result<(), Denied> {
        if self.access != Access::ReadWrite {
            return Err(Denied::ReadOnly);
        }
        if self.deny.forbids_change(path) {
            return Err(Denied::DenyList);
        }
        self.directory(path)
    }
}

fn matches_any_prefix(set: &GlobSet, path: &[String]) -> bool {
    if set.is_empty() {
        return false;
    }
    let mut prefix = String::new();
    path.iter().any(|name| {
        if !prefix.is_empty() {
            prefix.push('/');
        }
        prefix.push_str(name);
        set.is_match(&prefix)
    })
}

fn anywhere(patterns: &[&str]) -> Result<GlobSet, PatternError> {
    set(patterns.iter().map(|p| glob(&format!("**/{p}"), true)))
}

fn glob(pattern: &str, any_case: bool) -> Result<Glob, PatternError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(any_case)
        .build()
        .map_err(|e| PatternError {
            pattern: pattern.to_owned(),
            why: e.kind().to_string(),
        })
}

fn set(globs: impl Iterator<Item = Result<Glob, PatternError>>) -> Result<GlobSet, PatternError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob?);
    }
    set.build().map_err(|e| PatternError {
        pattern: String::new(),
        why: e.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(access: Access, allow: &[&str]) -> PathRules {
        let allow: Vec<_> = allow.iter().map(|p| (*p).to_owned()).collect();
        PathRules::new(access, &allow, DenyList::built_in(&[]).unwrap()).unwrap()
    }

    fn path(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn pl_14_the_deny_list_holds_at_every_depth_and_in_every_case() {
        let rules = rules(Access::Read, &[]);
        for denied in [
            ".env",
            ".env.local",
            ".ENV",
            "a/.env",
            "a/b/.Env.prod",
            "x.pem",
            "KEY.PEM",
            "id_rsa",
            "a/id_ed25519",
            ".ssh/config",
            "home/.ssh/known_hosts",
            ".aws/credentials",
            ".gnupg/x",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".sectile/state.db",
            "sub/.sectile/x",
            ".git/hooks/pre-commit",
            ".Git/Hooks/x",
        ] {
            assert_eq!(rules.read(&path(denied)), Err(Denied::DenyList), "{denied}");
        }
        for allowed in [
            "env",
            "a.env",
            ".git/config",
            ".git/HEAD",
            "pem",
            "ssh/x",
            ".github/workflows/x.yml",
            "hooks/x",
        ] {
            assert_eq!(rules.read(&path(allowed)), Ok(()), "{allowed}");
        }
    }

    #[test]
    fn pl_14_git_is_read_only_inside_a_read_write_grant() {
        let rules = rules(Access::ReadWrite, &[]);
        assert_eq!(rules.read(&path(".git/config")), Ok(()));
        assert_eq!(rules.write(&path(".git/config")), Err(Denied::DenyList));
        assert_eq!(rules.write(&path("sub/.GIT/config")), Err(Denied::DenyList));
        assert_eq!(rules.write_directory(&path(".git")), Err(Denied::DenyList));
        assert_eq!(rules.write(&path("src/lib.rs")), Ok(()));
    }

    #[test]
    fn pl_12b_deny_beats_allow() {
        let rules = rules(Access::Read, &["**/.env", "**/*.md"]);
        assert_eq!(rules.read(&path(".env")), Err(Denied::DenyList));
        assert_eq!(rules.read(&path("a/b.md")), Ok(()));
        assert_eq!(rules.read(&path("a/b.txt")), Err(Denied::NotAllowed));
    }

    #[test]
    fn pl_14_a_star_stays_within_one_name() {
        let rules = rules(Access::Read, &["*/SKILL.md"]);
        assert_eq!(rules.read(&path("a/SKILL.md")), Ok(()));
        assert_eq!(rules.read(&path("a/b/SKILL.md")), Err(Denied::NotAllowed));
        assert_eq!(rules.read(&path("SKILL.md")), Err(Denied::NotAllowed));
    }

    #[test]
    fn pl_14_a_list_grant_opens_no_file_and_a_read_grant_writes_none() {
        assert_eq!(
            rules(Access::List, &[]).read(&path("a")),
            Err(Denied::ListOnly)
        );
        assert_eq!(rules(Access::List, &[]).directory(&path("a")), Ok(()));
        assert_eq!(
            rules(Access::Read, &[]).write(&path("a")),
            Err(Denied::ReadOnly)
        );
    }

    #[test]
    fn pl_14_the_operator_can_lift_an_entry() {
        let deny = DenyList::built_in(&[".env*"]).unwrap();
        let rules = PathRules::new(Access::Read, &[], deny).unwrap();
        assert_eq!(rules.read(&path(".env")), Ok(()));
        assert_eq!(rules.read(&path("x.pem")), Err(Denied::DenyList));
    }

    #[test]
    fn tl_1_a_folder_below_a_denied_one_can_be_read_and_not_changed() {
        let deny = DenyList::built_in(&[]).unwrap();
        let deny = deny.but_readable_below(".sectile/spill");
        let rules = PathRules::new(Access::ReadWrite, &[], deny).unwrap();
        let kept = path(".sectile/spill/s-1/result.txt");
        assert_eq!(rules.read(&kept), Ok(()));
        assert_eq!(rules.directory(&path(".sectile/spill/s-1")), Ok(()));
        assert_eq!(rules.write(&kept), Err(Denied::DenyList));
        assert_eq!(rules.write_directory(&kept), Err(Denied::DenyList));
        for denied in [
            ".sectile/sessions.db",
            ".sectile",
            "a/.sectile/spill/x",
            ".env",
        ] {
            assert_eq!(rules.read(&path(denied)), Err(Denied::DenyList), "{denied}");
        }
    }

    #[test]
    fn a_bad_glob_is_named() {
        let deny = DenyList::built_in(&[]).unwrap();
        let error = PathRules::new(Access::Read, &["a[".to_owned()], deny).unwrap_err();
        assert_eq!(error.pattern, "a[");
    }
}
