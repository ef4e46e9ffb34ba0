//! Questions to a share partition, with exact answers: renewed locks, counters, what waits to be polled, refusals in words.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use crate::common::lab::{Fetch, Lab, key, read_result};
use crate::common::script::play;
use crate::on_both_stores;
use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::{InFlightQuestions, InFlightStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{InlinePersister, WriteStateRef, WriteToken};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcknowledgeError, CorruptField, FetchedBatch, InitializeError, Initialized,
    RecordStateReason, SharePartition, Status,
};
use share_state_core::time::LockTime;

fn a_renewed_record_is_locked_anew_for_a_full_duration<S: InFlightStore>() {
    let lab = play::<S>(
        "config lock=100 renew=on => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        time 50 => 0
        ack m1 2-4 renew, 7 renew => done
        deadline => 100
        time 100 => 6 + w0 start 0 complete 0 [0-1 available 1] [5-6 available 1] [8-9 available 1]
        deadline => 150
        window => start 0 end 9 next 0 length 10 complete 0 | 0-1 available 1 | 2-4 acquired 1 m1 \
            | 5-6 available 1 | 7 acquired 1 m1 | 8-9 available 1
        time 149 => 0
        time 150 => 4 + w1 start 0 complete 0 [2-4 available 1] [7 available 1]",
    );
    assert_eq!(lab.sp.counters().renewed, 4);
    assert_eq!(lab.sp.counters().lock_timeouts, 10);
}

fn each_counter_counts_its_own<S: InFlightStore>() {
    let lab = play::<S>(
        "config lock=100 limit=2 renew=on dlq=on => ok
        init 0 => active
        acquire m1 0-29 => 0-29:1
        ack m1 0-1 accept => w0 + w0 start 0 complete 2 [0-1 acknowledged 1]
        ok w0 => NONE
        ack m1 2 accept => w1 + w1 start 2 complete 1 [2 acknowledged 1]
        ok w1 => NONE
        ack m1 3-6 reject => w2 + w2 start 3 complete 0 [3-6 archiving 1]
        ok w2 => NONE + d0 3-6:1 ClientReject
        dlq d0 => done + w3 start 3 complete 4 [3-6 archived 1]
        ok w3 => NONE
        ack m1 7-11 renew => done",
    );
    let counters: Vec<_> = lab.sp.counters().entries();
    assert_eq!(
        counters,
        [
            ("acquired", 30),
            ("acknowledged", 3),
            ("made_available", 0),
            ("archived", 4),
            ("dead_lettered", 4),
            ("renewed", 5),
            ("lock_timeouts", 0),
            ("delivery_limit_reached", 0),
            ("log_start_archived", 0),
            ("writes", 4),
            ("writes_refused", 0),
            ("state_batches_written", 4),
        ]
    );
}

fn what_is_given_back_and_given_up_is_counted<S: InFlightStore>() {
    let lab = play::<S>(
        "config lock=100 limit=2 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-5 release => w0 + w0 start 0 complete 0 [0-5 available 1]
        ok w0 => NONE
        acquire m2 0-9 => 0-5:2
        ack m2 0-2 release => w1 + w1 start 0 complete 3 [0-2 archived 2]
        ok w1 => NONE
        ack m2 3 accept => w2 + w2 start 3 complete 1 [3 acknowledged 2]
        ok w2 => NONE
        time 100 => 6 + w3 start 4 complete 2 [4-5 archived 2] [6-9 available 1]
        logstart 8 => moved",
    );
    let counters = lab.sp.counters();
    let counted = (
        counters.made_available,
        counters.archived,
        counters.delivery_limit_reached,
        counters.log_start_archived,
    );
    assert_eq!(counted, (10, 7, 5, 2));
}

fn a_lent_write_says_whether_a_member_waits_for_it<S: InFlightStore>() {
    let mut lab = Lab::<S>::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    let batch = AcknowledgeBatch {
        first: 0,
        last: 4,
        types: &[1],
    };
    lab.sp.acknowledge("m1", &[batch], LockTime(0)).unwrap();
    assert!(lab.sp.lend_write().is_some_and(|write| write.is_awaited));
    lab.sp.handle_timeout(LockTime(30_000));
    assert!(lab.sp.lend_write().is_some_and(|write| !write.is_awaited));
    assert!(lab.sp.lend_write().is_none());
}

fn who_asks_for_no_record_changes_none<S: InFlightStore>() {
    play::<S>(
        "init 0 [0-9 available 1] => active
        acquire m1 5-9 at=0 max=0 => nothing
        window => start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1",
    );
}

/// Keeps the first offset of each write.
#[derive(Default)]
struct Firsts(Vec<i64>);

impl InlinePersister for Firsts {
    fn write_state(&mut self, _: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        self.0.push(state.state_batches[0].first_offset);
        KafkaCode::None
    }
}

fn a_write_inside_the_call_comes_after_those_that_wait<S: InFlightStore>() {
    for types in [&[3][..], &[3, 1]] {
        let mut lab = Lab::<S>::new();
        lab.configure(|config| config.dead_letter_queue = true);
        lab.acquire("m1", &Fetch::of(&[(0, 0)])).unwrap();
        lab.now = 1;
        lab.acquire("m2", &Fetch::of(&[(1, 2), (3, 4)])).unwrap();
        let mut persister = Firsts::default();
        for first in [1, 3] {
            let (last, now) = (first + 1, LockTime(30_000));
            let batch = AcknowledgeBatch { first, last, types };
            let settlement = lab
                .sp
                .acknowledge_and_settle("m2", &[batch], now, &mut persister);
            assert_eq!(settlement.unwrap().member_code, KafkaCode::None);
        }
        assert_eq!(persister.0, [0, 1, 3]);
        assert_eq!(lab.sp.dead_letters_to_poll(), 2);
    }
}

fn no_more_locks_run_out_in_one_call_than_configured<S: InFlightStore>() {
    let mut lab = Lab::<S>::new();
    lab.configure(|config| config.max_lock_timeouts_per_call = 2);
    assert_eq!(lab.sp.config().max_lock_timeouts_per_call, 2);
    for first in [0, 10, 20, 30, 40] {
        lab.acquire("m1", &Fetch::of(&[(first, first)])).unwrap();
        lab.now += 1;
    }
    assert!(!lab.sp.store().is_empty());
    assert_eq!(lab.time(60_000), 2);
    assert_eq!(lab.time(60_000), 2);
    assert_eq!(lab.time(60_000), 1);
    assert_eq!(lab.time(60_000), 0);
}

fn a_state_may_begin_at_epoch_and_offset_0<S: InFlightStore>() {
    let mut sp: SharePartition<S> =
        SharePartition::new(key(), 0, ShareGroupConfig::default()).unwrap();
    let mut read = read_result(-1, &[]);
    read.state_epoch = 0;
    assert!(matches!(
        sp.initialize(read),
        Ok(Initialized::NeedsStartOffset(_))
    ));
    assert_eq!(sp.resolve_start_offset(0), Ok(Initialized::Active));
    assert_eq!((sp.state_epoch(), sp.start_offset()), (0, 0));
}

#[test]
fn a_corrupt_state_is_named_by_its_field() {
    for (field, index, text) in [
        (CorruptField::StateEpoch, None, "state_epoch"),
        (CorruptField::StartOffset, None, "start_offset"),
        (
            CorruptField::LastOffset,
            Some(3),
            "state_batches[3].last_offset",
        ),
        (
            CorruptField::Overlap,
            Some(0),
            "state_batches[0].first_offset",
        ),
    ] {
        let value = -7;
        let error = InitializeError::Corrupt {
            field,
            index,
            value,
        };
        assert_eq!(error.to_string(), format!("{text} is -7: corrupt state"));
    }
}

#[test]
fn a_plain_batch_has_no_producer() {
    assert_eq!(FetchedBatch::plain(0, 4).producer_id, -1);
}

fn epochs_and_queues_are_told<S: InFlightStore>() {
    let config = ShareGroupConfig {
        dead_letter_queue: true,
        ..ShareGroupConfig::default()
    };
    let mut sp: SharePartition<S> = SharePartition::new(key(), 7, config).unwrap();
    assert_eq!(sp.initialize(read_result(0, &[])), Ok(Initialized::Active));
    assert_eq!((sp.leader_epoch(), sp.state_epoch()), (7, 3));
    assert_eq!((sp.writes_to_poll(), sp.dead_letters_to_poll()), (0, 0));
    let mut lab = Lab::<S>::new();
    lab.sp = sp;
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    let reject = |sp: &mut SharePartition<S>, first, last| {
        let batch = AcknowledgeBatch {
            first,
            last,
            types: &[3],
        };
        sp.acknowledge("m1", &[batch], LockTime(0)).unwrap();
    };
    for (last, waiting) in [(1, 1), (3, 2), (5, 3)] {
        reject(&mut lab.sp, last - 1, last);
        assert_eq!(lab.sp.writes_to_poll(), waiting);
        assert_eq!(lab.sp.writes_under_way(), waiting);
    }
    for waiting in [2, 1, 0] {
        assert!(lab.sp.poll_write().is_some());
        assert_eq!(lab.sp.writes_to_poll(), waiting);
        assert_eq!(lab.sp.writes_under_way(), 3);
    }
    for token in 0..3 {
        let none = share_state_core::kafka_code::KafkaCode::None;
        lab.sp
            .handle_write_result(WriteToken(token), none, LockTime(0))
            .unwrap();
        assert_eq!(lab.sp.dead_letters_to_poll() as u64, token + 1);
    }
    assert!(lab.sp.poll_dead_letter().is_some());
    assert_eq!(lab.sp.dead_letters_to_poll(), 2);
}

#[test]
fn a_refused_acknowledgement_says_what_is_wrong_and_where() {
    let said = |error: AcknowledgeError| error.to_string();
    for (reason, text) in [
        (RecordStateReason::NotAcquired, "is not acquired"),
        (
            RecordStateReason::OtherMember,
            "is acquired by another member",
        ),
        (RecordStateReason::WriteUnderWay, "has a change under way"),
        (
            RecordStateReason::RenewDisabled,
            "may not be renewed in this group",
        ),
        (RecordStateReason::NotFound, "is not in flight"),
        (
            RecordStateReason::AcknowledgedTwice,
            "is acknowledged twice",
        ),
    ] {
        let (index, offset) = (2, 17);
        let error = AcknowledgeError::InvalidRecordState {
            index,
            offset,
            reason,
        };
        assert_eq!(said(error), format!("batch 2: offset 17 {text}"));
    }
    let (index, first, last) = (1, 5, i64::MAX);
    assert_eq!(
        said(AcknowledgeError::OutOfRange { index, first, last }),
        "batch 1: offsets 5 to 9223372036854775807 are out of range; expected 0 to 9223372036854775806"
    );
    let id = 9;
    assert_eq!(
        said(AcknowledgeError::UnknownType { index, id }),
        "batch 1: acknowledge_type is 9; expected 0 (Gap), 1 (Accept), 2 (Release), 3 (Reject), 4 (Renew)"
    );
    for (status, text) in [
        (Status::Empty, "EMPTY: initialize it first"),
        (
            Status::Initializing,
            "INITIALIZING: its state is being read",
        ),
        (Status::Active, "ACTIVE: it serves members"),
        (
            Status::Failed,
            "FAILED: its state could not be read; make a new share partition",
        ),
        (
            Status::Fenced,
            "FENCED: another leader or state has taken over; make a new share partition",
        ),
    ] {
        assert_eq!(
            said(AcknowledgeError::NotActive(status)),
            format!("the share partition is {text}")
        );
    }
}

on_both_stores!(
    a_renewed_record_is_locked_anew_for_a_full_duration,
    each_counter_counts_its_own,
    epochs_and_queues_are_told,
    what_is_given_back_and_given_up_is_counted,
    a_lent_write_says_whether_a_member_waits_for_it,
    no_more_locks_run_out_in_one_call_than_configured,
    a_state_may_begin_at_epoch_and_offset_0,
    who_asks_for_no_record_changes_none,
    a_write_inside_the_call_comes_after_those_that_wait,
);
