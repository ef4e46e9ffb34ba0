//! More locks than run out in one go, and more records of a member than are noted in one go.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{
    InlinePersister, NoOpStatePersister, ReadStateResult, WriteStateRef,
};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, Settlement, SharePartition,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

const RECORDS: i64 = 6_000;
const RENEW: i8 = 4;

/// Keeps the state batches, and gives the same answer every time.
struct Keeping(KafkaCode, Vec<StateBatch>);

impl InlinePersister for Keeping {
    fn write_state(&mut self, _: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        self.1.extend(state.state_batches);
        self.0
    }
}

/// Records acquired one by one by the members in turn.
fn acquired<S: InFlightStore>(members: &[&str]) -> SharePartition<S> {
    acquired_with(u32::MAX, members)
}

/// As [`acquired`], where so many locks run out in one call at most.
fn acquired_with<S: InFlightStore>(
    max_lock_timeouts_per_call: u32,
    members: &[&str],
) -> SharePartition<S> {
    let config = ShareGroupConfig {
        partition_max_record_locks: 10_000,
        max_lock_timeouts_per_call,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new("group", TopicId([7; 16]), 0);
    let mut sp = SharePartition::new(key, 0, config).unwrap();
    sp.initialize(ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    })
    .unwrap();
    for (offset, member) in (0..RECORDS).zip(members.iter().cycle()) {
        let request = AcquireRequest {
            member,
            mode: AcquireMode::BatchOptimized,
            batch_size: 1,
            max_records: 1,
            fetch_offset: offset,
            fetched: &[FetchedBatch::plain(offset, offset)],
            aborted: None,
        };
        assert_eq!(sp.acquire(&request, LockTime(0)).unwrap().len(), 1);
    }
    sp
}

fn in_flight<S: InFlightStore>(sp: &SharePartition<S>) -> String {
    sp.check().unwrap();
    format!("{:?}", sp.in_flight().collect::<Vec<_>>())
}

fn run_out_out_of_order<S: InFlightStore>() {
    let mut sp = acquired::<S>(&["alice"]);
    for offset in (0..RECORDS).step_by(2) {
        let renewed = AcknowledgeBatch {
            first: offset,
            last: offset,
            types: &[RENEW],
        };
        sp.acknowledge_and_settle("alice", &[renewed], LockTime(0), &mut NoOpStatePersister)
            .unwrap();
    }
    let mut keeping = Keeping(KafkaCode::None, Vec::new());
    let deadline = sp.poll_timeout().unwrap();
    assert_eq!(sp.handle_timeout(deadline), RECORDS as u64);
    assert_eq!(sp.settle(&mut keeping).writes, 1);
    let all = StateBatch {
        first_offset: 0,
        last_offset: RECORDS - 1,
        delivery_state: 0,
        delivery_count: 1,
    };
    assert_eq!(keeping.1, [all]);
    assert_eq!(sp.poll_timeout(), None);
    sp.check().unwrap();
}

#[test]
fn locks_that_were_renewed_run_out_with_the_others_in_one_write() {
    run_out_out_of_order::<IntervalStore>();
    run_out_out_of_order::<TwinStore>();
}

/// Every verb lets the locks run out, and none more than it may.
fn run_out_in_slices<S: InFlightStore>() {
    const MOST: u64 = 7;
    const ACCEPT: i8 = 1;
    let mut sp = acquired_with::<S>(7, &["alice", "bob"]);
    let deadline = sp.poll_timeout().unwrap();
    let available = |sp: &SharePartition<S>| sp.state_counts()[0];
    assert_eq!(sp.handle_timeout(deadline), MOST);
    assert_eq!(sp.poll_timeout(), Some(deadline), "more are due");

    // A lock that is due and has not run out is still a lock.
    let last = AcknowledgeBatch {
        first: RECORDS - 1,
        last: RECORDS - 1,
        types: &[ACCEPT],
    };
    sp.acknowledge_and_settle("bob", &[last], deadline, &mut NoOpStatePersister)
        .unwrap();
    assert_eq!(
        available(&sp),
        2 * MOST,
        "an acknowledgement lets them run out too"
    );
    let one = AcquireRequest {
        member: "carol",
        mode: AcquireMode::RecordLimit,
        batch_size: 1,
        max_records: 1,
        fetch_offset: 0,
        fetched: &[FetchedBatch::plain(0, 0)],
        aborted: None,
    };
    assert_eq!(sp.acquire(&one, deadline).unwrap().len(), 1);
    assert_eq!(available(&sp), 3 * MOST - 1);
    assert_eq!(sp.release("carol", deadline), 1);
    sp.settle(&mut NoOpStatePersister);
    assert_eq!(available(&sp), 4 * MOST);

    let mut calls = 4;
    while sp.poll_timeout() == Some(deadline) {
        let ran_out = sp.handle_timeout(deadline);
        assert!((1..=MOST).contains(&ran_out), "{ran_out}");
        sp.check().unwrap();
        calls += 1;
    }
    sp.settle(&mut NoOpStatePersister);
    let left = RECORDS as u64 - 1;
    assert_eq!((available(&sp), sp.poll_timeout()), (left, None));
    assert_eq!(calls, left.div_ceil(MOST));
    assert_eq!(sp.counters().lock_timeouts, left);
}

/// A lock has as many records as were acquired together, and ends whole.
fn a_lock_runs_out_whole<S: InFlightStore>() {
    let mut sp = acquired_with::<S>(2, &["alice"]);
    let renewed: Vec<AcknowledgeBatch<'_>> = [(0, 7), (8, 10), (11, RECORDS - 1)]
        .iter()
        .map(|&(first, last)| AcknowledgeBatch {
            first,
            last,
            types: &[RENEW],
        })
        .collect();
    // Each range is put under one new lock.
    for range in &renewed {
        let range = core::slice::from_ref(range);
        sp.acknowledge_and_settle("alice", range, LockTime(0), &mut NoOpStatePersister)
            .unwrap();
    }
    let deadline = sp.poll_timeout().unwrap();
    assert_eq!(sp.handle_timeout(deadline), 11);
    assert_eq!(sp.handle_timeout(deadline), RECORDS as u64 - 11);
    assert_eq!(sp.poll_timeout(), None);
}

#[test]
fn a_configuration_bounds_how_many_locks_run_out_in_one_call() {
    a_lock_runs_out_whole::<IntervalStore>();
    a_lock_runs_out_whole::<TwinStore>();
    run_out_in_slices::<IntervalStore>();
    run_out_in_slices::<TwinStore>();
}

fn release_refused_and_confirmed<S: InFlightStore>() {
    let mut sp = acquired::<S>(&["alice", "bob", "alice", "carol"]);
    let before = in_flight(&sp);
    let mut refusing = Keeping(KafkaCode::CoordinatorNotAvailable, Vec::new());
    let (records, settlement) = sp.release_and_settle("alice", LockTime(0), &mut refusing);
    let half = RECORDS as u64 / 2;
    assert_eq!((records, settlement.writes), (half, 1));
    assert_eq!(settlement.member_code, KafkaCode::CoordinatorNotAvailable);
    assert_eq!(
        in_flight(&sp),
        before,
        "a refused release has changed something"
    );

    let mut two_steps = acquired::<S>(&["alice", "bob", "alice", "carol"]);
    let mut keeping = Keeping(KafkaCode::None, Vec::new());
    assert_eq!(
        sp.release_and_settle("alice", LockTime(0), &mut keeping).0,
        half
    );
    let mut other = Keeping(KafkaCode::None, Vec::new());
    assert_eq!(two_steps.release("alice", LockTime(0)), half);
    two_steps.settle(&mut other);
    assert_eq!(keeping.1, other.1);
    assert_eq!(keeping.1.len() as u64, half);
    assert_eq!(refusing.1, other.1);
    assert_eq!(in_flight(&sp), in_flight(&two_steps));
    let nothing = sp.release_and_settle("alice", LockTime(0), &mut keeping);
    assert_eq!(nothing, (0, Settlement::default()));
}

#[test]
fn a_refused_release_of_many_records_leaves_everything_as_it_was() {
    release_refused_and_confirmed::<IntervalStore>();
    release_refused_and_confirmed::<TwinStore>();
}
