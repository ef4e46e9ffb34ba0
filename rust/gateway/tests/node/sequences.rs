//! Random lives of members with a driver that is slow, writes that are refused, connections that end and processes that die: what
//! was confirmed is never given again, no record has two holders, and in the end every record is given or done.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::answers::Answer;
use crate::client::{Acknowledge, Acknowledged, Fetch, place};
use crate::scene::{PER_BATCH, config};
use crate::world::World;

const PLACES: [TopicIdPartition; 3] = [place(1, 0), place(1, 1), place(2, 2)];
const MEMBERS: usize = 4;

/// A record.
type Record = (TopicIdPartition, i64);

/// A member, as its client sees it.
#[derive(Default)]
struct Member {
    connection: u64,
    epoch: i32,
    held: Vec<Record>,
    /// RPC of the request that it waits for, and the acknowledgements in it.
    asked: Option<(i16, Vec<Acknowledged>)>,
    /// The time at which it was sent: records of the answer are locked from then on at the earliest.
    asked_at: LockTime,
    /// That request ends its session.
    is_leaving: bool,
}

struct Lives {
    world: World,
    members: Vec<Member>,
    connections: u64,
    /// Locks that a member has not given up: the member and the deadline.
    locks: BTreeMap<Record, (usize, LockTime)>,
    /// Records whose end was confirmed.
    done: BTreeSet<Record>,
    given: BTreeSet<Record>,
    produced: BTreeMap<TopicIdPartition, i64>,
}

#[derive(Clone, Debug)]
enum Step {
    Fetch {
        member: usize,
        count: usize,
        kind: u8,
        wait_ms: i32,
    },
    Acknowledge {
        member: usize,
        count: usize,
        kind: u8,
        is_last: bool,
    },
    Settle {
        refused: bool,
    },
    Produce {
        place: usize,
        batches: i64,
    },
    Pass(i64),
    Close {
        member: usize,
    },
    Restart {
        is_written: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = || prop_oneof![4 => Just(1u8), 1 => Just(2), 1 => Just(3)];
    let step = prop_oneof![
        8 => (0..MEMBERS, 0usize..4, kind(), prop::sample::select(vec![0, 50, 400])).prop_map(
            |(member, count, kind, wait_ms)| Step::Fetch { member, count, kind, wait_ms }
        ),
        5 => (0..MEMBERS, 1usize..4, kind(), prop::bool::weighted(0.1)).prop_map(
            |(member, count, kind, is_last)| Step::Acknowledge { member, count, kind, is_last }
        ),
        6 => prop::bool::weighted(0.15).prop_map(|refused| Step::Settle { refused }),
        3 => (0..PLACES.len(), 1i64..3).prop_map(|(place, batches)| Step::Produce { place, batches }),
        3 => (1i64..700).prop_map(Step::Pass),
        1 => (0..MEMBERS).prop_map(|member| Step::Close { member }),
        1 => any::<bool>().prop_map(|is_written| Step::Restart { is_written }),
    ];
    vec(step, 1..120)
}

impl Lives {
    fn new() -> Self {
        let mut world = World::new(Limits::default());
        world.holds_rounds = true;
        let mut lives = Self {
            world,
            members: (0..MEMBERS).map(|_| Member::default()).collect(),
            connections: 0,
            locks: BTreeMap::new(),
            done: BTreeSet::new(),
            given: BTreeSet::new(),
            produced: BTreeMap::new(),
        };
        for member in 0..MEMBERS {
            lives.open(member);
        }
        lives
    }

    fn open(&mut self, member: usize) {
        self.connections += 1;
        self.world.open(self.connections);
        self.members[member] = Member {
            connection: self.connections,
            ..Member::default()
        };
    }

    /// Takes some of the records that a member holds, for a request of it.
    fn batches(&mut self, member: usize, count: usize, kind: u8) -> Vec<Acknowledged> {
        let held = &mut self.members[member].held;
        let taken: Vec<_> = held.drain(..held.len().min(count)).collect();
        for record in &taken {
            // It may be given to others as soon as the request is under way.
            self.locks.remove(record);
        }
        taken
            .into_iter()
            .map(|(id, at)| (id, at, at, kind))
            .collect()
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Fetch {
                member,
                count,
                kind,
                wait_ms,
            } if self.members[member].asked.is_none() => {
                let mut fetch = Fetch::of(&format!("m{member}"), self.members[member].epoch);
                fetch.max_wait_ms = wait_ms;
                if fetch.epoch == 0 {
                    fetch.added = PLACES.to_vec();
                } else {
                    fetch.acknowledged = self.batches(member, count, kind);
                }
                self.ask(member, 78, &fetch.frame(1), fetch.acknowledged.clone());
            }
            Step::Acknowledge {
                member,
                count,
                kind,
                is_last,
            } if self.members[member].asked.is_none() && self.members[member].epoch > 0 => {
                let batches = self.batches(member, count, kind);
                let epoch = if is_last {
                    -1
                } else {
                    self.members[member].epoch
                };
                self.members[member].is_leaving = is_last;
                if is_last {
                    self.forget(member);
                }
                let request = Acknowledge::of(&format!("m{member}"), epoch, &batches);
                self.ask(member, 79, &request.frame(1), batches);
            }
            Step::Fetch { .. } | Step::Acknowledge { .. } => {}
            Step::Settle { refused } => {
                self.world
                    .settle(refused.then_some(KafkaCode::CoordinatorNotAvailable));
            }
            Step::Produce { place, batches } => {
                *self.produced.entry(PLACES[place]).or_default() += batches * PER_BATCH;
                self.world.produce(PLACES[place], batches);
            }
            Step::Pass(ms) => self.world.pass(ms),
            Step::Restart { is_written } => {
                self.world.restart(is_written);
                for member in 0..MEMBERS {
                    self.forget(member);
                    self.open(member);
                }
            }
            Step::Close { member } => {
                self.forget(member);
                let connection = self.members[member].connection;
                self.world.close(connection);
                self.open(member);
            }
        }
        self.listen();
    }

    /// The session of a member ends: it gives up its locks.
    fn forget(&mut self, member: usize) {
        self.locks.retain(|_, (holder, _)| *holder != member);
        self.members[member].held.clear();
    }

    fn ask(&mut self, member: usize, api_key: i16, frame: &[u8], batches: Vec<Acknowledged>) {
        let asked = &mut self.members[member];
        asked.asked = Some((api_key, batches));
        asked.asked_at = self.world.now;
        let connection = asked.connection;
        self.world.feed(connection, frame);
    }

    /// Takes all answers.
    fn listen(&mut self) {
        for member in 0..MEMBERS {
            let Some((api_key, batches)) = self.members[member].asked.take() else {
                continue;
            };
            match self.world.answer(self.members[member].connection, api_key) {
                Some(answer) => self.hear(member, &batches, &answer),
                None => self.members[member].asked = Some((api_key, batches)),
            }
        }
        assert_eq!(self.world.closings, []);
    }

    fn hear(&mut self, member: usize, batches: &[Acknowledged], answer: &Answer) {
        assert_eq!(answer.error, 0);
        for (id, first, _, kind) in batches {
            // R6: whatever was acknowledged is in the answer.
            let row = answer.rows.iter().find(|row| row.id == *id).unwrap();
            if row.acknowledged == 0 && matches!(kind, 1 | 3) {
                self.done.insert((*id, *first));
            }
        }
        let asked_at = self.members[member].asked_at;
        let deadline = asked_at.plus(config().record_lock_duration_ms);
        for (id, at, _) in answer.offsets() {
            let record = (id, at);
            assert!(
                !self.done.contains(&record),
                "{record:?} is given after its end"
            );
            assert!(at < self.produced[&id]);
            self.given.insert(record);
            if deadline <= self.world.now {
                // The answer waited for its writes longer than a lock lasts: others may hold the record by now.
                continue;
            }
            let lock = self.locks.insert(record, (member, deadline));
            let other = lock.filter(|(holder, until)| *holder != member && *until > self.world.now);
            assert_eq!(other, None, "{record:?} has two holders");
            self.members[member].held.push(record);
        }
        let one = &mut self.members[member];
        let is_over = std::mem::take(&mut one.is_leaving);
        one.epoch = if is_over { 0 } else { one.epoch + 1 };
    }

    /// Everybody leaves but one, who takes and accepts what is left.
    fn finish(&mut self) {
        self.world.holds_rounds = false;
        self.world.settle(None);
        self.world.drive();
        self.listen();
        for member in 0..MEMBERS {
            self.step(Step::Close { member });
        }
        // A lock may last for a second more: that of a record whose member left while a write of it was under way, and was
        // refused. Five empty answers in a row are the end.
        let mut empty = 0;
        while empty < 5 {
            let before = self.members[0].held.len();
            self.step(Step::Fetch {
                member: 0,
                count: before,
                kind: 1,
                wait_ms: 50,
            });
            self.step(Step::Pass(300));
            empty = if self.members[0].held.is_empty() {
                empty + 1
            } else {
                0
            };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn records_are_given_until_they_are_done_and_to_one_member_at_a_time(steps in steps()) {
        let mut lives = Lives::new();
        for step in steps {
            lives.step(step);
        }
        lives.finish();
        for (id, end) in lives.produced.clone() {
            for at in 0..end {
                prop_assert!(lives.given.contains(&(id, at)), "{id:?} {at} was never given");
            }
        }
        for member in 0..MEMBERS {
            let connection = lives.members[member].connection;
            lives.world.close(connection);
        }
        lives.world.pass(10_000);
        lives.world.node.sweep(LockTime(i64::MAX), lives.world.now);
        lives.world.drive();
        prop_assert_eq!(lives.world.node.sizes(), (0, 0, 0));
        prop_assert_eq!(lives.world.node.remains(), [0; 4]);
    }
}
