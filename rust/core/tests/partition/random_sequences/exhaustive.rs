//! Every interleaving of a small alphabet of events, to a stated depth: two members and three or four records.
//! States that look alike, whatever led to them, are visited once.

use std::collections::HashSet;
use std::fmt::Write as _;

use share_state_core::in_flight::InFlightQuestions;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_partition::FetchedBatch;

use super::op::{Answer, MEMBERS, Op};
use super::world::World;

/// A share partition with these log batches.
fn begin(log: &[(i64, i64)], delivery_count_limit: i16, dead_letter_queue: bool) -> World {
    let log = log
        .iter()
        .map(|(base, last)| FetchedBatch::plain(*base, *last))
        .collect();
    let config = ShareGroupConfig {
        delivery_count_limit,
        dead_letter_queue,
        record_lock_duration_ms: 100,
        ..ShareGroupConfig::default()
    };
    World::new(log, config)
}

impl World {
    /// All that the future depends on: times relative to now, no tokens, no counters, and of members the number, not the name.
    fn fingerprint(&self) -> String {
        let seen = self.seen();
        let writes: Vec<_> = self
            .twin
            .writes
            .values()
            .map(|w| (w.start_offset, w.delivery_complete_count, &w.state_batches))
            .collect();
        let mut text = format!(
            "{} {} {} {:?} {} {writes:?} {:?} {:?} {:?}",
            seen.start_offset,
            seen.end_offset,
            seen.next_fetch_offset,
            self.twin.sp.gap_window(),
            self.log_start,
            self.persister.stored(),
            self.persister.done,
            self.twin
                .dead_letters
                .values()
                .map(|letter| letter.range)
                .collect::<Vec<_>>(),
        );
        for run in self.twin.sp.store().runs() {
            let lock = run
                .lock
                .map(|lock| (lock.member, lock.deadline.0 - self.now(), lock.expired));
            let _ = write!(
                text,
                " {}{:?}{:?}{}{}{lock:?}",
                run.range, run.state, run.phase, run.delivery_count, run.batch_start
            );
        }
        text
    }
}

fn acknowledge(member: usize, first: i64, last: i64, id: i8) -> Op {
    Op::AcknowledgeAnything {
        member,
        ranges: vec![(first, last - first)],
        types: vec![id],
    }
}

/// Everything that may happen next.
fn alphabet(world: &World) -> Vec<Op> {
    let seen = world.seen();
    let mut ops = Vec::new();
    for (member, name) in MEMBERS.iter().enumerate().take(2) {
        for record_limit in [false, true] {
            ops.push(Op::Acquire {
                member,
                record_limit,
                batch_size: 500,
                max_records: if record_limit { 1 } else { 10 },
                behind: 0,
                batches: 2,
                aborted: None,
            });
        }
        ops.push(Op::Release(member));
        for (first, last) in seen.held_by(name) {
            for offset in first..=last {
                ops.extend([1, 2].map(|id| acknowledge(member, offset, offset, id)));
            }
            ops.extend([3, 4].map(|id| acknowledge(member, first, last, id)));
            // What another member holds is refused, and nothing changes.
            ops.push(acknowledge(1 - member, first, last, 1));
        }
    }
    ops.push(Op::Time(50));
    ops.extend([1, 2].map(Op::LogStart));
    if world.dead_letters() > 0 {
        ops.push(Op::DeadLetterDone(0));
    }
    let writes = world.tokens().len();
    for index in 0..writes {
        ops.extend([Answer::Written, Answer::Refused].map(|how| Op::Answer(index, how)));
    }
    ops.push(Op::Crash(0));
    if writes > 0 {
        ops.push(Op::Crash(u64::MAX));
    }
    ops
}

/// The number of states within `depth` events of the beginning, and the number of steps taken to see them all.
fn explore(begin: World, depth: u32) -> (usize, usize) {
    let mut visited = HashSet::from([begin.fingerprint()]);
    let mut frontier = vec![begin];
    let mut steps = 0;
    for _ in 0..depth {
        let mut next = Vec::new();
        for world in &frontier {
            for op in alphabet(world) {
                let mut world = world.clone();
                world.apply(&op);
                steps += 1;
                if visited.insert(world.fingerprint()) {
                    next.push(world);
                }
            }
        }
        frontier = next;
    }
    (visited.len(), steps)
}

// The numbers are exact, so that an event that silently does nothing any more is found.

#[test]
fn three_records_in_two_batches_within_six_events() {
    let begin = begin(&[(0, 1), (2, 2)], 2, false);
    assert_eq!(explore(begin, 6), (25_057, 104_398));
}

#[test]
fn four_records_in_one_batch_within_five_events() {
    let begin = begin(&[(0, 3)], 2, false);
    assert_eq!(explore(begin, 5), (13_558, 41_491));
}

#[test]
fn one_delivery_and_a_dead_letter_queue_within_five_events() {
    let begin = begin(&[(0, 0), (1, 2)], 1, true);
    assert_eq!(explore(begin, 5), (4_100, 16_976));
}
