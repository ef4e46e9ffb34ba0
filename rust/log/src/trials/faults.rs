//! An operation of the disk fails: once, or from then on because there is no room.

use super::{Life, POLICIES, Subject, drawn_seed, history, live};
use crate::config::SyncPolicy;
use crate::disk::sim::{Fault, Loss, SimDisk};

/// Lets each operation fail under each policy. Whatever was confirmed is there afterwards: after a power cut, and for the next
/// process on the same disk. What that process confirms is durable too, though the sync that failed has left pages that look
/// written and are not.
///
/// Returns how many faults there were, and how many lives failed by them.
pub(crate) fn each_fault<S: Subject>(fault: fn(u64) -> Fault) -> (u64, u64) {
    let (mut faults, mut failed) = (0, 0);
    for sync in POLICIES {
        let history = history::<S>(sync);
        for at in 0.. {
            let disk = SimDisk::default();
            disk.set_fault(Some(fault(at)));
            let life = live::<S>(&disk, sync);
            let came = match fault(at) {
                Fault::PowerAt(_) | Fault::FailOnce(_) => disk.operations() > at,
                Fault::AnyFailsOnce(_) | Fault::FullFrom(_) => disk.asked() > at,
            };
            if !came {
                assert_eq!((life.acknowledged, life.failed), (S::STEPS, false));
                break;
            }
            failed += u64::from(life.failed);
            faults += 1;
            disk.set_fault(None);
            let what = format!("{:?}, {sync:?}, {life:?}", fault(at));
            look_again::<S>(&disk, sync, &history, life, &what);
        }
    }
    (faults, failed)
}

fn look_again<S: Subject>(
    disk: &SimDisk,
    sync: SyncPolicy,
    history: &[S::State],
    life: Life,
    what: &str,
) {
    for seed in [0, 1, drawn_seed()] {
        let store = S::open(&disk.after_power_cut(seed), sync, false);
        let store = store.unwrap_or_else(|error| panic!("{what}, power cut {seed}: {error}"));
        let found = store.state().unwrap();
        assert!(life.allows(history, &found), "{what}, power cut {seed}");
    }
    let store = S::open(disk, sync, false).unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = store.state().unwrap();
    assert!(life.allows_after_a_kill(history, &found), "{what}");
    store.one_more().unwrap();
    store.flush().unwrap();
    let more = store.state().unwrap();
    for loss in [Loss::Everything, Loss::Nothing, Loss::Names] {
        let store = S::open(&disk.after_crash(loss), sync, false);
        let store = store.unwrap_or_else(|error| panic!("{what}, later {loss:?}: {error}"));
        assert_eq!(store.state().unwrap(), more, "{what}, later {loss:?}");
    }
}

/// Every read brings a few bytes only: nothing is different.
pub(crate) fn reads_by_little<S: Subject>() {
    for sync in POLICIES {
        let disk = SimDisk::default();
        disk.read_by_little();
        let life = live::<S>(&disk, sync);
        assert_eq!((life.acknowledged, life.failed), (S::STEPS, false));
        let store = S::open(&disk, sync, false).unwrap();
        assert_eq!(store.recovery().torn, []);
        assert_eq!(Some(&store.state().unwrap()), history::<S>(sync).last());
    }
}

/// While one has the store open, another is refused and changes nothing, at every step.
pub(crate) fn two_openers<S: Subject>() -> usize {
    use crate::error::OpenError;
    let disk = SimDisk::default();
    let mut refused = 0;
    let store = S::open(&disk, SyncPolicy::Always, false).unwrap();
    for number in 0..S::STEPS {
        let before = disk.files();
        let second = S::open(&disk, SyncPolicy::Always, number.is_multiple_of(2));
        assert!(matches!(second, Err(OpenError::Locked { .. })), "{number}");
        assert_eq!(disk.files(), before);
        refused += 1;
        store.step(number).unwrap();
    }
    let state = store.state().unwrap();
    store.close().unwrap();
    // The first one has given it up, and closing it again takes nothing from the second.
    let second = S::open(&disk, SyncPolicy::Always, false).unwrap();
    store.close().unwrap();
    drop(store);
    let third = S::open(&disk, SyncPolicy::Always, false);
    assert!(matches!(third, Err(OpenError::Locked { .. })));
    second.one_more().unwrap();
    assert_ne!(second.state().unwrap(), state);
    refused + 1
}
