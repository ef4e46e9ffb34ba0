//! Power is lost, and any subset of what was not synced with it: pages and names.

use super::{Life, POLICIES, Subject, changes, drawn_seed, history, live};
use crate::config::SyncPolicy;
use crate::disk::sim::{Fault, Loss, SimDisk};

/// Lives on a disk that loses power at an operation; `None` when it was not reached.
fn cut_at<S: Subject>(at: u64, sync: SyncPolicy) -> Option<(SimDisk, Life)> {
    let disk = SimDisk::default();
    disk.set_fault(Some(Fault::PowerAt(at)));
    let life = live::<S>(&disk, sync);
    (disk.operations() > at).then_some((disk, life))
}

/// Cuts the power at every operation, under every policy, and looks at several subsets of what may be left. Returns the number
/// of cuts and of images.
pub(crate) fn each_subset<S: Subject>() -> (u64, u64) {
    let fixed = if changes::asks_for_all() { 200 } else { 2 };
    let (mut cuts, mut images) = (0, 0);
    for sync in POLICIES {
        let history = history::<S>(sync);
        for at in 0.. {
            let Some((disk, life)) = cut_at::<S>(at, sync) else {
                break;
            };
            cuts += 1;
            let drawn = drawn_seed();
            for seed in (0..fixed).chain([drawn, drawn ^ 1]) {
                let what = format!("power lost at {at}, seed {seed}, {sync:?}, {life:?}");
                let image = disk.after_power_cut(seed);
                let store = S::open(&image, sync, false);
                let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
                let found = store.state().unwrap();
                assert!(life.allows(&history, &found), "{what}");
                // It goes on from there, and that is as durable.
                store.one_more().unwrap();
                store.flush().unwrap();
                let more = store.state().unwrap();
                let again = S::open(&image.after_power_cut(seed), sync, false);
                let again = again.unwrap_or_else(|error| panic!("{what}, again: {error}"));
                assert_eq!(again.state().unwrap(), more, "{what}");
                images += 2;
            }
        }
    }
    (cuts, images)
}

/// Counts of a walk over the named ways to lose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// Power cuts.
    pub cuts: u64,
    /// Torn tails that were cut off.
    pub torn: usize,
    /// Images that lacked what was confirmed, and was not durable yet.
    pub lost: u64,
}

/// Cuts the power at every operation, and looks at each named way to lose what was not synced. Where only the process was
/// killed nothing that was confirmed is lost, whatever the policy.
pub(crate) fn each_loss<S: Subject>(sync: SyncPolicy) -> Losses {
    let history = history::<S>(sync);
    let mut losses = Losses::default();
    for at in 0.. {
        let Some((disk, life)) = cut_at::<S>(at, sync) else {
            break;
        };
        losses.cuts += 1;
        for loss in Loss::ALL {
            let what = format!("power lost at {at}, {loss:?}, {sync:?}, {life:?}");
            let store = S::open(&disk.after_crash(loss), sync, false);
            let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
            losses.torn += store.recovery().torn.len();
            let found = store.state().unwrap();
            assert!(life.allows(&history, &found), "{what}");
            let survives_a_kill = life.allows_after_a_kill(&history, &found);
            assert!(survives_a_kill || loss != Loss::Nothing, "{what}");
            losses.lost += u64::from(!survives_a_kill);
        }
    }
    losses
}

/// Cuts the power again at every operation of the opening that follows a cut. Returns the number of pairs of cuts.
pub(crate) fn each_recovery<S: Subject>() -> u64 {
    let sync = SyncPolicy::Always;
    let history = history::<S>(sync);
    let mut pairs = 0;
    for at in (0..).step_by(5) {
        let Some((disk, life)) = cut_at::<S>(at, sync) else {
            break;
        };
        for first in Loss::ALL {
            for within in 0.. {
                let image = disk.after_crash(first);
                image.set_fault(Some(Fault::PowerAt(within)));
                let is_open = S::open(&image, sync, false).is_ok();
                if image.operations() <= within {
                    assert!(is_open);
                    break;
                }
                for second in Loss::ALL {
                    let what = format!("power lost at {at} and {within}, {first:?}, {second:?}");
                    let store = S::open(&image.after_crash(second), sync, false);
                    let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let found = store.state().unwrap();
                    assert!(life.allows(&history, &found), "{what}");
                    pairs += 1;
                }
            }
        }
    }
    pairs
}
