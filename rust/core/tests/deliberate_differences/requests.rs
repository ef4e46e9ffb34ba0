//! V1 to V6: requests and persisted states that Kafka's engine takes, or breaks on, below its RPC layer.

use share_state_core::in_flight::{InFlightQuestions, InFlightStore};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_partition::{
    AbortedTransaction, AcquireError, CorruptField, InitializeError, Status,
};

use crate::common::lab::{Fetch, Lab, batch, read_result};
use crate::common::script::{play, step};
use crate::common::view::everything;

/// m1 holds 0-9; every command is refused as an invalid request by this name, and nothing has changed.
fn refuses<S: InFlightStore>(commands: &[&str], error: &str) {
    let mut lab = play::<S>(
        "init 0 => active
        acquire m1 0-9 => 0-9:1",
    );
    let before = everything(&lab.sp);
    for command in commands {
        assert_eq!(step(&mut lab, command), format!("42 {error}"), "{command}");
        assert_eq!(everything(&lab.sp), before, "{command}");
    }
    assert_eq!(
        step(&mut lab, "ack m1 0-9 accept").split(' ').next(),
        Some("w0")
    );
}

fn v1_ranges_of_a_request_ascend_and_do_not_touch<S: InFlightStore>() {
    refuses::<S>(
        &[
            "ack m1 0-5 accept, 5-9 accept",
            "ack m1 5-9 accept, 0-4 release",
        ],
        "NotAscending",
    );
}

fn v2_a_request_is_checked_whole_before_anything_changes<S: InFlightStore>() {
    refuses::<S>(&["ack m1 0-9 accept accept accept"], "TypeCount");
    // A renewal is a change too: a request that fails after it has renewed nothing.
    play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        time 50 => 0
        ack m1 0-4 renew, 5-12 accept => 42 NotInFlight
        ack m1 0-4 renew, 3-9 accept => 121 AcknowledgedTwice at 3
        ack m2 0-4 renew => 121 OtherMember at 0
        time 100 => 10 + w0 start 0 complete 0 [0-9 available 1]",
    );
}

fn v3_a_corrupt_persisted_state_is_refused_whole<S: InFlightStore>() {
    let cases = [
        (
            0,
            vec![batch(0, 9, 2, 1), batch(5, 14, 2, 1)],
            CorruptField::Overlap,
            Some(1),
            5,
        ),
        (
            0,
            vec![batch(0, 9, 1, 1)],
            CorruptField::DeliveryState,
            Some(0),
            1,
        ),
        (-7, Vec::new(), CorruptField::StartOffset, None, -7),
        (
            0,
            vec![batch(0, 9, 0, -3)],
            CorruptField::DeliveryCount,
            Some(0),
            -3,
        ),
    ];
    for (start_offset, batches, field, index, value) in cases {
        let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
        let error = lab.sp.initialize(read_result(start_offset, &batches));
        let expected = InitializeError::Corrupt {
            field,
            index,
            value,
        };
        assert_eq!(error, Err(expected));
        assert_eq!(lab.sp.status(), Status::Failed);
        assert!(lab.sp.store().is_empty());
    }
    // A count above the limit is no corruption: the limit may have been lowered.
    play::<S>(
        "config limit=2 => ok
        init 0 [0 available 9] => active
        acquire m1 0 => 0:10
        release m1 => 1 + w0 start 0 complete 1 [0 archived 10]",
    );
}

fn v4_a_batch_size_is_positive<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    let before = everything(&lab.sp);
    let transaction = AbortedTransaction {
        producer_id: 1,
        first_offset: 0,
    };
    for batch_size in [0, -1] {
        for aborted in [None, Some(vec![transaction])] {
            let fetch = Fetch {
                batch_size,
                aborted,
                ..Fetch::of(&[(0, 9)])
            };
            let refused = lab.acquire("m1", &fetch);
            assert_eq!(refused, Err(AcquireError::BatchSize { batch_size }));
            assert_eq!(everything(&lab.sp), before);
        }
    }
}

fn v5_more_types_than_offsets_are_refused<S: InFlightStore>() {
    let types = " accept".repeat(4_096);
    refuses::<S>(&[&format!("ack m1 0-9{types}")], "TypeCount");
}

fn v6_negative_and_inverted_ranges_are_refused<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    let before = everything(&lab.sp);
    for (first, last, facts) in [
        (-5, -2, "OutOfRange { index: 0, first: -5, last: -2 }"),
        (-1, 3, "OutOfRange { index: 0, first: -1, last: 3 }"),
        (5, 3, "Inverted { index: 0, first: 5, last: 3 }"),
    ] {
        let error = lab.acknowledge("m1", &[(first, last, &[1])]).unwrap_err();
        assert_eq!(format!("{error:?}"), facts);
        assert_eq!(error.kafka_code() as i16, 42);
        assert_eq!(everything(&lab.sp), before);
    }
}

crate::differences!(both stores:
    V1 v1_ranges_of_a_request_ascend_and_do_not_touch,
    V2 v2_a_request_is_checked_whole_before_anything_changes,
    V3 v3_a_corrupt_persisted_state_is_refused_whole,
    V4 v4_a_batch_size_is_positive,
    V5 v5_more_types_than_offsets_are_refused,
    V6 v6_negative_and_inverted_ranges_are_refused,
);
