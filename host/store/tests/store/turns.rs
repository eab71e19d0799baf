//! Turns, messages, plans and checkpoints, one step after another.

use crate::common::{append, checkpoint, open, run, sequences, turn};
use sectile_store::{
    Append, CheckpointKind, NewTurn, SessionStore, SqliteStore, StartedTurn, TurnStatus,
};
use serde_json::json;

#[test]
fn sr_20_a_request_has_one_turn_and_turns_are_never_queued() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let StartedTurn::Started(items) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(sequences(&items), [1]);
    let StartedTurn::Existing(known) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(
        (known.id.as_str(), known.status),
        ("a", TurnStatus::Running)
    );
    assert_eq!(
        writer.start_turn(&turn("b")).unwrap(),
        StartedTurn::Busy("a".parse().unwrap())
    );
    writer
        .finish_turn(
            &"a".parse().unwrap(),
            TurnStatus::Completed,
            &json!({"t": 1}),
        )
        .unwrap();
    assert!(matches!(
        writer.start_turn(&turn("b")).unwrap(),
        StartedTurn::Started(_)
    ));
    let StartedTurn::Existing(known) = writer.start_turn(&turn("a")).unwrap() else {
        panic!()
    };
    assert_eq!(
        (known.status, known.outcome),
        (TurnStatus::Completed, Some(json!({"t": 1})))
    );
    assert_eq!(store.load(&id).unwrap().last_sequence, 2);
}

#[test]
fn sr_20_a_turn_is_found_by_its_id_and_by_its_request() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    let known = store.turn(&id, &"a".parse().unwrap()).unwrap();
    assert_eq!(
        store.turn_of_request(&id, "r-a").unwrap(),
        Some(known.clone())
    );
    assert_eq!(store.turn_of_request(&id, "r-b").unwrap(), None);
    assert_eq!(
        store
            .turn(&id, &"b".parse().unwrap())
            .err()
            .map(|e| e.code()),
        Some("unknown_turn")
    );
    let taken = NewTurn {
        client_request_id: "another".to_owned(),
        ..turn("a")
    };
    assert_eq!(
        writer.start_turn(&taken).err().map(|e| e.code()),
        Some("turn_exists")
    );
}

#[test]
fn cp_5_a_checkpoint_is_made_in_the_running_turn_or_in_none() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    run(&*writer, "a");
    writer.start_turn(&turn("b")).unwrap();
    let install = |turn: Option<&str>| {
        let turn = turn.map(|turn| turn.parse().unwrap());
        let installed = writer.install(
            turn.as_ref(),
            &checkpoint(CheckpointKind::Summary, 2, &[(3, 3)]),
        );
        installed.err().map_or("installed", |e| e.code())
    };
    assert_eq!(install(None), "session_active");
    assert_eq!(install(Some("a")), "turn_ended");
    assert_eq!(install(Some("c")), "unknown_turn");
    assert_eq!(install(Some("b")), "installed");
    let too_far = checkpoint(CheckpointKind::Summary, 9, &[]);
    let refused = writer.install(Some(&"b".parse().unwrap()), &too_far);
    assert_eq!(refused.err().map(|e| e.code()), Some("invalid_checkpoint"));
    assert_eq!(store.checkpoints(&id).unwrap().len(), 1);
}

#[test]
fn ws_2_a_message_is_stored_once_however_often_it_is_written() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    let turn = "a".parse().unwrap();
    let first = writer.append(&turn, &append(&["x", "y"])).unwrap();
    let again = writer.append(&turn, &append(&["x", "z", "y"])).unwrap();
    assert_eq!(
        (sequences(&first), sequences(&again)),
        (vec![2, 3], vec![2, 4, 3])
    );
    assert_eq!(
        sequences(&store.load(&id).unwrap().conversation.items),
        [1, 2, 3, 4]
    );
}

#[test]
fn sr_11_one_writer_at_a_time_and_readers_never_wait() {
    let (dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let other = SqliteStore::open(dir.path()).unwrap();
    for store in [&store, &other] {
        assert_eq!(
            store.lease(&id).err().map(|e| e.code()),
            Some("session_busy")
        );
    }
    writer.start_turn(&turn("a")).unwrap();
    assert_eq!(other.load(&id).unwrap().last_sequence, 1);
    drop(writer);
    assert!(other.lease(&id).is_ok());
}

#[test]
fn sr_28_only_turns_of_the_dead_are_interrupted() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    assert_eq!(store.interrupt_abandoned().unwrap(), []);
    drop(writer);
    assert_eq!(store.interrupt_abandoned().unwrap().len(), 1);
    let turns = store.turns(&id, 0, 10).unwrap();
    assert_eq!(turns[0].status, TurnStatus::Interrupted);
    let writer = store.lease(&id).unwrap();
    let refused = writer.append(&"a".parse().unwrap(), &append(&["x"]));
    assert_eq!(refused.err().map(|e| e.code()), Some("turn_ended"));
}

#[test]
fn sr_50_the_plan_belongs_to_its_turn() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    writer.start_turn(&turn("a")).unwrap();
    let plan = Append {
        plan: Some(json!({"plan": []})),
        ..append(&["x"])
    };
    writer.append(&"a".parse().unwrap(), &plan).unwrap();
    assert_eq!(writer.load().unwrap().plan, plan.plan);
    writer
        .finish_turn(&"a".parse().unwrap(), TurnStatus::Completed, &json!({}))
        .unwrap();
    writer.start_turn(&turn("b")).unwrap();
    assert_eq!(writer.load().unwrap().plan, None);
}

#[test]
fn cp_1_a_checkpoint_hides_and_a_rewind_shows_again_and_nothing_is_deleted() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    let seen = || sequences(&writer.load().unwrap().conversation.items);
    for turn in ["a", "b", "c"] {
        run(&*writer, turn);
    }
    let first = writer
        .install(None, &checkpoint(CheckpointKind::Summary, 4, &[(5, 6)]))
        .unwrap();
    assert_eq!((first.number, first.made_after, seen()), (1, 6, vec![5, 6]));
    run(&*writer, "d");
    assert_eq!(seen(), [5, 6, 7, 8]);
    writer
        .install(None, &checkpoint(CheckpointKind::Clear, 8, &[]))
        .unwrap();
    assert!(seen().is_empty());
    run(&*writer, "e");
    writer
        .install(None, &checkpoint(CheckpointKind::Rewind, 4, &[(5, 6)]))
        .unwrap();
    run(&*writer, "f");
    assert_eq!(seen(), [5, 6, 11, 12]);
    assert_eq!(store.messages(&id, 0, 99, 99).unwrap().len(), 12);
    let at = |checkpoint, through| {
        sequences(
            &store
                .conversation_at(&id, checkpoint, through)
                .unwrap()
                .items,
        )
    };
    assert_eq!(
        (at(None, 3), at(Some(1), 5), at(Some(1), 8)),
        (vec![1, 2, 3], vec![5], vec![5, 6, 7, 8])
    );
    assert!(store.conversation_at(&id, Some(9), 1).is_err());
}

#[test]
fn cp_6_the_watermark_only_grows() {
    let (_dir, store, id) = open();
    let writer = store.lease(&id).unwrap();
    for (to, stands) in [(5, 5), (3, 5), (9, 9)] {
        writer.advance_watermark(to).unwrap();
        assert_eq!(
            store
                .load(&id)
                .unwrap()
                .conversation
                .pruned_through_sequence,
            Some(stands)
        );
    }
}
