//! Acknowledgements of records that the member does not hold (20 to 24), and renewals that the group does not allow (16).

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{AcknowledgeError, RecordStateReason};

use super::support::{ACCEPT, Batches, refused, window};
use crate::common::lab::{Fetch, Lab};
use crate::common::view::everything;
use crate::on_both_stores;

fn d2_16_renewal_that_the_group_does_not_allow_is_refused_by_the_records_state<S: InFlightStore>() {
    let mut lab = window::<S>();
    lab.configure(|config| config.renew_acknowledge_enable = false);
    for types in [[4].as_slice(), &[1, 4, 1, 1, 1]] {
        let error = refused(&mut lab, "m1", &[(0, 4, types)]);
        let expected = AcknowledgeError::InvalidRecordState {
            index: 0,
            offset: 0,
            reason: RecordStateReason::RenewDisabled,
        };
        assert_eq!(error, expected);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRecordState);
    }
}

fn d2_20_what_the_member_does_not_hold_is_refused_by_the_records_state<S: InFlightStore>() {
    use RecordStateReason as R;
    let mut lab = window::<S>();
    let cases: [(&str, Batches<'_>, usize, i64, R); 6] = [
        ("m2", &[(0, 4, ACCEPT)], 0, 0, R::OtherMember),
        ("m1", &[(0, 29, ACCEPT)], 0, 20, R::OtherMember),
        ("nobody", &[(0, 4, ACCEPT)], 0, 0, R::OtherMember),
        ("m1", &[(32, 33, ACCEPT)], 0, 32, R::WriteUnderWay),
        ("m1", &[(36, 39, ACCEPT)], 0, 36, R::NotAcquired),
        (
            "m1",
            &[(0, 4, ACCEPT), (3, 9, ACCEPT)],
            1,
            3,
            R::AcknowledgedTwice,
        ),
    ];
    for (member, batches, index, offset, reason) in cases {
        let error = refused(&mut lab, member, batches);
        let expected = AcknowledgeError::InvalidRecordState {
            index,
            offset,
            reason,
        };
        assert_eq!(error, expected);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRecordState);
        assert!(error.to_string().contains(reason.text()));
    }
    // Nothing is in flight at or before the range.
    let error = refused(&mut Lab::<S>::new(), "m1", &[(3, 4, ACCEPT)]);
    let expected = AcknowledgeError::InvalidRecordState {
        index: 0,
        offset: 3,
        reason: R::NotFound,
    };
    assert_eq!(error, expected);
}

fn d2_20_the_same_acknowledgement_again_is_refused_before_and_after_its_write<S: InFlightStore>() {
    let reason = |error| match error {
        AcknowledgeError::InvalidRecordState { reason, .. } => Some(reason),
        _ => None,
    };
    for types in [ACCEPT, &[2]] {
        let mut lab: Lab<S> = Lab::new();
        lab.acquire("m1", &Fetch::of(&[(0, 9), (10, 19)])).unwrap();
        let token = lab.acknowledge("m1", &[(0, 9, types)]).unwrap().unwrap();
        let error = refused(&mut lab, "m1", &[(0, 9, types)]);
        assert_eq!(reason(error), Some(RecordStateReason::WriteUnderWay));
        lab.answer(token, KafkaCode::None).unwrap();
        let before = everything(&lab.sp);
        let again = lab.acknowledge("m1", &[(0, 9, types)]);
        assert_eq!(everything(&lab.sp), before);
        match again {
            // Accepted: the start offset has passed the records, so the repetition is ignored.
            Ok(token) => assert_eq!((types, token), (ACCEPT, None)),
            Err(error) => assert_eq!(reason(error), Some(RecordStateReason::NotAcquired)),
        }
    }
}

fn d2_21_one_bad_batch_of_a_thousand_refuses_them_all<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 1_997)])).unwrap();
    let mut batches: Vec<(i64, i64, &[i8])> = (0..999).map(|i| (2 * i, 2 * i, ACCEPT)).collect();
    batches.push((1_998, 1_998, ACCEPT));
    let error = refused(&mut lab, "m1", &batches);
    assert_eq!(error.index(), Some(999));
    batches.pop();
    assert_eq!(lab.acknowledge("m1", &batches), Ok(Some(0)));
}

fn d2_22_below_the_start_offset_is_ignored_whoever_says_it<S: InFlightStore>() {
    let mut lab = window::<S>();
    assert!(lab.move_log_start(25));
    let before = everything(&lab.sp);
    for member in ["m1", "m2", "nobody"] {
        let batches: Batches<'_> = &[(0, 9, ACCEPT), (12, 24, &[3])];
        assert_eq!(lab.acknowledge(member, batches), Ok(None));
    }
    assert_eq!(everything(&lab.sp), before);
}

fn d2_23_a_lock_that_is_due_has_run_out_before_the_acknowledgement_comes<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    lab.now = 29_999;
    lab.acknowledge("m1", &[(0, 0, ACCEPT)]).unwrap().unwrap();
    lab.now = 30_000;
    let error = lab.acknowledge("m1", &[(1, 9, ACCEPT)]).unwrap_err();
    let expected = AcknowledgeError::InvalidRecordState {
        index: 0,
        offset: 1,
        reason: RecordStateReason::NotAcquired,
    };
    assert_eq!(error, expected);
    // The session has ended: whether its write is answered or not, the member has no say any more.
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    assert_eq!(lab.release("m1"), 10);
    for _ in 0..2 {
        let error = refused(&mut lab, "m1", &[(0, 9, ACCEPT)]);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRecordState);
        let _ = lab.answer(0, KafkaCode::None);
    }
}

fn d2_24_nobody_is_no_member<S: InFlightStore>() {
    let mut lab = window::<S>();
    let error = refused(&mut lab, "", &[(35, 39, ACCEPT)]);
    assert_eq!(error, AcknowledgeError::EmptyMemberId);
    assert_eq!((error.field(), error.index()), (Some("member"), None));
    let before = everything(&lab.sp);
    assert_eq!((lab.release(""), lab.release("nobody")), (0, 0));
    let error = lab.acquire("", &Fetch::of(&[(35, 39)])).unwrap_err();
    assert_eq!(error.field(), Some("member"));
    assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
    assert_eq!(everything(&lab.sp), before);
}

on_both_stores!(
    d2_16_renewal_that_the_group_does_not_allow_is_refused_by_the_records_state,
    d2_20_what_the_member_does_not_hold_is_refused_by_the_records_state,
    d2_20_the_same_acknowledgement_again_is_refused_before_and_after_its_write,
    d2_21_one_bad_batch_of_a_thousand_refuses_them_all,
    d2_22_below_the_start_offset_is_ignored_whoever_says_it,
    d2_23_a_lock_that_is_due_has_run_out_before_the_acknowledgement_comes,
    d2_24_nobody_is_no_member,
);
