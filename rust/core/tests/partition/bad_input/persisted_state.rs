//! Persisted states that must be refused: the error names the field, the batch and the value; the share partition has
//! failed and nothing of the state was loaded (33 to 42).
//!
//! 41 (an answer for another share partition, for several, or for none) cannot reach the engine: what it takes is the
//! answer for one share partition as plain data, and whoever speaks to the persister matches answers to keys.

use share_state_core::in_flight::{InFlightQuestions, InFlightStore, IntervalStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::{
    AcquireError, CorruptField, InitializeError, Initialized, SharePartition, Status,
};
use share_state_core::state_batch::StateBatch;

use crate::common::lab::{Fetch, Lab, batch, read_result};
use crate::common::script::play;
use crate::common::view::everything;
use crate::on_both_stores;

const MAX: i64 = i64::MAX;

fn fresh<S: InFlightStore>() -> SharePartition<S> {
    Lab::empty(ShareGroupConfig::default()).sp
}

/// Initialising from `read` fails with these facts, and is not forgotten.
fn corrupt<S: InFlightStore>(
    read: ReadStateResult,
    field: CorruptField,
    index: Option<usize>,
    value: i64,
) {
    let mut sp = fresh::<S>();
    let untouched = everything(&sp);
    let error = sp.initialize(read).unwrap_err();
    let expected = InitializeError::Corrupt {
        field,
        index,
        value,
    };
    assert_eq!(error, expected);
    let text = error.to_string();
    assert!(
        text.contains(field.name()) && text.contains(&value.to_string()),
        "{text}"
    );
    assert!(
        index.is_none_or(|i| text.contains(&format!("[{i}]"))),
        "{text}"
    );
    assert_eq!(everything(&sp), untouched.replace("Empty", "Failed"));
    assert!(sp.poll_write().is_none() && sp.poll_dead_letter().is_none());
    let again = sp.initialize(read_result(0, &[]));
    assert_eq!(again, Err(InitializeError::Status(Status::Failed)));
}

fn d4_33_to_38_a_batch_that_no_leader_wrote_fails_the_share_partition<S: InFlightStore>() {
    use CorruptField as F;
    let good = batch(10, 14, 2, 1);
    let bad: [(StateBatch, F, i64); 19] = [
        // 33: inverted, or at the end of the offset space.
        (batch(20, 19, 2, 1), F::LastOffset, 19),
        (batch(20, -1, 2, 1), F::LastOffset, -1),
        (batch(20, MAX, 2, 1), F::LastOffset, MAX),
        (batch(MAX, i64::MIN, 2, 1), F::LastOffset, i64::MIN),
        // 34: before the start offset.
        (batch(4, 9, 2, 1), F::FirstOffset, 4),
        (batch(-7, -3, 2, 1), F::FirstOffset, -7),
        (batch(i64::MIN, MAX - 1, 2, 1), F::FirstOffset, i64::MIN),
        // 35: two batches for one offset.
        (batch(14, 20, 2, 1), F::Overlap, 14),
        (batch(11, 12, 4, 3), F::Overlap, 11),
        (batch(10, 14, 2, 1), F::Overlap, 10),
        // 37: no state that may be persisted.
        (batch(20, 24, 1, 1), F::DeliveryState, 1),
        (batch(20, 24, 5, 1), F::DeliveryState, 5),
        (batch(20, 24, 127, 1), F::DeliveryState, 127),
        (batch(20, 24, -1, 1), F::DeliveryState, -1),
        (batch(20, 24, i8::MIN, 1), F::DeliveryState, -128),
        // 38: no number of deliveries.
        (batch(20, 24, 0, -3), F::DeliveryCount, -3),
        (batch(20, 24, 4, i16::MIN), F::DeliveryCount, -32_768),
        (batch(20, 24, 2, 0), F::DeliveryCount, 0),
        (batch(20, 24, 0, 0), F::DeliveryCount, 0),
    ];
    for (bad, field, value) in bad {
        corrupt::<S>(read_result(5, &[good, bad]), field, Some(1), value);
    }
    // The index is the batch's place in the answer, also when the batches come in no order.
    let unsorted = [batch(30, 34, 2, 1), batch(20, 31, 2, 1), batch(5, 6, 9, 1)];
    corrupt::<S>(read_result(5, &unsorted[..2]), F::Overlap, Some(0), 30);
    corrupt::<S>(read_result(5, &unsorted), F::DeliveryState, Some(2), 9);
}

fn d4_36_batches_in_no_order_are_sorted<S: InFlightStore>() {
    let sorted = [batch(5, 9, 2, 1), batch(10, 14, 0, 2), batch(20, 24, 4, 5)];
    let shown = [[0, 1, 2], [2, 1, 0], [1, 2, 0]].map(|order| {
        let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
        lab.initialize(&read_result(5, &order.map(|i| sorted[i])));
        everything(&lab.sp)
    });
    assert!(
        shown[0].starts_with("start 10 end 24 next 10"),
        "{}",
        shown[0]
    );
    assert!(shown.iter().all(|one| *one == shown[0]));
}

fn d4_37_archiving_is_resumed_without_a_dead_letter_queue<S: InFlightStore>() {
    play::<S>(
        "config dlq=off => ok
        init 0 [0-4 archiving 1] => active + d0 0-4:1 ClientReject
        dlq d0 => done + w0 start 0 complete 5 [0-4 archived 1]
        ok w0 => NONE
        window => start 5 end 5 next 5 length 0 complete 0",
    );
}

fn d4_38_a_count_above_the_limit_is_no_corruption_and_0_is_none_for_the_archived<S>()
where
    S: InFlightStore,
{
    play::<S>(
        "config limit=2 => ok
        init 0 [0-4 available 9] [5-9 archived 0] => active
        window => start 0 end 9 next 0 length 10 complete 5 | 0-4 available 9 | 5-9 archived 0
        acquire m1 0-0 => 0:10
        release m1 => 1 + w0 start 0 complete 6 [0 archived 10]",
    );
}

fn d4_39_a_start_offset_is_there_or_is_asked_for<S: InFlightStore>() {
    for start_offset in [-2, -7, i64::MIN] {
        let read = read_result(start_offset, &[]);
        corrupt::<S>(read, CorruptField::StartOffset, None, start_offset);
    }
    let epoch = ReadStateResult {
        state_epoch: -1,
        ..read_result(0, &[])
    };
    corrupt::<S>(epoch, CorruptField::StateEpoch, None, -1);
    // -1: asked for. A wrong answer changes nothing, and the answer is taken once.
    let mut sp = fresh::<S>();
    let asked = sp.initialize(read_result(-1, &[]));
    assert!(matches!(asked, Ok(Initialized::NeedsStartOffset(_))));
    for start_offset in [-1, i64::MIN] {
        let before = everything(&sp);
        let error = sp.resolve_start_offset(start_offset);
        assert_eq!(error, Err(InitializeError::Unresolvable { start_offset }));
        assert_eq!(everything(&sp), before);
    }
    assert_eq!(sp.resolve_start_offset(7), Ok(Initialized::Active));
    let before = everything(&sp);
    let again = sp.resolve_start_offset(9);
    assert_eq!(
        again,
        Err(InitializeError::Unresolvable { start_offset: 9 })
    );
    assert_eq!(everything(&sp), before);
}

fn d4_40_a_million_batches_are_checked_before_one_is_loaded<S: InFlightStore>() {
    let mut batches: Vec<StateBatch> = (0..1_000_000).map(|i| batch(2 * i, 2 * i, 2, 1)).collect();
    batches.push(batch(7, 7, 1, 1));
    let last = Some(1_000_000);
    corrupt::<S>(
        read_result(0, &batches),
        CorruptField::DeliveryState,
        last,
        1,
    );
}

/// Over the tree alone: the twin has one entry an offset, and looks at all of them for every question.
#[test]
fn d4_40_batches_cost_their_number_and_not_their_length() {
    const HALF: i64 = 1 << 39;
    let states = [(0, HALF - 1, 0, 1), (HALF, 2 * HALF - 1, 2, 1)];
    let long = states.map(|(first, last, state, count)| batch(first, last, state, count));
    let mut lab: Lab<IntervalStore> = Lab::empty(ShareGroupConfig::default());
    lab.initialize(&read_result(0, &long));
    assert_eq!(lab.sp.delivery_complete_count(), HALF as u64);
    assert!(lab.sp.store().heap_bytes() < 64 * 1024);
    let fetch = Fetch::of(&[(0, 2 * HALF - 1)]);
    let acquired = lab.acquire("m1", &fetch).unwrap();
    assert_eq!(acquired[0].range.len(), HALF as u64);
    // The count in the write is an i32 for Kafka's sake; it stays at the end of its type.
    lab.acknowledge("m1", &[(0, HALF - 1, &[1])]).unwrap();
    assert_eq!(lab.writes[&0].delivery_complete_count, i32::MAX);

    let many: Vec<StateBatch> = (0..1_000_000)
        .map(|i| batch(2 * i, 2 * i, 2 - 2 * (i % 2) as i8, 1))
        .collect();
    let mut sp = fresh::<IntervalStore>();
    assert_eq!(
        sp.initialize(read_result(0, &many)),
        Ok(Initialized::Active)
    );
    assert_eq!(sp.start_offset(), 1);
    assert_eq!(
        sp.state_counts()[RecordState::Acknowledged as usize],
        499_999
    );
    let bytes = sp.store().heap_bytes();
    assert!(
        bytes < 1_000_000 * 128,
        "{bytes} bytes for a million batches"
    );
}

fn d4_41_a_persister_that_refuses_to_read_fails_the_share_partition<S: InFlightStore>() {
    let mut refused = 0;
    for code in KafkaCode::ALL
        .iter()
        .copied()
        .filter(|code| *code != KafkaCode::None)
    {
        let mut sp = fresh::<S>();
        assert_eq!(sp.begin_initialize().unwrap().leader_epoch, 1);
        let error = sp.initialize_failed(code);
        assert!(matches!(error, InitializeError::Persister(_)), "{error}");
        assert_eq!(sp.status(), Status::Failed);
        assert!(sp.store().is_empty() && !sp.acquire_fetch_lock(1));
        let mut lab = Lab::<S>::empty(ShareGroupConfig::default());
        lab.sp = sp;
        let refused_too = lab.acquire("m1", &Fetch::of(&[(0, 9)]));
        assert_eq!(refused_too, Err(AcquireError::NotActive(Status::Failed)));
        refused += 1;
    }
    assert_eq!(refused, KafkaCode::ALL.len() - 1);
}

/// A read carries no count that could be wrong: the count is always that of the batches.
fn d4_42_the_delivery_complete_count_is_counted_and_never_read<S: InFlightStore>() {
    play::<S>(
        "init 5 [8-9 available 1] [10-14 acknowledged 1] [15-19 archived 2] [20-24 archiving 1] => active \
            + d0 20-24:1 ClientReject
        window => start 5 end 24 next 5 length 20 complete 10 \
            | 8-9 available 1 | 10-14 acknowledged 1 | 15-19 archived 2 | 20-24 archiving 1",
    );
}

on_both_stores!(
    d4_33_to_38_a_batch_that_no_leader_wrote_fails_the_share_partition,
    d4_36_batches_in_no_order_are_sorted,
    d4_37_archiving_is_resumed_without_a_dead_letter_queue,
    d4_38_a_count_above_the_limit_is_no_corruption_and_0_is_none_for_the_archived,
    d4_39_a_start_offset_is_there_or_is_asked_for,
    d4_40_a_million_batches_are_checked_before_one_is_loaded,
    d4_41_a_persister_that_refuses_to_read_fails_the_share_partition,
    d4_42_the_delivery_complete_count_is_counted_and_never_read,
);
