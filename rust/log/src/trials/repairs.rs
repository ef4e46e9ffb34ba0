//! An operation of the disk fails, or power is lost, while damage is being cut off.

use std::path::PathBuf;

use super::changes::Change;
use super::{Subject, at_rest, drawn_seed};
use crate::config::SyncPolicy;
use crate::disk::sim::{Fault, Loss, SimDisk};
use crate::error::OpenError;

/// Counts of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Operations of a repair that failed.
    pub faults: u64,
    /// Repairs that failed by them.
    pub failed: u64,
    /// Results of such repairs that were still refused without consent.
    pub refused: u64,
    /// Results that were open, with the state that the repair was to leave.
    pub whole: u64,
}

/// Lets each operation of each repair fail. What is left is refused still, or holds what the repair was to leave; a second repair
/// leaves exactly that, after a power cut as well, and what is confirmed from then on is durable.
pub(crate) fn each_fault<S: Subject>(fault: fn(u64) -> Fault) -> Walked {
    let sync = SyncPolicy::Always;
    let mut walked = Walked::default();
    for disk in at_rest::stores::<S>(sync) {
        for (path, change) in damages(&disk) {
            let damaged = disk.copy();
            damaged.put(&path, &change.applied(&disk.bytes(&path)));
            if S::open(&damaged.copy(), sync, false).is_ok() {
                // In the log of a store that was killed it may be a torn tail.
                continue;
            }
            let to_be = {
                let store = S::open(&damaged.copy(), sync, true).unwrap();
                assert_ne!(store.recovery().repaired, []);
                store.state().unwrap()
            };
            for at in 0.. {
                let image = damaged.copy();
                image.set_fault(Some(fault(at)));
                let opened = S::open(&image, sync, true);
                let came = match fault(at) {
                    Fault::PowerAt(_) | Fault::FailOnce(_) => image.operations() > at,
                    Fault::AnyFailsOnce(_) | Fault::FullFrom(_) => image.asked() > at,
                };
                image.set_fault(None);
                let what = format!("{} {change:?}, {:?}", path.display(), fault(at));
                let is_over = !came;
                match opened {
                    Ok(store) => assert_eq!(store.state().unwrap(), to_be, "{what}"),
                    Err(OpenError::Io(failure)) => {
                        assert!(failure.os_error.is_some() && !is_over, "{what}: {failure}");
                        walked.failed += 1;
                    }
                    Err(other) => panic!("{what}: {other}"),
                }
                if is_over {
                    break;
                }
                walked.faults += 1;
                let cuts = [0, 1, drawn_seed()].map(|seed| (image.after_power_cut(seed), seed));
                for (left, seed) in cuts.into_iter().chain([(image, 0)]) {
                    look_again::<S>(&left, &to_be, &mut walked, &format!("{what}, {seed}"));
                }
            }
        }
    }
    walked
}

/// In every segment a byte is changed, or it is cut.
fn damages(disk: &SimDisk) -> Vec<(PathBuf, Change)> {
    let mut damages = Vec::new();
    for (path, bytes) in disk.files() {
        if path.extension().is_some_and(|extension| extension == "log") {
            let middle = bytes.len() / 2;
            damages.push((path.clone(), Change::Byte(middle, !bytes[middle])));
            damages.push((path, Change::Cut(middle)));
        }
    }
    damages
}

fn look_again<S: Subject>(left: &SimDisk, to_be: &S::State, walked: &mut Walked, what: &str) {
    let sync = SyncPolicy::Always;
    match S::open(&left.copy(), sync, false) {
        Ok(store) => {
            assert_eq!(&store.state().unwrap(), to_be, "{what}");
            walked.whole += 1;
        }
        Err(OpenError::Damaged(_) | OpenError::Corrupt(_)) => walked.refused += 1,
        Err(other) => panic!("{what}: {other}"),
    }
    let store = S::open(left, sync, true).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(&store.state().unwrap(), to_be, "{what}");
    store.one_more().unwrap();
    let more = store.state().unwrap();
    for loss in [Loss::Everything, Loss::Nothing, Loss::Names] {
        let store = S::open(&left.after_crash(loss), sync, false);
        let store = store.unwrap_or_else(|error| panic!("{what}, later {loss:?}: {error}"));
        assert_eq!(store.state().unwrap(), more, "{what}, later {loss:?}");
    }
}
