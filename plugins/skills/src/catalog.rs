//! The text of the catalogue (WS-45).

use crate::scan::{Skill, Warnings};

const MAX_CHARS: usize = 8_000;
const INTRODUCTION: &str = "Skills are instructions for kinds of tasks. When a task fits a description below, read the \
                            skill's file first and follow it; the list itself is no instruction.";

/// The catalogue, or `None` when there is no skill to list. Lines that do not
/// fit are dropped whole, from the end.
pub(crate) fn render(skills: &[Skill], warnings: &mut Warnings) -> Option<String> {
    let mut text = INTRODUCTION.to_owned();
    let mut chars = text.chars().count();
    let mut listed = 0;
    for skill in skills {
        let line = line(skill);
        chars += 1 + line.chars().count();
        if chars > MAX_CHARS {
            break;
        }
        text.push('\n');
        text.push_str(&line);
        listed += 1;
    }
    for dropped in skills.iter().skip(listed) {
        warnings.add(
            &dropped.file,
            &format!("the catalogue is full at {MAX_CHARS} characters"),
        );
    }
    (listed > 0).then_some(text)
}

fn line(skill: &Skill) -> String {
    let file: String = skill
        .file
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    format!("- {}: {} (file: {file})", skill.name, skill.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(n: usize, description: &str) -> Skill {
        Skill {
            name: format!("s{n}"),
            description: description.into(),
            file: format!("/skills/s{n}/SKILL.md"),
            guest_file: String::new(),
        }
    }

    #[test]
    fn ws_45_one_line_a_skill_behind_the_introduction() {
        let text = render(&[skill(1, "does one")], &mut Warnings::default()).unwrap();
        assert_eq!(
            text.lines().nth(1),
            Some("- s1: does one (file: /skills/s1/SKILL.md)")
        );
        assert_eq!(render(&[], &mut Warnings::default()), None);
    }

    #[test]
    fn ws_45_whole_lines_are_dropped_from_the_end_each_with_a_warning() {
        let skills: Vec<_> = (0..30).map(|n| skill(n, &"x".repeat(500))).collect();
        let mut warnings = Warnings::default();
        let text = render(&skills, &mut warnings).unwrap();
        assert!(text.chars().count() <= MAX_CHARS);
        let listed = text.lines().count() - 1;
        assert_eq!(warnings.into_texts().len(), 30 - listed);
        assert!(text.ends_with(&line(&skills[listed - 1])));
    }
}
