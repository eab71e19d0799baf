//! Any steps in any order leave what a simple model says, also when the store is
//! opened again, and when the session is exported and imported.

use crate::common::{call, checkpoint, message, open};
use proptest::prelude::*;
use sectile_model::Role;
use sectile_store::{
    Append, CheckpointKind, LoadedSession, NewTurn, SessionId, SessionStore, SessionWriter,
    SqliteStore, StartedTurn, TurnId, TurnStatus,
};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Start {
        request: u8,
        inputs: u8,
    },
    Append {
        turn: u8,
        ids: Vec<u8>,
        plan: bool,
        call: bool,
    },
    Finish {
        turn: u8,
        status: TurnStatus,
    },
    Interrupt,
    Watermark(u64),
    Install {
        kind: CheckpointKind,
        through: u64,
        visible: (u64, u64),
    },
    OpenAgain,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use CheckpointKind::{Clear, Rewind, Summary};
    use TurnStatus::{Cancelled, Completed, Failed};
    let status = prop::sample::select(vec![Completed, Failed, Cancelled]);
    let kind = prop::sample::select(vec![Summary, Rewind, Clear]);
    let ids = prop::collection::vec(0..30_u8, 0..4);
    let append = (0..6_u8, ids, any::<bool>(), any::<bool>());
    let step = prop_oneof![
        3 => (0..6_u8, 0..3_u8).prop_map(|(request, inputs)| Step::Start { request, inputs }),
        6 => append.prop_map(|(turn, ids, plan, call)| Step::Append { turn, ids, plan, call }),
        2 => (0..6_u8, status).prop_map(|(turn, status)| Step::Finish { turn, status }),
        1 => Just(Step::Interrupt),
        1 => (0..20_u64).prop_map(Step::Watermark),
        2 => (kind, 0..20_u64, (0..20_u64, 0..20_u64))
            .prop_map(|(kind, through, visible)| Step::Install { kind, through, visible }),
        1 => Just(Step::OpenAgain),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the store must say, in plain lists.
#[derive(Debug, Default)]
struct Model {
    /// Request, status, plan.
    turns: Vec<(u8, TurnStatus, Option<Value>)>,
    /// Ids of the messages; the place is the sequence, less one.
    messages: Vec<String>,
    calls: Vec<u64>,
    watermark: Option<u64>,
    found_tools: Vec<String>,
    /// What each covers.
    checkpoints: Vec<u64>,
    /// The sequences that are seen.
    seen: Vec<u64>,
}

impl Model {
    fn running(&self) -> Option<u8> {
        let running = self
            .turns
            .iter()
            .find(|(_, status, _)| *status == TurnStatus::Running);
        running.map(|(request, ..)| *request)
    }

    fn turn(&mut self, request: u8) -> Option<&mut (u8, TurnStatus, Option<Value>)> {
        self.turns.iter_mut().find(|turn| turn.0 == request)
    }

    fn last(&self) -> u64 {
        self.messages.len() as u64
    }

    fn store(&mut self, ids: &[String]) -> Vec<u64> {
        let mut sequences = Vec::new();
        for id in ids {
            let known = self.messages.iter().position(|known| known == id);
            sequences.push(known.map_or(self.last(), |at| at as u64) + 1);
            if known.is_none() {
                self.messages.push(id.clone());
                self.seen.push(self.last());
            }
        }
        sequences
    }
}

fn id(request: u8) -> TurnId {
    format!("t{request}").parse().unwrap()
}

fn sequences(items: &[sectile_model::Item]) -> Vec<u64> {
    items
        .iter()
        .map(|item| item.origin.sequence().unwrap())
        .collect()
}

/// Takes a step in both, and compares what came of it.
fn take(writer: &dyn SessionWriter, model: &mut Model, step: &Step) {
    match step {
        Step::Start { request, inputs } => start(writer, model, *request, *inputs),
        Step::Append {
            turn,
            ids,
            plan,
            call: has_call,
        } => {
            let ids: Vec<_> = ids.iter().map(|n| format!("m{n}")).collect();
            let append = Append {
                messages: ids.iter().map(|id| message(id, Role::Assistant)).collect(),
                plan: plan.then(|| json!({ "ids": ids })),
                found_tools: plan.then(|| ids.clone()),
                call: has_call.then(|| call(model.last())),
            };
            add(writer, model, *turn, &ids, &append);
        }
        Step::Finish { turn, status } => {
            let outcome = json!({ "turn": turn });
            let finished = writer.finish_turn(&id(*turn), *status, &outcome);
            let known = model.turn(*turn);
            assert_eq!(finished.is_ok(), known.is_some());
            if let Some(turn) = known.filter(|turn| turn.1 == TurnStatus::Running) {
                turn.1 = *status;
            }
        }
        Step::Interrupt => {
            let running = model.running();
            let interrupted = writer.interrupt_running().unwrap();
            assert_eq!(interrupted, Vec::from_iter(running.map(id)));
            if let Some(turn) = running.and_then(|running| model.turn(running)) {
                turn.1 = TurnStatus::Interrupted;
            }
        }
        Step::Watermark(to) => {
            writer.advance_watermark(*to).unwrap();
            model.watermark = model.watermark.max(Some(*to));
        }
        Step::Install {
            kind,
            through,
            visible,
        } => install(writer, model, *kind, *through, *visible),
        Step::OpenAgain => {}
    }
}

fn start(writer: &dyn SessionWriter, model: &mut Model, request: u8, inputs: u8) {
    let ids: Vec<_> = (0..inputs).map(|n| format!("t{request}:{n}")).collect();
    let turn = NewTurn {
        id: id(request),
        client_request_id: format!("r{request}"),
        input: ids.iter().map(|id| message(id, Role::User)).collect(),
    };
    let started = writer.start_turn(&turn).unwrap();
    let running = model.running();
    match (model.turn(request), running, started) {
        (Some(known), _, StartedTurn::Existing(found)) => assert_eq!(found.status, known.1),
        (None, Some(running), StartedTurn::Busy(found)) => assert_eq!(found, id(running)),
        (None, None, StartedTurn::Started(items)) => {
            model.turns.push((request, TurnStatus::Running, None));
            assert_eq!(sequences(&items), model.store(&ids));
        }
        other => panic!("{other:?}"),
    }
}

fn add(writer: &dyn SessionWriter, model: &mut Model, turn: u8, ids: &[String], append: &Append) {
    let appended = writer.append(&id(turn), append);
    let status = model.turn(turn).map(|turn| turn.1);
    match (status, appended) {
        (Some(TurnStatus::Running), Ok(items)) => {
            let calls = append.call.iter().map(|call| call.through_sequence);
            model.calls.extend(calls);
            assert_eq!(sequences(&items), model.store(ids));
            if let Some(found) = &append.found_tools {
                model.found_tools.clone_from(found);
            }
            if let (Some(turn), Some(plan)) = (model.turn(turn), &append.plan) {
                turn.2 = Some(plan.clone());
            }
        }
        (None, Err(error)) => assert_eq!(error.code(), "unknown_turn"),
        (Some(_), Err(error)) => assert_eq!(error.code(), "turn_ended"),
        other => panic!("{other:?}"),
    }
}

fn install(
    writer: &dyn SessionWriter,
    model: &mut Model,
    kind: CheckpointKind,
    through: u64,
    (from, to): (u64, u64),
) {
    let turn = model.running().map(id);
    let visible = match kind {
        CheckpointKind::Clear => vec![],
        _ => vec![(from, to)],
    };
    let installed = writer.install(turn.as_ref(), &checkpoint(kind, through, &visible));
    let last = model.last();
    let grows = model.checkpoints.last() <= Some(&through);
    let ranges = visible.is_empty() || (from >= 1 && from <= to + 1 && to <= last);
    let holds = through <= last && ranges && (grows || kind == CheckpointKind::Rewind);
    assert_eq!(installed.is_ok(), holds, "{installed:?}");
    if let Ok(installed) = installed {
        model.checkpoints.push(through);
        assert_eq!(installed.number, model.checkpoints.len() as u64);
        let ranges = visible.into_iter();
        model.seen = ranges.flat_map(|(from, to)| from..=to).collect();
    }
}

fn compare(loaded: &LoadedSession, model: &Model) {
    assert_eq!(sequences(&loaded.conversation.items), model.seen);
    for item in &loaded.conversation.items {
        let sequence = usize::try_from(item.origin.sequence().unwrap()).unwrap();
        assert_eq!(
            item.origin.message_id(),
            Some(&*model.messages[sequence - 1])
        );
    }
    assert_eq!(loaded.conversation.pruned_through_sequence, model.watermark);
    assert_eq!(loaded.last_sequence, model.last());
    let plan = model.turns.last().and_then(|turn| turn.2.clone());
    assert_eq!(loaded.plan, plan);
    assert_eq!(loaded.found_tools, model.found_tools);
    let number = loaded
        .checkpoint
        .as_ref()
        .map(|checkpoint| checkpoint.number);
    let expected = Some(model.checkpoints.len() as u64).filter(|number| *number > 0);
    assert_eq!(number, expected);
}

/// Lists that are not part of the loaded session.
fn compare_lists(store: &SqliteStore, session: &SessionId, model: &Model, imported: bool) {
    let turns = store.turns(session, 0, u64::MAX).unwrap();
    let found: Vec<_> = turns
        .iter()
        .map(|turn| (turn.id.clone(), turn.status))
        .collect();
    let status = |status| match status {
        // What ran elsewhere runs nowhere here.
        TurnStatus::Running if imported => TurnStatus::Interrupted,
        other => other,
    };
    let expected: Vec<_> = model
        .turns
        .iter()
        .map(|turn| (id(turn.0), status(turn.1)))
        .collect();
    assert_eq!(found, expected);
    let calls = store.calls(session, 0, u64::MAX).unwrap();
    let found: Vec<_> = calls
        .iter()
        .map(|(_, call)| call.through_sequence)
        .collect();
    assert_eq!(found, model.calls);
    let messages = store.messages(session, 0, u64::MAX, u64::MAX).unwrap();
    let found: Vec<_> = messages
        .iter()
        .map(|m| m.item.origin.message_id().unwrap())
        .collect();
    assert_eq!(found, model.messages);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sr_11_any_steps_leave_what_the_model_says(steps in steps()) {
        let (dir, mut store, session) = open();
        let mut model = Model::default();
        for step in &steps {
            let writer = store.lease(&session).unwrap();
            take(&*writer, &mut model, step);
            drop(writer);
            if matches!(step, Step::OpenAgain) {
                drop(store);
                store = SqliteStore::open(dir.path()).unwrap();
            }
            let loaded = store.load(&session).unwrap();
            compare(&loaded, &model);
            assert_eq!(loaded.running, model.running().map(id));
        }
        compare_lists(&store, &session, &model, false);
        let mut lines = Vec::new();
        store.export(&session, &mut |line| { lines.push(Ok(line)); Ok(()) }).unwrap();
        let copy: SessionId = "copy".parse().unwrap();
        store.import(&copy, &mut lines.into_iter()).unwrap();
        compare(&store.load(&copy).unwrap(), &model);
        compare_lists(&store, &copy, &model, true);
        assert_eq!(store.check().unwrap(), None);
    }
}
