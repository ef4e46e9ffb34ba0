//! The tests that every store has to pass, once for each.

/// Makes the tests of all walks for a [`Subject`](super::Subject).
macro_rules! walks {
    ($store:ty) => {
        #[test]
        fn an_error_at_any_operation_loses_nothing_that_was_confirmed() {
            $crate::trials::walks::each_fault::<$store>(Fault::AnyFailsOnce, 300);
        }

        #[test]
        fn a_sync_that_fails_once_is_not_trusted_afterwards() {
            $crate::trials::walks::each_fault::<$store>(Fault::FailOnce, 200);
        }

        #[test]
        fn a_disk_that_fills_up_at_any_operation_loses_nothing_that_was_confirmed() {
            $crate::trials::walks::each_fault::<$store>(Fault::FullFrom, 300);
        }

        #[test]
        fn a_repair_in_which_an_operation_fails_can_be_made_again() {
            $crate::trials::walks::each_repair::<$store>();
        }

        #[test]
        fn any_subset_of_what_was_not_synced_may_be_lost() {
            $crate::trials::walks::each_subset::<$store>();
        }

        #[test]
        fn what_was_confirmed_survives_each_named_loss() {
            $crate::trials::walks::each_loss::<$store>();
        }

        #[test]
        fn recovery_survives_power_cuts_of_its_own() {
            $crate::trials::walks::each_recovery::<$store>();
        }

        #[test]
        fn reads_may_bring_little() {
            $crate::trials::faults::reads_by_little::<$store>();
        }

        #[test]
        fn a_second_opener_is_refused_at_every_step() {
            let refused = $crate::trials::faults::two_openers::<$store>();
            assert_eq!(refused, <$store as Subject>::STEPS + 1);
        }

        #[test]
        fn every_changed_byte_at_rest_is_refused_or_changes_no_answer() {
            $crate::trials::walks::each_byte::<$store>();
        }
    };
}

pub(crate) use walks;

use super::{POLICIES, Subject, at_rest, faults, power, repairs};
use crate::config::SyncPolicy;
use crate::disk::sim::Fault;

pub(crate) fn each_fault<S: Subject>(fault: fn(u64) -> Fault, least: u64) {
    let (faults, failed) = faults::each_fault::<S>(fault);
    println!("{faults} faults, {failed} failed");
    assert!(
        faults > least && failed > least,
        "{faults} faults, {failed} failed"
    );
}

pub(crate) fn each_repair<S: Subject>() {
    for fault in [
        Fault::AnyFailsOnce,
        Fault::FailOnce,
        Fault::FullFrom,
        Fault::PowerAt,
    ] {
        let walked = repairs::each_fault::<S>(fault);
        println!("repairs, {:?} and later: {walked:?}", fault(0));
        assert!(walked.failed > 50, "{walked:?}");
        assert!(walked.refused > 100 && walked.whole > 20, "{walked:?}");
    }
}

pub(crate) fn each_subset<S: Subject>() {
    let (cuts, images) = power::each_subset::<S>();
    println!("{cuts} power cuts, {images} images");
    assert!(cuts > 200 && images > 1500, "{cuts} cuts, {images} images");
}

pub(crate) fn each_loss<S: Subject>() {
    for sync in POLICIES {
        let losses = power::each_loss::<S>(sync);
        println!("named losses, {sync:?}: {losses:?}");
        assert!(losses.cuts > 40 && losses.torn > 20, "{losses:?}");
        let is_weaker = sync != SyncPolicy::Always;
        assert_eq!(losses.lost > 0, is_weaker, "{sync:?}: {losses:?}");
    }
}

pub(crate) fn each_recovery<S: Subject>() {
    let pairs = power::each_recovery::<S>();
    println!("{pairs} pairs of power cuts");
    assert!(pairs > 1000, "{pairs} pairs of power cuts");
}

pub(crate) fn each_byte<S: Subject>() {
    let mut cases = 0;
    for sync in [SyncPolicy::Always, SyncPolicy::Never] {
        let outcomes = at_rest::each_byte::<S>(sync);
        println!("changed at rest, {sync:?}: {outcomes:?}");
        assert!(outcomes.refused > 4_000, "{outcomes:?}");
        assert!(
            outcomes.unchanged > 20 && outcomes.torn > 20,
            "{outcomes:?}"
        );
        cases += outcomes.cases();
    }
    assert!(cases > 10_000, "{cases}");
}
