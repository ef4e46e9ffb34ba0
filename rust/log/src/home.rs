//! A directory with one writer: its lock, and its meta file.

use std::path::Path;

use crate::checkpoint::{self, CHECKPOINT_LIMIT, LogStarts};
use crate::corrupt::CorruptKind;
use crate::disk::{
    At, DRAFT_SUFFIX, Disk, Entry, Held, IoFailure, LockFailure, read_small, write_atomically,
};
use crate::error::OpenError;
use crate::layout::{CHECKPOINT_FILE, LOCK_FILE, META_FILE};
use crate::meta::{META_LIMIT, Meta};

/// Takes the directory's lock, without waiting.
pub(crate) fn take_lock(disk: &dyn Disk, root: &Path) -> Result<Box<dyn Held>, OpenError> {
    let path = root.join(LOCK_FILE);
    disk.lock(&path).map_err(|failure| match failure {
        LockFailure::Held { pid } => OpenError::Locked {
            path: path.clone(),
            pid,
        },
        LockFailure::Io(error) => IoFailure::new("lock", &path, &error).into(),
    })
}

/// Makes a directory and what is missing above it, each name durable: what is made below a name that a crash forgets is lost
/// with it.
pub(crate) fn make_dir(disk: &dyn Disk, dir: &Path) -> Result<(), IoFailure> {
    let mut missing = Vec::new();
    for above in dir
        .ancestors()
        .filter(|above| !above.as_os_str().is_empty())
    {
        match disk.list(above) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing.push(above),
            there => {
                there.at("list", above)?;
                break;
            }
        }
    }
    for dir in missing.into_iter().rev() {
        disk.create_dir(dir).at("create", dir)?;
        if let Some(parent) = dir.parent() {
            disk.sync_dir(parent).at("sync directory", parent)?;
        }
    }
    Ok(())
}

/// The content of the meta file; `None` if there is none.
pub(crate) fn read_meta(disk: &dyn Disk, root: &Path) -> Result<Option<Meta>, OpenError> {
    let path = root.join(META_FILE);
    match read_small(disk, &path, META_LIMIT)? {
        None => Ok(None),
        Some(bytes) => match Meta::decode(&bytes) {
            Ok(meta) => Ok(Some(meta)),
            Err(error) => Err(OpenError::Meta { path, error }),
        },
    }
}

pub(crate) fn write_meta(disk: &dyn Disk, root: &Path, meta: &Meta) -> Result<(), IoFailure> {
    write_atomically(disk, root, META_FILE, &meta.encode())
}

/// The log start offsets of a topic's partitions.
pub(crate) fn read_starts(
    disk: &dyn Disk,
    root: &Path,
    topic: &str,
) -> Result<LogStarts, OpenError> {
    let path = root.join(CHECKPOINT_FILE);
    match read_small(disk, &path, CHECKPOINT_LIMIT)? {
        None => Ok(LogStarts::new()),
        Some(bytes) => checkpoint::decode(topic, &bytes)
            .ok_or_else(|| OpenError::corrupt(&path, 0, CorruptKind::Checkpoint)),
    }
}

/// Returns `true` if a file is the leftover of an interrupted creation.
pub(crate) fn is_unfinished(entry: &Entry) -> bool {
    !entry.is_dir
        && (entry.name == LOCK_FILE || entry.name.strip_suffix(DRAFT_SUFFIX) == Some(META_FILE))
}
