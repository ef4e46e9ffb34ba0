//! W10 and W14: what a member does depends on what it was given, so the generator plays the operations on share_state's
//! obvious store as it writes them. Every runner is compared all the same.

use share_state_core::in_flight::TwinStore;
use share_state_core::share_partition::{AcknowledgeBatch, FetchedBatch};

use super::{Builder, Random};
use crate::durable::Durable;
use crate::engine::{Engine, Fetch, Grant};
use crate::oplog::{OpKind, OpLog};
use crate::persister::Persister;

const ACCEPT: u8 = 1;
const RELEASE: u8 = 2;
const REJECT: u8 = 3;

struct Played {
    b: Builder,
    engine: Engine<TwinStore>,
    durable: Durable,
}

impl Played {
    fn new(mut b: Builder) -> Self {
        Self {
            engine: Engine::open(b.header()),
            durable: Durable::of(1),
            b,
        }
    }

    fn next_fetch_offset(&mut self) -> i64 {
        self.b.plain(OpKind::NextFetchOffset, 0);
        self.engine.next_fetch_offset(0)
    }

    fn acquire(&mut self, member: u32, first: i64, last: i64) -> Vec<Grant> {
        self.b
            .acquire_limited(0, member, (first, last), (i32::MAX, 100));
        let mut given = Vec::new();
        let fetch = Fetch {
            partition: 0,
            member: member as u16,
            fetched: &[FetchedBatch::plain(first, last)],
            max_records: i32::MAX,
            batch_size: 100,
        };
        let code = self.engine.acquire(&fetch, |grant| given.push(grant));
        assert_eq!(code, 0);
        self.engine.settle(0, &mut self.durable);
        given
    }

    fn acknowledge(&mut self, member: u32, range: (i64, i64), id: u8) {
        self.b.acknowledge(0, member, range, id);
        let (first, last) = range;
        let types = &[id as i8];
        let batch = AcknowledgeBatch { first, last, types };
        let code = self
            .engine
            .acknowledge(0, member as u16, &[batch], &mut self.durable);
        assert_eq!(code, 0);
    }
}

/// W10: `size` operations in a window of 2,000 on log batches of 100, single acknowledgements without a pattern, and every
/// 1,000 operations another leader that knows only what was persisted. An element is an operation; reading the state is not
/// timed.
pub(super) fn leader_changes(size: u64, seed: u64) -> OpLog {
    const TERM: u64 = 1_000;
    const MEMBERS: u64 = 8;
    const LOG_BATCH: i64 = 100;
    let mut random = Random::new(seed);
    let mut b = Builder::new(1, MEMBERS as u32);
    b.header().max_record_locks = 2_000;
    b.header().delivery_limit = 10;
    let mut played = Played::new(b);
    let mut held: Vec<(u32, i64)> = Vec::new();
    played.b.begin();
    for i in 0..size {
        if i > 0 && i % TERM == 0 {
            played.b.end();
            played.b.plain(OpKind::Check, 0);
            played.b.plain(OpKind::Reopen, 0);
            let start = played.engine.window(0).start;
            played.engine.reopen(0, played.durable.read(0, start));
            held.clear();
            played.b.begin();
        }
        if held.is_empty() || random.below(50) == 0 {
            let first = played.next_fetch_offset();
            let member = random.below(MEMBERS) as u32;
            let last = first - first % LOG_BATCH + LOG_BATCH - 1;
            for grant in played.acquire(member, first, last) {
                held.extend((grant.first..=grant.last).map(|offset| (member, offset)));
            }
        } else {
            // Mostly old records, so that the start offset moves.
            let among = (held.len() as u64).min(1 + random.below(500));
            let (member, offset) = held.remove(random.below(among) as usize);
            let id = match random.below(100) {
                0..80 => ACCEPT,
                80..95 => RELEASE,
                _ => REJECT,
            };
            played.acknowledge(member, (offset, offset), id);
        }
    }
    played.b.end();
    played.b.plain(OpKind::Check, 0);
    played.b.finish(size)
}

/// W14: batches of 500 records that are released whenever they are delivered, up to a delivery limit of `size`: Kafka gives
/// them in ever smaller parts, at last one by one. An element is an operation.
pub(super) fn always_failing(size: u64, _: u64) -> OpLog {
    const LEN: i64 = 500;
    const BATCHES: i64 = 4;
    let mut b = Builder::new(1, 1);
    b.header().delivery_limit = size as u32;
    let mut played = Played::new(b);
    let mut operations = 0;
    played.b.begin();
    for base in (0..BATCHES).map(|i| i * LEN) {
        while played.engine.window(0).start < base + LEN {
            let next = played.next_fetch_offset();
            let given = played.acquire(0, next, base + LEN - 1);
            assert!(!given.is_empty(), "something is available");
            operations += 2;
            for grant in given {
                played.acknowledge(0, (grant.first, grant.last), RELEASE);
                operations += 1;
            }
        }
    }
    played.b.end();
    played.b.plain(OpKind::Check, 0);
    played.b.finish(operations)
}
