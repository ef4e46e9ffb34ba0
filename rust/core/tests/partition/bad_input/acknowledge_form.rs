//! Acknowledgements that are malformed, or as large as their sender likes (12 to 19).

use share_state_core::in_flight::{InFlightStore, IntervalStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::MAX_STATE_BATCHES_PER_WRITE;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::AcknowledgeError;
use share_state_core::state_batch::StateBatch;

use super::support::{ACCEPT, Batches, refused, window};
use crate::common::lab::{Fetch, Lab, read_result};
use crate::on_both_stores;

const MAX: i64 = i64::MAX;

/// Every case is refused as malformed (42), with these facts.
fn refuses_all<S: InFlightStore>(lab: &mut Lab<S>, cases: &[(Batches<'_>, &str, &str)]) {
    for (batches, field, facts) in cases {
        let error = refused(lab, "m1", batches);
        assert_eq!(
            (error.field(), format!("{error:?}").as_str()),
            (Some(*field), *facts)
        );
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
        let index = error.index().unwrap();
        assert!(
            error.to_string().contains(&format!("batch {index}")),
            "{error}"
        );
    }
}

fn d2_12_13_18_19_the_ranges_of_an_acknowledgement_ascend_within_the_offsets<S: InFlightStore>() {
    let cases: [(Batches<'_>, &str); 11] = [
        (
            &[(5, 4, ACCEPT)],
            "Inverted { index: 0, first: 5, last: 4 }",
        ),
        (
            &[(0, 1, ACCEPT), (MAX, i64::MIN, ACCEPT)],
            "Inverted { index: 1, first: 9223372036854775807, last: -9223372036854775808 }",
        ),
        (
            &[(5, 9, ACCEPT), (0, 4, ACCEPT)],
            "NotAscending { index: 1, first: 0, previous_last: 9 }",
        ),
        (
            &[(0, 5, ACCEPT), (5, 9, ACCEPT)],
            "NotAscending { index: 1, first: 5, previous_last: 5 }",
        ),
        (
            &[(3, 5, ACCEPT), (2, 9, ACCEPT)],
            "NotAscending { index: 1, first: 2, previous_last: 5 }",
        ),
        (
            &[(-5, -2, ACCEPT)],
            "OutOfRange { index: 0, first: -5, last: -2 }",
        ),
        (
            &[(-1, 4, ACCEPT)],
            "OutOfRange { index: 0, first: -1, last: 4 }",
        ),
        (
            &[(0, MAX, ACCEPT)],
            "OutOfRange { index: 0, first: 0, last: 9223372036854775807 }",
        ),
        (
            &[(0, MAX - 1, ACCEPT)],
            "NotInFlight { index: 0, first: 0, last: 9223372036854775806 }",
        ),
        (
            &[(12, 14, ACCEPT)],
            "NotInFlight { index: 0, first: 12, last: 14 }",
        ),
        (
            &[(25, 40, ACCEPT)],
            "NotInFlight { index: 0, first: 25, last: 40 }",
        ),
    ];
    let cases = cases.map(|(batches, facts)| {
        // Only the last offset can leave the offsets upwards.
        let is_last = facts.contains("last: 9223372036854775807");
        let field = if is_last {
            "last_offset"
        } else {
            "first_offset"
        };
        (batches, field, facts)
    });
    refuses_all(&mut window::<S>(), &cases);
}

fn d2_14_to_16_there_is_one_known_type_or_one_for_every_offset<S: InFlightStore>() {
    let many = vec![1; 4_096];
    let cases: [(Batches<'_>, &str); 10] = [
        (
            &[(0, 9, &[])],
            "TypeCount { index: 0, types: 0, offsets: 10 }",
        ),
        (
            &[(0, 9, &[1, 1, 1])],
            "TypeCount { index: 0, types: 3, offsets: 10 }",
        ),
        (
            &[(0, 9, &many)],
            "TypeCount { index: 0, types: 4096, offsets: 10 }",
        ),
        (
            &[(0, MAX - 1, &[1, 1])],
            "TypeCount { index: 0, types: 2, offsets: 9223372036854775807 }",
        ),
        (&[(0, 4, &[-1])], "UnknownType { index: 0, id: -1 }"),
        (&[(0, 4, &[5])], "UnknownType { index: 0, id: 5 }"),
        (&[(0, 1, &[1, 7])], "UnknownType { index: 0, id: 7 }"),
        (
            &[(0, 1, ACCEPT), (2, 3, &[i8::MIN])],
            "UnknownType { index: 1, id: -128 }",
        ),
        (
            &[(0, 1, ACCEPT), (2, 3, &[i8::MAX])],
            "UnknownType { index: 1, id: 127 }",
        ),
        (
            &[(0, 0, &[1, 1])],
            "TypeCount { index: 0, types: 2, offsets: 1 }",
        ),
    ];
    let cases = cases.map(|(batches, facts)| (batches, "acknowledge_type", facts));
    refuses_all(&mut window::<S>(), &cases);
    // The number of offsets does not overflow where the whole space of offsets is asked for: the range is refused before.
    for first in [-1, i64::MIN] {
        let error = refused(&mut window::<S>(), "m1", &[(first, MAX, &[1, 1])]);
        let expected = AcknowledgeError::OutOfRange {
            index: 0,
            first,
            last: MAX,
        };
        assert_eq!(error, expected);
    }
}

fn d2_17_a_million_types_are_weighed_against_the_range_and_the_window<S: InFlightStore>() {
    let mut lab = window::<S>();
    let types = vec![1; 1_000_000];
    let too_long: Batches<'_> = &[(0, 999_999, &types)];
    let too_many: Batches<'_> = &[(0, 9, &types)];
    refuses_all(
        &mut lab,
        &[
            (
                too_long,
                "first_offset",
                "NotInFlight { index: 0, first: 0, last: 999999 }",
            ),
            (
                too_many,
                "acknowledge_type",
                "TypeCount { index: 0, types: 1000000, offsets: 10 }",
            ),
        ],
    );
}

fn d2_17_a_million_batches_cost_no_more_than_reading_them<S: InFlightStore>() {
    let mut lab = window::<S>();
    let batches: Vec<(i64, i64, &[i8])> = (0..1_000_000).map(|i| (2 * i, 2 * i, ACCEPT)).collect();
    let error = refused(&mut lab, "m1", &batches);
    assert_eq!(
        error,
        AcknowledgeError::NotInFlight {
            index: 5,
            first: 10,
            last: 10
        }
    );
    let mut last_is_bad = batches;
    last_is_bad.push((0, 0, ACCEPT));
    let error = refused(&mut lab, "m1", &last_is_bad);
    assert_eq!(
        (error.index(), error.field()),
        (Some(1_000_000), Some("first_offset"))
    );
}

/// Over the tree alone: the twin looks at every offset for every question.
#[test]
fn d2_17_a_request_whose_write_would_be_too_large_is_refused_whole() {
    let records = 2 * MAX_STATE_BATCHES_PER_WRITE;
    let last = records as i64 - 1;
    let mut lab: Lab<IntervalStore> = Lab::empty(ShareGroupConfig::default());
    lab.configure(|config| config.partition_max_record_locks = 200_000);
    lab.initialize(&read_result(0, &[]));
    let everything_fetched = Fetch {
        max_records: i32::MAX,
        ..Fetch::of(&[(0, last)])
    };
    lab.acquire("m1", &everything_fetched).unwrap();
    let types: Vec<i8> = (0..records).map(|i| 1 + (i % 2) as i8).collect();
    let error = refused(&mut lab, "m1", &[(0, last, &types)]);
    let expected = AcknowledgeError::TooManyStateBatches {
        asked: records,
        allowed: MAX_STATE_BATCHES_PER_WRITE,
    };
    assert_eq!(error, expected);
    assert_eq!(
        (error.kafka_code(), error.field()),
        (KafkaCode::InvalidRequest, None)
    );
}

/// A single type for a single range may still be as many state batches as there are delivery counts in turn.
#[test]
fn d2_17_a_range_of_one_type_whose_write_would_be_too_large_is_refused_whole() {
    let records = MAX_STATE_BATCHES_PER_WRITE + 1;
    let batches: Vec<_> = (0..records as i64)
        .map(|i| StateBatch {
            first_offset: i,
            last_offset: i,
            delivery_state: RecordState::Available.id(),
            delivery_count: 1 + (i % 2) as i16,
        })
        .collect();
    let mut lab: Lab<IntervalStore> = Lab::empty(ShareGroupConfig::default());
    lab.configure(|config| config.partition_max_record_locks = 200_000);
    lab.initialize(&read_result(0, &batches));
    let last = records as i64 - 1;
    let everything_fetched = Fetch {
        max_records: i32::MAX,
        ..Fetch::of(&[(0, last)])
    };
    while lab.sp.next_fetch_offset() <= last {
        lab.acquire("m1", &everything_fetched).unwrap();
    }
    let error = refused(&mut lab, "m1", &[(0, last, ACCEPT)]);
    let expected = AcknowledgeError::TooManyStateBatches {
        asked: records,
        allowed: MAX_STATE_BATCHES_PER_WRITE,
    };
    assert_eq!(error, expected);
}

on_both_stores!(
    d2_12_13_18_19_the_ranges_of_an_acknowledgement_ascend_within_the_offsets,
    d2_14_to_16_there_is_one_known_type_or_one_for_every_offset,
    d2_17_a_million_types_are_weighed_against_the_range_and_the_window,
    d2_17_a_million_batches_cost_no_more_than_reading_them,
);
