//! The guarded operations, for callgrind: `guard OPERATION TIMES` prepares the same state whatever TIMES is, then does the
//! operation so often. The difference between two runs is the operation alone; `benches/guard.py` takes it.
//! `guard list` names them.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program"
)]

use std::hint::black_box;
use std::process::ExitCode;

use share_state_benches::arguments::Arguments;
use share_state_benches::engine::{Engine, Fetch};
use share_state_benches::generate::{Builder, Random};
use share_state_benches::persister::{Counting, Persister};
use share_state_benches::stored::{Durability, Stored};
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::persister::WriteState;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::share_partition::{AcknowledgeBatch, FetchedBatch};
use share_state_core::state_batch::StateBatch;
use share_state_wire::messages::encode_write_request;
use share_state_wire::state_record::{decode, encode_key, encode_value};

/// Records, or runs, that are prepared; no operation is done more often.
const PREPARED: i64 = 4_000;

type Operation = fn(i64);

const OPERATIONS: &[(&str, Operation)] = &[
    ("acquire_and_acknowledge_500", |times| whole(times, 500)),
    ("acquire_and_acknowledge_1", |times| whole(times, 1)),
    ("acquire_and_acknowledge_500_in_store", |times| {
        in_store(times, Durability::Never);
    }),
    ("acquire_and_acknowledge_500_polled", |times| {
        in_store(times, Durability::Polled);
    }),
    ("acknowledge_alternate_in_store", alternate_in_store),
    ("acknowledge_type_a_record_500", type_a_record),
    ("acknowledge_in_order", |times| singles(0..times)),
    ("acknowledge_alternate", |times| {
        singles((0..times).map(|i| (2 * i + 1) % PREPARED));
    }),
    ("acknowledge_random", |times| {
        let mut offsets: Vec<i64> = (0..PREPARED).collect();
        Random::new(1).shuffle(&mut offsets);
        singles(offsets.into_iter().take(times as usize));
    }),
    ("acknowledge_alternate_500_a_request", alternate_together),
    ("renew", renew),
    ("next_fetch_offset", next_fetch_offset),
    ("expire", expire),
    ("release_member", release_member),
    ("fold", fold),
    ("encode_write_request", encode),
    ("decode_record", decode_record),
];

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    let name = arguments.word(0).unwrap_or_default();
    if name == "list" {
        for (name, _) in OPERATIONS {
            println!("{name}");
        }
        return ExitCode::SUCCESS;
    }
    let times = arguments.word(1).and_then(|text| text.parse().ok());
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name);
    match (operation, times) {
        (Some((_, operation)), Some(times)) if (0..=PREPARED / 2).contains(&times) => {
            operation(times);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("guard OPERATION TIMES, at most {} times", PREPARED / 2);
            ExitCode::FAILURE
        }
    }
}

struct Partition<P> {
    engine: Engine<IntervalStore>,
    persister: P,
}

impl Partition<Counting> {
    fn new() -> Self {
        Self::over(Counting::default())
    }
}

impl<P: Persister> Partition<P> {
    fn over(persister: P) -> Self {
        Self {
            engine: Engine::open(Builder::new(1, 16).header()),
            persister,
        }
    }

    fn acquire(&mut self, member: u16, first: i64, last: i64) {
        let fetch = Fetch {
            partition: 0,
            member,
            fetched: &[FetchedBatch::plain(first, last)],
            max_records: i32::MAX,
            batch_size: i32::MAX,
        };
        let code = self.engine.acquire(&fetch, |grant| {
            black_box(grant);
        });
        assert_eq!(code, 0);
    }

    fn acknowledge(&mut self, member: u16, first: i64, last: i64, types: &[i8]) {
        self.acknowledge_all(member, &[AcknowledgeBatch { first, last, types }]);
    }

    fn acknowledge_all(&mut self, member: u16, ranges: &[AcknowledgeBatch<'_>]) {
        let code = self
            .engine
            .acknowledge(0, member, ranges, &mut self.persister);
        assert_eq!(code, 0);
    }
}

fn whole(times: i64, len: i64) {
    let mut at = Partition::new();
    for first in (0..times).map(|i| i * len) {
        at.acquire(0, first, first + len - 1);
        at.acknowledge(0, first, first + len - 1, &[1]);
    }
}

/// [`whole`] with a store on the disk; a caller that polls takes twenty writes at a time.
fn in_store(times: i64, durability: Durability) {
    const LEN: i64 = 500;
    const TOGETHER: i64 = 20;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut at = Partition::over(Stored::make(dir.path(), 1, durability).expect("a new store"));
    for i in 0..times {
        let first = i * LEN;
        at.acquire(0, first, first + LEN - 1);
        at.acknowledge(0, first, first + LEN - 1, &[1]);
        if at.persister.gathered() as i64 == TOGETHER
            || i + 1 == times && at.persister.gathered() > 0
        {
            at.persister.commit();
            at.engine.complete(TOGETHER);
        }
    }
}

/// [`singles`] in its alternate order with a store on the disk.
fn alternate_in_store(times: i64) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let stored = Stored::make(dir.path(), 1, Durability::Never).expect("a new store");
    let mut at = Partition::over(stored);
    at.acquire(0, 0, PREPARED - 1);
    for offset in (0..times).map(|i| (2 * i + 1) % PREPARED) {
        at.acknowledge(0, offset, offset, &[1]);
    }
}

fn type_a_record(times: i64) {
    const LEN: i64 = 500;
    let mut at = Partition::new();
    for first in (0..times).map(|i| i * LEN) {
        at.acquire(0, first, first + LEN - 1);
        at.acknowledge(0, first, first + LEN - 1, &[1; LEN as usize]);
    }
}

fn singles(offsets: impl Iterator<Item = i64>) {
    let mut at = Partition::new();
    at.acquire(0, 0, PREPARED - 1);
    for offset in offsets {
        at.acknowledge(0, offset, offset, &[1]);
    }
}

/// The ranges of [`singles`] in its alternate order, 500 a request.
fn alternate_together(times: i64) {
    let mut at = Partition::new();
    at.acquire(0, 0, PREPARED - 1);
    let ranges: Vec<AcknowledgeBatch<'_>> = (0..PREPARED / 2)
        .map(|i| AcknowledgeBatch {
            first: 2 * i + 1,
            last: 2 * i + 1,
            types: &[1],
        })
        .collect();
    for request in ranges[..times as usize].chunks(500) {
        at.acknowledge_all(0, request);
    }
}

fn acquired_singly() -> Partition<Counting> {
    let mut at = Partition::new();
    for offset in 0..PREPARED {
        at.acquire((offset % 16) as u16, offset, offset);
    }
    at
}

fn renew(times: i64) {
    let mut at = acquired_singly();
    for offset in 0..times {
        at.acknowledge((offset % 16) as u16, offset, offset, &[4]);
    }
}

fn next_fetch_offset(times: i64) {
    let mut at = acquired_singly();
    let last = PREPARED - 1;
    at.acknowledge((last % 16) as u16, last, last, &[2]);
    for _ in 0..times {
        assert_eq!(black_box(at.engine.next_fetch_offset(0)), last);
    }
}

/// Ends `times` locks together; the others are a millisecond younger.
fn expire(times: i64) {
    let mut at = Partition::new();
    for offset in 0..PREPARED {
        if offset == times {
            at.engine.tick(0, 1);
        }
        at.acquire((offset % 16) as u16, offset, offset);
    }
    at.engine.tick(0, 30_000);
    at.engine.settle(0, &mut at.persister);
}

/// A member that holds so many records leaves; the others are held by another.
fn release_member(times: i64) {
    let mut at = Partition::new();
    for offset in 0..PREPARED {
        let member = u16::from(offset % 2 != 0 || offset / 2 >= times);
        at.acquire(member, offset, offset);
    }
    at.engine.release(0, 0, &mut at.persister);
}

fn run(i: i64, count: i16) -> StateBatch {
    StateBatch {
        first_offset: 10 * i,
        last_offset: 10 * i + 9,
        delivery_state: 2,
        delivery_count: count + (i % 2) as i16,
    }
}

fn update(state_batches: Vec<StateBatch>) -> ShareValue {
    ShareValue::Update(ShareUpdate {
        snapshot_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        state_batches,
        unknown_tagged_fields: Vec::new(),
    })
}

fn fold(times: i64) {
    let mut order: Vec<i64> = (0..PREPARED).collect();
    Random::new(1).shuffle(&mut order);
    let deltas: Vec<ShareValue> = order.iter().map(|i| update(vec![run(*i, 3)])).collect();
    let mut state = None;
    let snapshot = ShareSnapshot {
        snapshot_epoch: 0,
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        create_timestamp: 0,
        write_timestamp: 0,
        state_batches: (0..PREPARED).map(|i| run(i, 1)).collect(),
        unknown_tagged_fields: Vec::new(),
    };
    ShareGroupOffset::fold(&mut state, &ShareValue::Snapshot(snapshot));
    for delta in deltas.iter().take(times as usize) {
        ShareGroupOffset::fold(&mut state, delta);
    }
    black_box(state);
}

fn encode(times: i64) {
    let write = WriteState {
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        state_batches: (0..100).map(|i| run(i, 1)).collect(),
    };
    for _ in 0..times {
        let topics = [(TopicId([7; 16]), &[(0, &write)][..])];
        let request = encode_write_request("group", &topics, 1).expect("a legal request");
        black_box(request);
    }
}

fn decode_record(times: i64) {
    let record = ShareRecord {
        key: SharePartitionKey::new("group", TopicId([7; 16]), 0),
        value: update((0..10).map(|i| run(i, 1)).collect()),
    };
    let key = encode_key(&record).expect("a legal key");
    let value = encode_value(&record.value).expect("a legal value");
    for _ in 0..times {
        black_box(decode(black_box(&key), black_box(value.as_deref())).expect("what was encoded"));
    }
}
