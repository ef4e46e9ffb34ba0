//! Every byte of every file is changed, and every file is cut at every length.

use std::path::Path;

use super::changes::{Change, each_change, is_lock, is_meta, names};
use super::{Subject, history};
use crate::config::SyncPolicy;
use crate::corrupt::CorruptKind;
use crate::disk::sim::{Loss, SimDisk};
use crate::error::OpenError;

/// Results of opening the changed stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    /// A typed error that names the place.
    pub refused: usize,
    /// The same state.
    pub unchanged: usize,
    /// A torn tail that was told, where a crash may have left it.
    pub torn: usize,
}

impl Outcomes {
    pub fn cases(self) -> usize {
        self.refused + self.unchanged + self.torn
    }
}

/// A store that was closed, and one whose process was killed, after the whole script.
pub(crate) fn stores<S: Subject>(sync: SyncPolicy) -> [SimDisk; 2] {
    [true, false].map(|is_closed| {
        let disk = SimDisk::default();
        let mut store = S::open(&disk, sync, false).unwrap();
        for number in 0..S::STEPS {
            if number == S::STEPS / 2 {
                store.close().unwrap();
                store = S::open(&disk, sync, false).unwrap();
            }
            store.step(number).unwrap();
        }
        if is_closed {
            store.close().unwrap();
        }
        disk.after_crash(Loss::Nothing)
    })
}

/// Opens each changed store and judges what comes of it.
pub(crate) fn each_byte<S: Subject>(sync: SyncPolicy) -> Outcomes {
    let history = history::<S>(sync);
    let whole = history.last().unwrap();
    let [closed, killed] = stores::<S>(sync);
    let mut outcomes = Outcomes::default();
    for (disk, is_closed) in [(closed, true), (killed, false)] {
        let last_segment = last_segment(&disk);
        each_change(&disk, |image, path, change| {
            let what = format!(
                "{} {change:?}, {sync:?}, closed: {is_closed}",
                path.display()
            );
            match S::open(image, sync, false) {
                Err(error) => {
                    assert!(!is_lock(path), "{what}: {error}");
                    assert_is_told(&error, path, change, &what);
                    outcomes.refused += 1;
                }
                Ok(store) => {
                    let recovery = store.recovery();
                    let found = store.state().unwrap();
                    assert_eq!(recovery.repaired, [], "{what}");
                    assert!(!recovery.note_damaged || is_meta(path), "{what}");
                    let torn = &recovery.torn[..];
                    if torn.is_empty() && found == *whole {
                        outcomes.unchanged += 1;
                        return;
                    }
                    // Only what came after the opening, only at the end, and it is told, unless it ends as if it had never come.
                    assert!(!is_closed && path == last_segment, "{what}");
                    let begins = change.begins() as u64;
                    match torn {
                        [torn] => {
                            assert_eq!(torn.segment, path, "{what}");
                            assert!(torn.position <= begins, "{what}");
                        }
                        _ => assert!(matches!(change, Change::Cut(_)), "{what}: {torn:?}"),
                    }
                    assert!(history.contains(&found), "{what}");
                    if matches!(change, Change::Byte(..)) && sync == SyncPolicy::Always {
                        let before = history.iter().rposition(|state| state != whole);
                        assert_eq!(Some(&found), before.map(|at| &history[at]), "{what}");
                    }
                    outcomes.torn += 1;
                }
            }
        });
    }
    outcomes
}

pub(crate) fn last_segment(disk: &SimDisk) -> std::path::PathBuf {
    let mut segments = disk.files().into_keys();
    segments
        .rfind(|path| path.extension().is_some_and(|e| e == "log"))
        .unwrap()
}

/// A typed error that names the file, and the byte or one before it. A segment that ends early between two batches is missed by
/// the next one.
fn assert_is_told(error: &OpenError, path: &Path, change: Change, what: &str) {
    let corrupt = match error {
        OpenError::Damaged(damages) => &damages[0].corrupt,
        OpenError::Corrupt(corrupt) => corrupt,
        OpenError::Meta { .. } | OpenError::NotAStore { .. } | OpenError::PartitionCount { .. } => {
            assert!(names(&error.to_string(), path), "{what}: {error}");
            return;
        }
        other => panic!("{what}: {other}"),
    };
    if corrupt.segment == path {
        assert!(
            corrupt.position <= change.begins() as u64,
            "{what}: {error}"
        );
        return;
    }
    let is_next = matches!(change, Change::Cut(_))
        && matches!(corrupt.kind, CorruptKind::OffsetGap { .. })
        && corrupt.segment.parent() == path.parent();
    assert!(
        is_next || names(&error.to_string(), path),
        "{what}: {error}"
    );
}
