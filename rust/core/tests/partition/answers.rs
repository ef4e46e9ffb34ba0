//! Meaning of a write's answer for those around the share partition: the code for the member, the fencing of the
//! leader, and the end in order of a fenced share partition.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use crate::common::lab::{Fetch, Lab};
use crate::common::script::{play, step};
use crate::common::view::window;
use crate::on_both_stores;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{InitializeError, Status};

use KafkaCode as K;

/// The code for the member and whether the leader is fenced (`SharePartition.fetchPersisterError`,
/// `SharePartitionManager.handleFencedSharePartitionException`).
fn meaning(code: KafkaCode) -> (KafkaCode, bool) {
    match code {
        K::None => (K::None, false),
        K::NotCoordinator | K::CoordinatorNotAvailable | K::CoordinatorLoadInProgress => {
            (K::CoordinatorNotAvailable, false)
        }
        K::GroupIdNotFound => (K::GroupIdNotFound, true),
        K::UnknownTopicOrPartition => (K::UnknownTopicOrPartition, true),
        K::FencedLeaderEpoch | K::FencedStateEpoch => (K::NotLeaderOrFollower, true),
        _ => (K::UnknownServerError, false),
    }
}

fn every_code_has_its_meaning_and_every_error_undoes_the_change<S: InFlightStore>() {
    let mut fencing = 0;
    for code in K::ALL.iter().copied() {
        let mut lab: Lab<S> = Lab::new();
        lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
        let held = window(&lab.sp);
        let token = lab.acknowledge("m1", &[(0, 9, &[1])]).unwrap().unwrap();
        let answer = lab.answer(token, code).unwrap();
        assert_eq!(
            (answer.member_code, answer.fences),
            meaning(code),
            "{}",
            code.name()
        );
        fencing += usize::from(answer.fences);
        assert_eq!(window(&lab.sp) == held, code != K::None, "{}", code.name());
        assert_eq!(lab.sp.counters().writes_refused, u64::from(code != K::None));
        let status = if answer.fences {
            Status::Fenced
        } else {
            Status::Active
        };
        assert_eq!(lab.sp.status(), status, "{}", code.name());
    }
    assert_eq!(fencing, 4);
}

fn a_fenced_write_gives_the_records_back_and_a_fenced_share_partition_gives_nothing<S>()
where
    S: InFlightStore,
{
    let mut lab = play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-3 accept => w0 + w0 start 0 complete 4 [0-3 acknowledged 1]
        ack m1 4-6 release => w1 + w1 start 0 complete 4 [4-6 available 1]
        refuse w0 FENCED_LEADER_EPOCH => NOT_LEADER_OR_FOLLOWER fences
        window => start 0 end 9 next 10 length 10 complete 0 \
            | 0-3 acquired 1 m1 | 4-6 available~ 1 | 7-9 acquired 1 m1",
    );
    assert_eq!(lab.sp.status(), Status::Fenced);
    let read = crate::common::lab::read_result(0, &[]);
    let again = lab.sp.initialize(read);
    assert_eq!(again, Err(InitializeError::Status(Status::Fenced)));
    // Writes under way are answered, locks run out, nothing more is given.
    for (command, result) in [
        (
            "refuse w1 FENCED_STATE_EPOCH",
            "NOT_LEADER_OR_FOLLOWER fences",
        ),
        ("acquire m2 0-9,10-14", "5 NotActive(Fenced)"),
        ("time 100", "10 + w2 start 0 complete 0 [0-9 available 1]"),
        ("acquire m2 0-9,10-14", "5 NotActive(Fenced)"),
        (
            "refuse w2 FENCED_STATE_EPOCH",
            "NOT_LEADER_OR_FOLLOWER fences",
        ),
        (
            "window",
            "start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1",
        ),
    ] {
        assert_eq!(step(&mut lab, command), result, "{command}");
    }
    assert!(!lab.sp.acquire_fetch_lock(1));
}

fn the_answer_comes_after_the_member_has_gone<S: InFlightStore>() {
    let gone = "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-4 accept => w0 + w0 start 0 complete 5 [0-4 acknowledged 1]
        release m1 => 5 + w1 start 0 complete 5 [5-9 available 1]\n";
    play::<S>(&format!(
        "{gone}ok w0 => NONE
        ok w1 => NONE
        window => start 5 end 9 next 5 length 5 complete 0 | 0-4 acknowledged 1 | 5-9 available 1
        deadline => none"
    ));
    // Refused: the records go back to a member that is no more there, and leave it with their lock.
    play::<S>(&format!(
        "{gone}ok w1 => NONE
        refuse w0 => COORDINATOR_NOT_AVAILABLE
        window => start 0 end 9 next 5 length 10 complete 0 | 0-4 acquired 1 m1 | 5-9 available 1
        time 100 => 5 + w2 start 0 complete 0 [0-4 available 1]
        acquire m2 0-9 => 0-9:2"
    ));
}

fn a_time_out_is_written_late_and_refused_and_stays<S: InFlightStore>() {
    play::<S>(
        "config lock=100 limit=2 => ok
        init 0 => active
        acquire m1 0-4 => 0-4:1
        time 100 => 5 + w0 start 0 complete 0 [0-4 available 1]
        acquire m2 0-4 => 0-4:2
        ack m2 0-4 accept => w1 + w1 start 0 complete 5 [0-4 acknowledged 2]
        ok w1 => NONE
        window => start 5 end 5 next 5 length 0 complete 0
        refuse w0 => COORDINATOR_NOT_AVAILABLE
        refuse w0 => nothing with token 0 is under way
        window => start 5 end 5 next 5 length 0 complete 0",
    );
}

on_both_stores!(
    every_code_has_its_meaning_and_every_error_undoes_the_change,
    a_fenced_write_gives_the_records_back_and_a_fenced_share_partition_gives_nothing,
    the_answer_comes_after_the_member_has_gone,
    a_time_out_is_written_late_and_refused_and_stays,
);
