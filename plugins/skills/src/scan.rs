//! Looks for skills in the granted roots (WS-40 to WS-44).

use crate::config::Config;
use crate::front_matter;
use sectile_sdk::files::{self, Kind, Links, ReadError};
use sectile_sdk::host::Mount;
use std::collections::BTreeSet;

const MAX_SKILLS: usize = 100;
/// Directories of one root that are looked at: far above the skills that are
/// loaded, and a bound on the work that a strange root can cause.
const MAX_CANDIDATES: usize = 1_000;
const MAX_FILE: usize = 64 << 10;
const MAX_WARNINGS: usize = 100;

/// A directory with skills in it.
pub(crate) struct Root {
    /// Where it lies on the host, to be named.
    pub host_path: String,
    /// Where it can be opened, or why not.
    pub open_at: Result<String, String>,
}

impl From<Mount> for Root {
    fn from(mount: Mount) -> Self {
        let problem = mount
            .problem
            .unwrap_or_else(|| "it cannot be opened".to_owned());
        Self {
            host_path: mount.host_path,
            open_at: mount.guest_path.ok_or(problem),
        }
    }
}

/// A skill that can be listed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub name: String,
    pub description: String,
    /// Path of its SKILL.md on the host.
    pub file: String,
    /// Where it can be opened.
    pub guest_file: String,
}

impl Skill {
    /// What stands below the head, with the ends free of white space.
    pub(crate) fn body(&self) -> Result<String, String> {
        let text = read(&self.guest_file)?;
        Ok(front_matter::body(&text)?.trim().to_owned())
    }
}

/// What the operator should know, each with path and reason (WS-43). Bounded;
/// what is beyond is counted.
#[derive(Default)]
pub(crate) struct Warnings {
    texts: Vec<String>,
    more: usize,
}

impl Warnings {
    pub(crate) fn add(&mut self, path: &str, why: &str) {
        if self.texts.len() < MAX_WARNINGS {
            self.texts.push(format!("{path}: {why}"));
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn into_texts(mut self) -> Vec<String> {
        if self.more > 0 {
            self.texts.push(format!("{} more warnings", self.more));
        }
        self.texts
    }
}

/// The skills of all roots, root by root and in name order.
pub(crate) fn scan(roots: &[Root], config: &Config, warnings: &mut Warnings) -> Vec<Skill> {
    let mut skills = Vec::new();
    let mut names = BTreeSet::new();
    for root in roots {
        match &root.open_at {
            Err(problem) => warnings.add(&root.host_path, problem),
            Ok(guest_path) => {
                scan_root(root, guest_path, config, &mut names, &mut skills, warnings)
            }
        }
    }
    skills
}

fn scan_root(
    root: &Root,
    guest_path: &str,
    config: &Config,
    names: &mut BTreeSet<String>,
    skills: &mut Vec<Skill>,
    warnings: &mut Warnings,
) {
    let directories = match candidates(guest_path) {
        Ok((directories, 0)) => directories,
        Ok((directories, more)) => {
            let why = format!("{more} directories beyond the first {MAX_CANDIDATES} are left out");
            warnings.add(&root.host_path, &why);
            directories
        }
        Err(error) => return warnings.add(&root.host_path, &error.to_string()),
    };
    for directory in directories {
        let file = format!("{}/{directory}/SKILL.md", root.host_path);
        if names.len() >= MAX_SKILLS {
            warnings.add(&file, &format!("only {MAX_SKILLS} skills are loaded"));
            continue;
        }
        let guest_file = format!("{guest_path}/{directory}/SKILL.md");
        match load(&guest_file, &directory, config.strict) {
            Err(why) => warnings.add(&file, &why),
            Ok(_) if names.contains(&directory) => {
                warnings.add(&file, "an earlier root has a skill of this name")
            }
            Ok((description, odd)) => {
                for why in odd {
                    warnings.add(&file, &why);
                }
                names.insert(directory.clone());
                if !config.disabled.contains(&directory) {
                    skills.push(Skill {
                        name: directory,
                        description,
                        file,
                        guest_file,
                    });
                }
            }
        }
    }
}

/// The first directories in byte order that may hold a skill, and how many
/// there are besides.
fn candidates(guest_path: &str) -> Result<(BTreeSet<String>, usize), ReadError> {
    let mut directories = BTreeSet::new();
    let mut more = 0;
    files::list(guest_path, |name, kind| {
        if kind == Kind::Directory && !name.starts_with('.') {
            directories.insert(name);
        }
        if directories.len() > MAX_CANDIDATES {
            directories.pop_last();
            more += 1;
        }
    })?;
    Ok((directories, more))
}

/// The description of the skill in `directory`, and what is odd about it.
fn load(path: &str, directory: &str, strict: bool) -> Result<(String, Vec<String>), String> {
    if !is_skill_name(directory) {
        return Err(
            "the directory's name is not lower-case letters, digits and `-`, at most 64".to_owned(),
        );
    }
    let text = read(path)?;
    let head = front_matter::parse(&text, strict)?;
    let mut odd = Vec::from_iter(head.warning);
    if let Some(name) = head.name.filter(|name| name != directory) {
        let why = format!("its name `{name}` is not the directory's");
        if strict {
            return Err(why);
        }
        odd.push(why);
    }
    Ok((head.description, odd))
}

fn read(path: &str) -> Result<String, String> {
    let bytes = files::read(path, Links::Refuse, MAX_FILE).map_err(|error| match error {
        ReadError::Missing => "there is no SKILL.md".to_owned(),
        ReadError::TooLarge(_) => format!("it is larger than {MAX_FILE} bytes"),
        other => other.to_string(),
    })?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn is_skill_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&name.len())
        && name.chars().all(|c| plain(c) || c == '-')
        && name.starts_with(plain)
        && name.ends_with(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn skill(root: &Path, name: &str, text: &str) {
        fs::create_dir_all(root.join(name)).unwrap();
        fs::write(root.join(name).join("SKILL.md"), text).unwrap();
    }

    fn good(root: &Path, name: &str) {
        skill(
            root,
            name,
            &format!("---\nname: {name}\ndescription: does {name}\n---\n"),
        );
    }

    fn root(path: &Path) -> Root {
        Root {
            host_path: "/home/me/.agents/skills".to_owned(),
            open_at: Ok(path.to_str().unwrap().to_owned()),
        }
    }

    fn scanned(roots: &[Root], config: &Config) -> (Vec<String>, Vec<String>) {
        let mut warnings = Warnings::default();
        let skills = scan(roots, config, &mut warnings);
        (
            skills.into_iter().map(|s| s.name).collect(),
            warnings.into_texts(),
        )
    }

    #[test]
    fn ws_41_hidden_directories_files_and_links_are_skipped_silently() {
        let dir = tempfile::tempdir().unwrap();
        good(dir.path(), "b");
        good(dir.path(), "a");
        good(dir.path(), ".hidden");
        fs::write(dir.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let (names, warnings) = scanned(&[root(dir.path())], &Config::default());
        assert_eq!((names, warnings), (vec!["a".into(), "b".into()], vec![]));
    }

    #[test]
    fn ws_41_an_invalid_skill_does_not_use_up_the_100() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..103 {
            good(dir.path(), &format!("s{n:03}"));
        }
        skill(dir.path(), "a-broken", "no head");
        let (names, warnings) = scanned(&[root(dir.path())], &Config::default());
        assert_eq!((names.len(), warnings.len()), (100, 4));
        assert!(warnings[0].contains("a-broken/SKILL.md: it does not begin"));
        assert!(warnings[3].contains("s102/SKILL.md: only 100"));
    }

    #[test]
    fn f17_a_root_with_very_many_directories_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..MAX_CANDIDATES + 7 {
            fs::create_dir(dir.path().join(format!("s{n:05}"))).unwrap();
        }
        let mut warnings = Warnings::default();
        assert!(scan(&[root(dir.path())], &Config::default(), &mut warnings).is_empty());
        let texts = warnings.into_texts();
        assert!(texts[0].ends_with("7 directories beyond the first 1000 are left out"));
        assert_eq!(texts.len(), MAX_WARNINGS + 1);
    }

    #[test]
    fn ws_42_ws_43a_another_name_leaves_a_skill_out_only_when_strict() {
        let dir = tempfile::tempdir().unwrap();
        skill(dir.path(), "a", "---\nname: B!\ndescription: x\n---\n");
        let strict = Config {
            strict: true,
            ..Config::default()
        };
        assert_eq!(scanned(&[root(dir.path())], &strict).0.len(), 0);
        let (names, warnings) = scanned(&[root(dir.path())], &Config::default());
        assert_eq!((names, warnings.len()), (vec!["a".to_owned()], 1));
    }

    #[test]
    fn ws_43_links_large_files_and_other_encodings_have_their_reasons() {
        let dir = tempfile::tempdir().unwrap();
        good(dir.path(), "target");
        for (name, text) in [
            ("large", "x".repeat(65_537).into_bytes()),
            ("latin", b"---\ndescription: \xff\n---\n".to_vec()),
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("SKILL.md"), text).unwrap();
        }
        for name in ["linked", "empty", "Upper"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("../target/SKILL.md", dir.path().join("linked/SKILL.md"))
            .unwrap();
        let (names, warnings) = scanned(&[root(dir.path())], &Config::default());
        assert_eq!(names, ["target"]);
        let all = warnings.join("\n");
        for reason in [
            "Upper/SKILL.md: the directory's name",
            "empty/SKILL.md: there is no",
            "large/SKILL.md: it is larger",
            "latin/SKILL.md: it is not UTF-8",
            "linked/SKILL.md: it is a symbolic link",
        ] {
            assert!(all.contains(reason), "{reason} in {all}");
        }
    }

    #[test]
    fn ws_44_disabled_skills_are_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        good(dir.path(), "a");
        good(dir.path(), "b");
        let config = Config {
            disabled: ["a".to_owned()].into(),
            ..Config::default()
        };
        assert_eq!(scanned(&[root(dir.path())], &config).0, ["b"]);
    }

    #[test]
    fn ws_40_roots_come_in_order_and_the_first_skill_of_a_name_wins() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        good(first.path(), "z");
        good(second.path(), "a");
        good(second.path(), "z");
        let broken = Root {
            host_path: "/locked".into(),
            open_at: Err("permission denied".into()),
        };
        let (names, warnings) = scanned(
            &[root(first.path()), broken, root(second.path())],
            &Config::default(),
        );
        assert_eq!(names, ["z", "a"]);
        assert_eq!(warnings[0], "/locked: permission denied");
        assert!(warnings[1].contains("earlier root"));
    }

    #[test]
    fn ws_42_directory_names() {
        for name in ["a", "0", "a-b", &"a".repeat(64)] {
            assert!(is_skill_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a_b", "é", &"a".repeat(65)] {
            assert!(!is_skill_name(name), "{name}");
        }
    }

    #[test]
    fn warnings_are_bounded() {
        let mut warnings = Warnings::default();
        for n in 0..1_000 {
            warnings.add(&n.to_string(), "why");
        }
        assert_eq!(warnings.into_texts().len(), MAX_WARNINGS + 1);
    }
}
