//! Disks that lie, at rest: every byte of every file of a small store is changed, every file is cut at every length, and files
//! are put in the place of others. What opens or reads such a directory says where it is wrong, or its answer is the same.
//!
//! Each byte is changed in one way. With `SHARE_STATE_ALL_BYTES=1` it is changed in ten: each of its bits, all of them, and to
//! zero.

use std::path::{Path, PathBuf};

use crate::disk::sim::SimDisk;
use crate::layout::{LOCK_FILE, META_FILE};

/// Change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// This byte is another one.
    Byte(usize, u8),
    /// The file ends here.
    Cut(usize),
}

impl Change {
    /// The first byte that is not as it was.
    pub fn begins(self) -> usize {
        match self {
            Self::Byte(at, _) | Self::Cut(at) => at,
        }
    }

    pub fn applied(self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        match self {
            Self::Byte(at, byte) => changed[at] = byte,
            Self::Cut(at) => changed.truncate(at),
        }
        changed
    }
}

pub(crate) fn asks_for_all() -> bool {
    std::env::var_os("SHARE_STATE_ALL_BYTES").is_some_and(|value| value == "1")
}

/// The changes of the bytes of a file.
pub(crate) fn flips(bytes: &[u8]) -> Vec<Change> {
    let all = asks_for_all();
    let mut changes = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        let mut others: Vec<u8> = if all {
            let bits = (0..8).map(|bit| byte ^ (1 << bit));
            bits.chain([!byte, 0]).collect()
        } else {
            // One bit each, all of them, or none.
            let ways = [byte ^ 1, byte ^ 0x80, !byte, 0];
            vec![ways[at % ways.len()]]
        };
        // A byte that is zero already is changed nevertheless.
        others.iter_mut().for_each(|other| {
            if other == byte {
                *other ^= 0x20;
            }
        });
        others.sort_unstable();
        others.dedup();
        changes.extend(others.into_iter().map(|other| Change::Byte(at, other)));
    }
    changes
}

/// The changes of a file: of its bytes, and of its length.
pub(crate) fn changes(bytes: &[u8]) -> Vec<Change> {
    let mut changes = flips(bytes);
    changes.extend((0..bytes.len()).map(Change::Cut));
    changes
}

/// Every change of every file of a disk, each on a copy.
pub(crate) fn each_change(disk: &SimDisk, mut look: impl FnMut(&SimDisk, &Path, Change)) -> usize {
    let mut cases = 0;
    for (path, bytes) in disk.files() {
        for change in changes(&bytes) {
            let image = disk.copy();
            image.put(&path, &change.applied(&bytes));
            look(&image, &path, change);
            cases += 1;
        }
    }
    cases
}

/// Returns `true` if a text names a file, or its directory for a file that is about other files.
pub(crate) fn names(text: &str, path: &Path) -> bool {
    let is_about_others = path.extension().is_none_or(|e| e != "log");
    let mut places: Vec<PathBuf> = vec![path.to_owned()];
    if is_about_others {
        places.extend(path.parent().map(Path::to_owned));
    }
    places
        .iter()
        .any(|place| text.contains(&place.display().to_string()))
}

/// Returns `true` if nobody's answer can depend on what is in a file.
pub(crate) fn is_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == LOCK_FILE)
}

pub(crate) fn is_meta(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == META_FILE)
}
