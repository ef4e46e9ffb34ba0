//! Power is lost, and any subset of what was not synced with it: pages and names.

use super::{POLICIES, Subject, changes, fresh_seed, history, live};
use crate::disk::sim::{Fault, SimDisk};

/// Cuts the power at every operation, under every policy, and looks at several subsets of what may be left. Returns the number
/// of cuts and of images.
pub(crate) fn each_subset<S: Subject>() -> (u64, u64) {
    let fixed = if changes::asks_for_all() { 200 } else { 2 };
    let (mut cuts, mut images) = (0, 0);
    for sync in POLICIES {
        let history = history::<S>(sync);
        for at in 0.. {
            let disk = SimDisk::default();
            disk.set_fault(Some(Fault::PowerAt(at)));
            let life = live::<S>(&disk, sync);
            if disk.operations() <= at {
                break;
            }
            cuts += 1;
            let fresh = fresh_seed();
            for seed in (0..fixed).chain([fresh, fresh ^ 1]) {
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
