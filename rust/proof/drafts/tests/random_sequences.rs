//! Random sequences of two share groups: after every step the three forms tell the same, and what the engine would tell.

mod common;

use common::Logs;
use common::engine::Engine;
use proptest::prelude::*;
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::FetchedBatch;
use share_state_drafts::control::clean;
use share_state_drafts::state_topic::{CheckpointEpochWidth, compact};

const MEMBERS: [&str; 3] = ["alice", "bob", "carol"];
const GROUPS: [(&str, i64); 2] = [("G1", 100), ("G2", 0)];

#[derive(Clone, Debug)]
enum Step {
    Fetch {
        member: usize,
        records: u32,
    },
    Acknowledge {
        member: usize,
        run: usize,
        skip: i64,
        length: i64,
        kind: AcknowledgeType,
    },
    Leave {
        member: usize,
    },
    Pass {
        milliseconds: i64,
    },
    MoveLogStart {
        by: i64,
    },
    /// The leader is lost, and with it every acquisition.
    Fail,
    Clean,
    Compact {
        tail: i64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let member = 0..MEMBERS.len();
    let kind = prop_oneof![
        3 => Just(AcknowledgeType::Accept),
        2 => Just(AcknowledgeType::Release),
        1 => Just(AcknowledgeType::Reject),
        1 => Just(AcknowledgeType::Gap),
    ];
    prop_oneof![
        6 => (member.clone(), 1..12u32).prop_map(|(member, records)| Step::Fetch { member, records }),
        8 => (member.clone(), 0..4usize, 0..3i64, 1..12i64, kind).prop_map(
            |(member, run, skip, length, kind)| Step::Acknowledge { member, run, skip, length, kind }
        ),
        1 => member.prop_map(|member| Step::Leave { member }),
        2 => (1..40_000i64).prop_map(|milliseconds| Step::Pass { milliseconds }),
        1 => (1..9i64).prop_map(|by| Step::MoveLogStart { by }),
        1 => Just(Step::Fail),
        1 => Just(Step::Clean),
        1 => (0..6i64).prop_map(|tail| Step::Compact { tail }),
    ]
}

/// A group's engine.
struct Side {
    engine: Engine,
    /// The log start has moved, which is written with the next write.
    ahead: bool,
}

fn take(side: &mut Side, group: usize, logs: &mut Logs, step: &Step) {
    let engine = &mut side.engine;
    match *step {
        Step::Fetch { member, records } => {
            let first = engine.partition.next_fetch_offset();
            let fetched = [FetchedBatch::plain(first, first + i64::from(records) - 1)];
            engine.fetch(MEMBERS[member], &fetched, records);
        }
        Step::Acknowledge {
            member,
            run,
            skip,
            length,
            kind,
        } => {
            let held = engine.held(MEMBERS[member]);
            if let Some((first, last)) = held.get(run % held.len().max(1)) {
                let first = (first + skip).min(*last);
                let last = (first + length - 1).min(*last);
                engine.acknowledge(MEMBERS[member], first, last, kind);
            }
        }
        Step::Leave { member } => {
            engine.partition.release(MEMBERS[member], engine.now);
        }
        Step::Pass { milliseconds } => engine.pass(milliseconds),
        Step::MoveLogStart { by } => {
            let to = engine.partition.start_offset() + by;
            side.ahead |= engine.partition.move_log_start_offset(to);
        }
        Step::Fail => {
            logs.resume(group);
            let [_, topic, _] = logs.replayed(group);
            side.engine = Engine::load(&topic, engine.now);
            side.ahead = false;
        }
        Step::Clean => {
            let earliest = logs.recovery().earliest_share_offset();
            let before = logs.control.clone();
            clean(&mut logs.control);
            let kept = before
                .into_iter()
                .filter(|logged| Some(logged.offset) >= earliest);
            assert!(kept.eq(logs.control.iter().cloned()));
        }
        Step::Compact { tail } => {
            let end = logs.next_offset() - tail;
            compact(&mut logs.state_topic, end);
        }
    }
}

/// Runs the steps, and compares after each `every`th; tells how many writes there were.
fn run(steps: &[(usize, Step)], every: usize, deltas: u16, width: CheckpointEpochWidth) -> usize {
    let mut logs = Logs::begin(&GROUPS, deltas, width);
    let mut sides = GROUPS.map(|(_, start_offset)| Side {
        engine: Engine::begin(start_offset),
        ahead: false,
    });
    let mut writes = 0;
    for (number, (group, step)) in steps.iter().enumerate() {
        take(&mut sides[*group], *group, &mut logs, step);
        for (group, side) in sides.iter_mut().enumerate() {
            for write in side.engine.writes() {
                logs.write(group, &write);
                side.ahead = false;
                writes += 1;
            }
            if (number + 1) % every != 0 {
                continue;
            }
            let [control, topic, kafka] = logs.replayed(group);
            assert_eq!(control, topic, "{step:?}");
            assert_eq!(topic, kafka, "{step:?}");
            if !side.ahead {
                assert_eq!(kafka, side.engine.left(), "{step:?}");
            }
        }
    }
    writes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_three_forms_replay_to_the_same_state_after_every_step(
        steps in prop::collection::vec((0..GROUPS.len(), step()), 1..60),
        deltas in 0..9u16,
        wide in any::<bool>(),
    ) {
        let width = if wide { CheckpointEpochWidth::U32 } else { CheckpointEpochWidth::U16 };
        run(&steps, 1, deltas, width);
    }
}

/// More writes than an index counts, with compaction and cleaning among them.
#[test]
fn the_index_of_deltas_is_used_up_and_begins_again() {
    let mut steps = Vec::new();
    for round in 0..600 {
        let group = usize::from(round % 5 == 0);
        let (member, records) = (0, 3);
        steps.push((group, Step::Fetch { member, records }));
        let kind = match round % 3 {
            0 => AcknowledgeType::Release,
            _ => AcknowledgeType::Accept,
        };
        let (run, skip, length) = (0, 0, 2);
        let acknowledge = Step::Acknowledge {
            member,
            run,
            skip,
            length,
            kind,
        };
        steps.push((group, acknowledge));
        match round % 97 {
            50 => steps.push((0, Step::Clean)),
            70 => steps.push((1, Step::Fail)),
            90 => steps.push((0, Step::Compact { tail: 3 })),
            _ => {}
        }
    }
    assert!(run(&steps, 30, 500, CheckpointEpochWidth::U16) > 500);
}
