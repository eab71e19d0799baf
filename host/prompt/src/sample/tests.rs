//! What is sent, over the whole table of WS-6 and the rules around it.

use super::*;
use crate::notice::Locale;
use crate::section::TokenCap;
use crate::testing::{body_of, enabled, id, item, notice_of, rendered, spec, user};

const AGENTS: &str = "project/AGENTS.md";
const GIT: &str = "acme/git";

fn sample_id() -> SampleId {
    SampleId {
        turn: "t-1".into(),
        model_call: 3,
        sample: 2,
    }
}

fn present(text: &str) -> Outcome {
    Outcome::Present(Body {
        text: text.into(),
        attributes: vec![],
    })
}

fn failed() -> Outcome {
    Outcome::Failed("it ran out of time".into())
}

fn outcomes(agents: Outcome, git: Outcome) -> BTreeMap<SectionId, Outcome> {
    [(id(AGENTS), agents), (id(GIT), git)].into()
}

fn baseline(known: &[(&str, Option<&str>)]) -> Baseline {
    let known = known.iter();
    Baseline(
        known
            .map(|(section, body)| (id(section), body.map(Into::into)))
            .collect(),
    )
}

fn texts(sample: &Sample) -> Vec<String> {
    sample.emissions.iter().map(|e| e.text.clone()).collect()
}

/// One row for each state that the baseline and the conversation can be in.
/// `git` may fail; the last column is what is sent when it does and counts as
/// unchanged.
#[test]
fn ws_6_ws_8_the_whole_table() {
    let (one, two) = (body_of("git", "one"), body_of("git", "two"));
    let notice = notice_of("git");
    let one_after = format!("{}\n\n{one}", notice.replaced);
    let (one, two) = (one.as_str(), two.as_str());
    let (replaced, gone) = (one_after.as_str(), notice.expired.as_str());
    // Baseline, last message, sent for the body `one`, for none, for a failure.
    let table = [
        (Some(Some(one)), Some(one), "", gone, ""),
        (Some(Some(one)), None, one, "", one),
        (Some(Some(one)), Some(gone), replaced, "", replaced),
        (Some(Some(two)), Some(two), replaced, gone, ""),
        (Some(Some(two)), None, one, "", two),
        (Some(None), None, one, "", ""),
        (Some(None), Some(gone), replaced, "", ""),
        (None, Some(one), replaced, gone, ""),
        (None, Some(two), replaced, gone, ""),
        (None, None, one, "", ""),
        (None, Some(gone), replaced, "", ""),
        // A rewind brought an older message back to the end.
        (Some(Some(one)), Some(two), replaced, gone, replaced),
        (Some(None), Some(two), replaced, gone, gone),
    ];
    for (known, last, for_body, for_none, for_failure) in table {
        let known: Vec<_> = known.map(|body| (GIT, body)).into_iter().collect();
        let items: Vec<_> = last.map(rendered).into_iter().collect();
        let sent = |git: Outcome| {
            let outcomes = outcomes(Outcome::Absent, git);
            let sample = enabled().diff(&outcomes, &baseline(&known), &items, &sample_id());
            texts(&sample.unwrap()).concat()
        };
        assert_eq!(sent(present("one")), for_body, "{known:?} {last:?} body");
        assert_eq!(sent(Outcome::Absent), for_none, "{known:?} {last:?} none");
        assert_eq!(sent(failed()), for_failure, "{known:?} {last:?} failure");
    }
}

#[test]
fn ws_6_a_change_of_an_attribute_is_a_change() {
    let with = |value: &str| {
        let attributes = vec![("v".into(), value.into())];
        let body = Body {
            text: "x".into(),
            attributes,
        };
        outcomes(Outcome::Present(body), Outcome::Absent)
    };
    let first = enabled().diff(&with("1"), &Baseline::default(), &[], &sample_id());
    let first = first.unwrap();
    let items = [first.emissions[0].item()];
    let baseline = first.commit();
    let sent = |value: &str| {
        let sample = enabled().diff(&with(value), &baseline, &items, &sample_id());
        texts(&sample.unwrap())
    };
    assert!(sent("1").is_empty());
    assert_eq!(
        sent("2"),
        [
            "New AGENTS.md instructions.\n\n<project_instructions v=\"2\">\nx\n</project_instructions>"
        ]
    );
}

#[test]
fn ws_1_ws_2_each_section_has_its_own_message_in_the_fixed_order() {
    let both = outcomes(present("a"), present("g"));
    let sample = enabled().diff(&both, &Baseline::default(), &[], &sample_id());
    let sample = sample.unwrap();
    let ids = sample.emissions.iter().map(|e| e.message_id.as_str());
    assert_eq!(
        ids.collect::<Vec<_>>(),
        [
            "world-state:t-1:3:2:project/AGENTS.md",
            "world-state:t-1:3:2:acme/git"
        ]
    );
    assert_eq!(
        texts(&sample),
        [body_of("agents", "a"), body_of("git", "g")]
    );
    let written = sample.emissions[1].item();
    assert_eq!(written.kind, MessageKind::WorldState);
    assert_eq!(written.message.role, Role::User);
    assert_eq!(
        written.origin.message_id(),
        Some("world-state:t-1:3:2:acme/git")
    );
    assert_eq!(written.source.unwrap().section, id(GIT));
}

#[test]
fn ws_3_a_sample_that_was_not_written_is_made_again() {
    let both = outcomes(present("a"), present("g"));
    let known = Baseline::default();
    let dropped = enabled().diff(&both, &known, &[], &sample_id()).unwrap();
    let again = enabled().diff(&both, &known, &[], &sample_id()).unwrap();
    assert_eq!(texts(&dropped), texts(&again));
    assert_eq!(again.emissions.len(), 2);
    assert_ne!(again.commit(), known);
}

#[test]
fn ws_4_the_sample_after_a_compaction_carries_everything_again() {
    let both = outcomes(present("a"), present("g"));
    let first = enabled().diff(&both, &Baseline::default(), &[], &sample_id());
    let first = first.unwrap();
    let sent = texts(&first);
    let after = [user("replayed request"), user("summary")];
    let second = SampleId {
        sample: 3,
        ..sample_id()
    };
    let sample = enabled().diff(&both, &first.commit(), &after, &second);
    let sample = sample.unwrap();
    assert_eq!(texts(&sample), sent);
    assert_eq!(
        sample.emissions[1].message_id,
        "world-state:t-1:3:3:acme/git"
    );
}

#[test]
fn ws_5_a_failure_ends_the_sample_with_the_code_of_the_first_section() {
    let mut specs = vec![
        spec("acme/git", "acme/git", "git_status"),
        spec(
            "runtime/sandbox-policy",
            "sectile/runtime",
            "sandbox_policy",
        ),
        spec("skills/catalog", "sectile/skills", "available_skills"),
        spec(AGENTS, "sectile/project", "project_instructions"),
        spec(
            "runtime/user-project-context",
            "sectile/project",
            "user_project_context",
        ),
    ];
    for code in [
        "section_error:acme/git",
        "sandbox_policy_error",
        "skill_catalog_task_error",
        "project_instruction_error",
        "user_project_context_error",
    ] {
        let world_state = WorldState::new(&[], specs.clone(), &[], Locale::default()).unwrap();
        let ids = specs.iter().map(|spec| spec.id().clone());
        let all_failed = ids.map(|section| (section, failed())).collect();
        let error = world_state.diff(&all_failed, &Baseline::default(), &[], &sample_id());
        let error = error.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains("it ran out of time"), "{error}");
        specs.remove(0);
    }
}

#[test]
fn ws_5_a_section_that_was_not_rendered_has_failed() {
    let only_git = [(id(GIT), present("g"))].into();
    let error = enabled().diff(&only_git, &Baseline::default(), &[], &sample_id());
    let error = error.unwrap_err();
    assert_eq!(error.code(), "project_instruction_error");
    assert!(error.reason.contains("not rendered"));
}

#[test]
fn ws_5_an_omitted_section_is_named_and_stays_in_the_baseline() {
    let git = body_of("git", "g");
    let known = baseline(&[(GIT, Some(&git))]);
    let broken = outcomes(Outcome::Absent, failed());
    let sample = enabled().diff(&broken, &known, &[rendered(&git)], &sample_id());
    let sample = sample.unwrap();
    assert_eq!(sample.omitted.len(), 1);
    assert_eq!(sample.omitted[0].code(), "section_error:acme/git");
    let next = sample.commit();
    assert_eq!(next.0.get(&id(GIT)), known.0.get(&id(GIT)));
}

#[test]
fn ws_7_the_same_text_in_another_kind_of_message_does_not_count() {
    let body = body_of("agents", "a");
    let items = [
        user(&body),
        item(
            MessageKind::AgentMessage,
            Role::User,
            &notice_of("agents").expired,
        ),
    ];
    let now = outcomes(present("a"), Outcome::Absent);
    let sample = enabled().diff(&now, &Baseline::default(), &items, &sample_id());
    assert_eq!(texts(&sample.unwrap()), [body]);
}

#[test]
fn ws_11_a_bad_attribute_is_a_failure_of_its_section() {
    let body = Body {
        text: "x".into(),
        attributes: vec![("A".into(), String::new())],
    };
    let now = outcomes(Outcome::Present(body.clone()), Outcome::Absent);
    let error = enabled().diff(&now, &Baseline::default(), &[], &sample_id());
    assert_eq!(error.unwrap_err().code(), "project_instruction_error");
    let now = outcomes(Outcome::Absent, Outcome::Present(body));
    let sample = enabled().diff(&now, &Baseline::default(), &[], &sample_id());
    assert_eq!(sample.unwrap().omitted.len(), 1);
}

#[test]
fn ws_14_the_cap_is_on_the_whole_text_and_nothing_is_cut() {
    let frame = body_of("agents", "").len();
    // The quotes of the JSON string and the two escaped line breaks.
    let fits = "x".repeat(2000 * 4 - frame - 4);
    let sent = |text: &str| {
        let now = outcomes(present(text), Outcome::Absent);
        enabled().diff(&now, &Baseline::default(), &[], &sample_id())
    };
    assert_eq!(texts(&sent(&fits).unwrap()), [body_of("agents", &fits)]);
    let error = sent(&format!("{fits}x")).unwrap_err();
    assert_eq!(error.code(), "project_instruction_error");
    assert!(error.reason.contains("2001") && error.reason.contains("2000"));
}

#[test]
fn ws_14_third_parties_have_at_most_10_000_tokens_and_bundled_sections_their_own_rule() {
    assert_eq!(TokenCap::third_party(9_999).get(), 9_999);
    assert_eq!(TokenCap::third_party(u32::MAX).get(), 10_000);
    assert_eq!(TokenCap::bundled(32_800).get(), 32_800);
}

#[test]
fn a_blank_body_is_an_absent_section() {
    let blank = outcomes(present(" \n\u{3000}"), Outcome::Absent);
    let items = [rendered(&body_of("agents", "a"))];
    let sample = enabled().diff(&blank, &Baseline::default(), &items, &sample_id());
    assert_eq!(
        texts(&sample.unwrap()),
        ["No AGENTS.md instructions any more."]
    );
}
