//! S1 to S9: rules of share_state itself, where Kafka's follow from its threads, timers and RPC layer.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::MAX_STATE_BATCHES_PER_WRITE;
use share_state_core::share_partition::{AcknowledgeError, AcquireError, Status};

use crate::common::lab::{Fetch, Lab, batch};
use crate::common::script::{play, step};
use crate::common::view::everything;

fn s1_a_lock_ends_at_its_deadline<S: InFlightStore>() {
    play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        time 99 => 0
        time 100 => 10 + w0 start 0 complete 0 [0-9 available 1]",
    );
    // Also without a timer: the command that comes at the deadline comes too late.
    let mut lab = play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1",
    );
    lab.now = 100;
    let late = lab.acknowledge("m1", &[(0, 9, &[1])]);
    assert!(matches!(
        late,
        Err(AcknowledgeError::InvalidRecordState { offset: 0, .. })
    ));
}

fn s2_all_locks_that_are_due_make_one_write<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    for first in 0..50 {
        lab.acquire("m1", &Fetch::of(&[(first, first)])).unwrap();
    }
    assert_eq!(lab.time(30_000), 50);
    assert_eq!(lab.writes.len(), 1);
    assert_eq!(lab.writes[&0].state_batches, [batch(0, 49, 0, 1)]);
}

fn s3_a_fetch_frees_only_the_fetch_lock_that_it_took<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    assert!(lab.sp.acquire_fetch_lock(1));
    assert!(!lab.sp.acquire_fetch_lock(2));
    assert!(!lab.sp.release_fetch_lock(2));
    assert!(!lab.sp.acquire_fetch_lock(2), "the first fetch still reads");
    assert!(lab.sp.release_fetch_lock(1));
    assert!(!lab.sp.release_fetch_lock(1));
    assert!(lab.sp.acquire_fetch_lock(2));
}

fn s4_nobody_is_no_member<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    let before = everything(&lab.sp);
    let fetch = Fetch::of(&[(0, 9)]);
    assert_eq!(lab.acquire("", &fetch), Err(AcquireError::EmptyMemberId));
    let acknowledged = lab.acknowledge("", &[(0, 9, &[1])]);
    assert_eq!(acknowledged, Err(AcknowledgeError::EmptyMemberId));
    assert_eq!(lab.release(""), 0);
    assert_eq!(everything(&lab.sp), before);
}

fn s5_a_write_has_a_greatest_size<S: InFlightStore>() {
    // A window as wide as a group may ask for fits into one write, however it is cut.
    let widest = share_state_core::limits::PARTITION_MAX_RECORD_LOCKS
        .broker_max
        .max;
    assert!(MAX_STATE_BATCHES_PER_WRITE as i64 >= 2 * widest);
    let mut lab: Lab<S> = Lab::new();
    let records = MAX_STATE_BATCHES_PER_WRITE + 1;
    let last = records as i64 - 1;
    lab.acquire("m1", &Fetch::of(&[(0, last)])).unwrap();
    let before = everything(&lab.sp);
    let types: Vec<i8> = (0..records).map(|i| 1 + (i % 2) as i8).collect();
    let refused = lab.acknowledge("m1", &[(0, last, &types)]);
    let expected = AcknowledgeError::TooManyStateBatches {
        asked: records,
        allowed: MAX_STATE_BATCHES_PER_WRITE,
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(everything(&lab.sp), before);
}

fn s6_a_full_window_in_which_all_is_done_is_emptied<S: InFlightStore>() {
    let lab = play::<S>(
        "config locks=10 lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-9 release => w0 + w0 start 0 complete 0 [0-9 available 1]
        ok w0 => NONE
        acquire m1 10-14 at=0 => nothing
        window => start 10 end 10 next 10 length 0 complete 0
        acquire m1 10-14 => 10-14:1
        window => start 10 end 14 next 15 length 5 complete 0 | 10-14 acquired 1 m1",
    );
    assert!(lab.sp.can_acquire());
    // What the start offset has passed takes no room, even in the smallest window.
    play::<S>(
        "config locks=1 => ok
        init 0 => active
        acquire m1 0 => 0:1
        logstart 12 => moved
        acquire m2 14 at=12 => 14:1",
    );
    // Aborted records that fill the gap of a new leader are done when they come, and nothing else is left to wait for.
    let lab = play::<S>(
        "config locks=7 => ok
        init 0 [3-9 archived 1] => active
        acquire m1 0-2t2 at=0 aborted=2@0 => nothing
        window => start 10 end 10 next 10 length 0 complete 0",
    );
    assert!(lab.sp.can_acquire());
}

fn s7_a_gap_that_was_read_in_vain_is_passed<S: InFlightStore>() {
    // A full window, of which nothing is left.
    play::<S>(
        "config locks=6 => ok
        init 0 [1-6 archived 1] => active
        window => start 0 end 6 next 0 length 7 complete 6 | 1-6 archived 1
        acquire m1 1-6,7-9 at=0 => nothing
        window => start 7 end 7 next 7 length 0 complete 0
        acquire m1 7-9 => 7-9:1",
    );
    // With room in the window too: what is available after the gap is reached by fetches that bring one batch.
    play::<S>(
        "init 0 [2-5 acknowledged 1] [6-9 available 1] [12-13 archived 1] => active
        window => start 0 end 13 next 0 length 14 complete 6 \
            | 2-5 acknowledged 1 | 6-9 available 1 | 12-13 archived 1
        acquire m1 2-5 at=0 => nothing
        window => start 6 end 13 next 6 length 8 complete 2 | 6-9 available 1 | 12-13 archived 1
        acquire m1 6-9 => 6-9:2
        window => start 6 end 13 next 10 length 8 complete 2 | 6-9 acquired 2 m1 | 12-13 archived 1
        acquire m1 12-13 at=10 => nothing
        window => start 6 end 13 next 14 length 8 complete 2 | 6-9 acquired 2 m1 | 12-13 archived 1",
    );
    // A fetch that begins after the hole does not tell what is in it; one that ends before it opens no gap again.
    play::<S>(
        "init 0 [0-3 available 1] [6-9 acknowledged 1] [12-13 acknowledged 1] => active
        acquire m1 0-3 => 0-3:2
        window => start 0 end 13 next 4 length 14 complete 6 \
            | 0-3 acquired 2 m1 | 6-9 acknowledged 1 | 12-13 acknowledged 1
        acquire m2 6-9 at=6 => nothing
        window => start 0 end 13 next 4 length 14 complete 6 \
            | 0-3 acquired 2 m1 | 6-9 acknowledged 1 | 12-13 acknowledged 1
        acquire m2 6-9 at=4 => nothing
        acquire m2 0-3 => nothing
        window => start 0 end 13 next 10 length 14 complete 6 \
            | 0-3 acquired 2 m1 | 6-9 acknowledged 1 | 12-13 acknowledged 1
        acquire m2 10-11 => 10-11:1",
    );
}

fn s8_the_start_offset_passes_what_is_done_at_once<S: InFlightStore>() {
    // Records of an aborted transaction at the front of the window are passed with the fetch that brought them.
    play::<S>(
        "config locks=8 => ok
        init 0 => active
        acquire m1 4-5t2,6-7 at=0 aborted=2@4 => 6-7:1
        window => start 6 end 7 next 8 length 2 complete 0 | 4-5 archived 1 | 6-7 acquired 1 m1
        ack m1 4-6 accept => w0 + w0 start 6 complete 1 [6 acknowledged 1]
        acquire m1 8-13 => 8-13:1",
    );
}

fn s9_a_share_partition_that_does_not_serve_says_so<S: InFlightStore>() {
    let refuses = |lab: &mut Lab<S>, status: Status| {
        let before = everything(&lab.sp);
        assert_eq!(lab.sp.status(), status);
        assert!(!lab.sp.can_acquire());
        let code = if status == Status::Failed { -1 } else { 5 };
        for command in ["acquire m1 0-9", "ack m1 0-9 accept"] {
            assert_eq!(step(lab, command), format!("{code} NotActive({status:?})"));
        }
        assert_eq!(everything(&lab.sp), before);
    };
    let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
    refuses(&mut lab, Status::Empty);
    lab.sp.begin_initialize().unwrap();
    refuses(&mut lab, Status::Initializing);
    lab.sp.initialize_failed(KafkaCode::NotCoordinator);
    refuses(&mut lab, Status::Failed);
    let mut lab: Lab<S> = Lab::new();
    assert!(lab.sp.can_acquire());
    lab.sp.fence();
    refuses(&mut lab, Status::Fenced);
    // The first code is an error that may pass.
    for (code, fences) in [
        ("COORDINATOR_NOT_AVAILABLE", false),
        ("FENCED_LEADER_EPOCH", true),
        ("FENCED_STATE_EPOCH", true),
        ("GROUP_ID_NOT_FOUND", true),
        ("UNKNOWN_TOPIC_OR_PARTITION", true),
    ] {
        let mut lab = play::<S>(
            "init 0 => active
            acquire m1 0-9 => 0-9:1
            ack m1 0-4 accept => w0 + w0 start 0 complete 5 [0-4 acknowledged 1]",
        );
        let answer = step(&mut lab, &format!("refuse w0 {code}"));
        assert_eq!(answer.ends_with("fences"), fences, "{code}");
        if fences {
            refuses(&mut lab, Status::Fenced);
        } else {
            assert_eq!(lab.sp.status(), Status::Active, "{code}");
        }
    }
}

crate::differences!(both stores:
    S1 s1_a_lock_ends_at_its_deadline,
    S2 s2_all_locks_that_are_due_make_one_write,
    S3 s3_a_fetch_frees_only_the_fetch_lock_that_it_took,
    S4 s4_nobody_is_no_member,
    S5 s5_a_write_has_a_greatest_size,
    S6 s6_a_full_window_in_which_all_is_done_is_emptied,
    S7 s7_a_gap_that_was_read_in_vain_is_passed,
    S8 s8_the_start_offset_passes_what_is_done_at_once,
    S9 s9_a_share_partition_that_does_not_serve_says_so,
);
