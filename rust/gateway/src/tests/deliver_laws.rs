//! A share partition that is given slices of a ring hands out what it would hand out if it was given the log itself.

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{NoOpStatePersister, ReadStateResult};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, AcquiredRange, InFlight, SharePartition,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

use super::log::any_log;
use super::*;
use crate::{Delivery, Wanted, deliver};

type Partition = SharePartition<IntervalStore>;

const MEMBERS: [&str; 2] = ["one", "two"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Deliver {
        member: usize,
        max_records: i32,
        batch_size: i32,
        mode: AcquireMode,
        max_bytes: usize,
    },
    /// Acknowledges the first half, or all, of something that a member holds.
    Acknowledge {
        which: usize,
        half: bool,
        kind: i8,
    },
    Release(usize),
    Time(i64),
    Evict(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let mode = prop_oneof![
        Just(AcquireMode::BatchOptimized),
        Just(AcquireMode::RecordLimit)
    ];
    let bytes = prop_oneof![Just(usize::MAX), 0usize..900];
    let deliver = (0usize..2, 1i32..40, 1i32..20, mode, bytes).prop_map(
        |(member, max_records, batch_size, mode, max_bytes)| Step::Deliver {
            member,
            max_records,
            batch_size,
            mode,
            max_bytes,
        },
    );
    prop_oneof![
        6 => deliver,
        4 => (any::<usize>(), any::<bool>(), 1i8..4)
            .prop_map(|(which, half, kind)| Step::Acknowledge { which, half, kind }),
        1 => (0usize..2).prop_map(Step::Release),
        1 => (0i64..700).prop_map(Step::Time),
        1 => (0usize..2_000).prop_map(Step::Evict),
    ]
}

/// State that an earlier leader has left: a start offset, and batches after it with gaps between them.
fn persisted() -> impl Strategy<Value = ReadStateResult> {
    let batch = (
        0i64..9,
        1i64..6,
        prop_oneof![Just((0, 1)), Just((2, 1)), Just((4, 2))],
    );
    (0i64..20, vec(batch, 0..4)).prop_map(|(start_offset, batches)| {
        let mut next = start_offset;
        let mut read = ReadStateResult {
            state_epoch: 1,
            start_offset,
            state_batches: Vec::new(),
        };
        for (gap, records, (delivery_state, delivery_count)) in batches {
            let first_offset = next + gap;
            next = first_offset + records;
            read.state_batches.push(StateBatch {
                first_offset,
                last_offset: next - 1,
                delivery_state,
                delivery_count,
            });
        }
        read
    })
}

fn partition(read: &ReadStateResult, committed: bool) -> Partition {
    let config = ShareGroupConfig {
        // The start offset may differ with aborted transactions, and so would the room.
        partition_max_record_locks: if committed { 10_000 } else { 60 },
        record_lock_duration_ms: 500,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new("g", TopicId([7; 16]), 0);
    let mut partition = Partition::new(key, 0, config).unwrap();
    partition.initialize(read.clone()).unwrap();
    partition
}

/// Ranges of the log that are acquired.
struct Acquired {
    fetch_offset: i64,
    ranges: Vec<AcquiredRange>,
}

struct World {
    log: Log,
    ring: BatchRing,
    read_bytes: usize,
    committed: bool,
    ring_fed: Partition,
    log_fed: Partition,
    now: LockTime,
    held: Vec<(usize, AcquiredRange)>,
}

/// Rows in flight from `start` on. Everything before it is done.
fn rows(partition: &Partition, start: i64) -> Vec<InFlight<'_>> {
    let (before, mut rows): (Vec<_>, Vec<_>) = partition
        .in_flight()
        .partition(|row| row.range.last < start);
    if let Some(row) = rows.first_mut().filter(|row| row.range.first < start) {
        assert!(row.state.is_terminal());
        row.range.first = start;
    }
    assert!(before.iter().all(|row| row.state.is_terminal()));
    rows
}

impl World {
    fn settle(&mut self) {
        for partition in [&mut self.ring_fed, &mut self.log_fed] {
            partition.settle(&mut NoOpStatePersister);
            partition.check().unwrap();
        }
    }

    /// Compares the two share partitions. An acquire moves the start offset whenever what was looked at has any aborted
    /// transactions, so the one who looks at more may be ahead, by nothing but done records.
    fn compare(&self) {
        let (a, b) = (&self.ring_fed, &self.log_fed);
        assert_eq!(a.next_fetch_offset(), b.next_fetch_offset());
        let start = a.start_offset().max(b.start_offset());
        assert_eq!(rows(a, start), rows(b, start));
        if !self.committed {
            assert_eq!(a.start_offset(), b.start_offset());
            assert_eq!(a.delivery_complete_count(), b.delivery_complete_count());
        }
    }

    /// The bytes of the whole batches around what was acquired.
    fn around(&self, acquired: &[AcquiredRange]) -> Vec<u8> {
        let (Some(first), Some(last)) = (acquired.first(), acquired.last()) else {
            return Vec::new();
        };
        let (first, last) = (first.range.first, last.range.last);
        let batches = self.log.batches.iter();
        let around =
            batches.filter(|b| b.fetched.last_offset >= first && b.fetched.base_offset <= last);
        around.flat_map(LogBatch::bytes).collect()
    }

    /// Lets the ring read from where it is asked next; false at the end of the log.
    fn read(&mut self) -> bool {
        let asked = self.ring_fed.next_fetch_offset();
        let (bytes, aborted) = self.log.read(asked, self.read_bytes);
        let read = Read {
            aborted: if self.committed { &aborted } else { &[] },
            ..plain(asked, bytes)
        };
        self.ring.append(read).unwrap().bytes > 0
    }

    /// As `deliver`, but what is acquired is the log as it stands, as far as the run of the ring goes, with the list that a
    /// broker gives for just that.
    fn deliver_of_log(&mut self, wanted: &Wanted<'_>) -> Option<Acquired> {
        loop {
            let fetch_offset = self.log_fed.next_fetch_offset();
            let (run, _) = self.ring.find(fetch_offset)?;
            let end = self.ring.runs[run].end();
            let read = self.log.slice(fetch_offset, end, wanted.max_bytes);
            let fetched: Vec<_> = read.iter().map(|batch| batch.fetched).collect();
            let aborted = self.log.aborted(fetch_offset, read);
            let request = AcquireRequest {
                member: wanted.member,
                mode: wanted.mode,
                batch_size: wanted.batch_size,
                max_records: wanted.max_records,
                fetch_offset,
                fetched: &fetched,
                aborted: self.committed.then_some(&aborted),
            };
            let ranges = self.log_fed.acquire(&request, self.now).unwrap();
            let is_over = !ranges.is_empty()
                || self.log_fed.next_fetch_offset() == fetch_offset
                || !self.log_fed.can_acquire();
            if is_over {
                return Some(Acquired {
                    fetch_offset,
                    ranges,
                });
            }
        }
    }

    fn deliver(&mut self, member: usize, wanted: &Wanted<'_>) {
        if !self.ring_fed.can_acquire() {
            return;
        }
        loop {
            let of_log = self.deliver_of_log(wanted);
            let of_ring = deliver(&mut self.ring, &mut self.ring_fed, wanted, self.now).unwrap();
            self.compare();
            assert_eq!(of_ring.is_some(), of_log.is_some());
            if let (Some(delivery), Some(acquired)) = (of_ring, of_log) {
                self.compare_deliveries(&delivery, &acquired);
                let ranges = acquired.ranges.into_iter();
                self.held.extend(ranges.map(|range| (member, range)));
                return;
            }
            if !self.read() {
                return;
            }
        }
    }

    fn compare_deliveries(&self, delivery: &Delivery, acquired: &Acquired) {
        assert_eq!(delivery.acquired, acquired.ranges);
        assert_eq!(delivery.fetch_offset, acquired.fetch_offset);
        let bytes = delivery.pieces().collect::<Vec<_>>().concat();
        assert!(bytes == self.around(&delivery.acquired));
        assert_eq!(delivery.nbytes(), bytes.len());
    }

    fn acknowledge(&mut self, which: usize, half: bool, kind: i8) {
        if self.held.is_empty() {
            return;
        }
        let (member, acquired) = self.held.swap_remove(which % self.held.len());
        let range = acquired.range;
        let last = if half {
            (range.first + range.last) / 2
        } else {
            range.last
        };
        let batch = AcknowledgeBatch {
            first: range.first,
            last,
            types: &[kind],
        };
        let answers = [&mut self.ring_fed, &mut self.log_fed]
            .map(|p| p.acknowledge(MEMBERS[member], &[batch], self.now).is_ok());
        assert_eq!(answers[0], answers[1]);
    }
}

proptest! {
    #[test]
    fn slices_of_a_ring_and_the_log_itself_lead_to_the_same(
        log in any_log(40), read in persisted(), steps in vec(step(), 1..30), read_bytes in 1usize..1_500, committed: bool,
    ) {
        let mut world = World {
            log,
            ring: BatchRing::new(),
            read_bytes,
            committed,
            ring_fed: partition(&read, committed),
            log_fed: partition(&read, committed),
            now: LockTime(0),
            held: Vec::new(),
        };
        for step in steps {
            match step {
                Step::Deliver { member, max_records, batch_size, mode, max_bytes } => {
                    let wanted = Wanted {
                        member: MEMBERS[member],
                        mode,
                        batch_size,
                        max_records,
                        max_bytes,
                        first_bytes: None,
                    };
                    world.deliver(member, &wanted);
                }
                Step::Acknowledge { which, half, kind } => world.acknowledge(which, half, kind),
                Step::Release(member) => {
                    let now = world.now;
                    let a = world.ring_fed.release(MEMBERS[member], now);
                    prop_assert_eq!(a, world.log_fed.release(MEMBERS[member], now));
                    world.held.retain(|(holder, _)| *holder != member);
                }
                Step::Time(by) => {
                    world.now = LockTime(world.now.0 + by);
                    world.ring_fed.handle_timeout(world.now);
                    world.log_fed.handle_timeout(world.now);
                }
                Step::Evict(keep) => {
                    world.ring.evict(keep);
                }
            }
            world.settle();
            world.compare();
        }
    }
}
