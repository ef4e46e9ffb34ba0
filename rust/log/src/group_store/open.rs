//! Making and loading a log of share groups. The order is that of a [`StateStore`](crate::StateStore): lock, meta file,
//! check and replay; only then is anything changed.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use share_state_core::share_group::ShareGroups;
use share_state_wire::group_record::{Decoded, decode};
use share_state_wire::record_batch::{Compression, DecodedBatch};

use super::Inner;
use super::config::GroupStoreConfig;
use crate::checkpoint::{self, LogStarts};
use crate::corrupt::CorruptKind;
use crate::counters::Tally;
use crate::disk::{At, Disk, Held, write_atomically};
use crate::error::OpenError;
use crate::home::{is_unfinished, make_dir, read_meta, read_starts, take_lock, write_meta};
use crate::journal::{Framing, Journal, Rewriting};
use crate::layout::{CHECKPOINT_FILE, GROUP_TOPIC, group_dir};
use crate::mark::Marks;
use crate::meta::{Expected, Meta, Noted, Torn};
use crate::opener::Opener;
use crate::segment_log::{self, Checked, Found, Keep, Loaded, Log, RecordStart, SegmentLog};
use crate::store::Recovery;

/// The log has one partition, in its own directory.
const PARTITION: u32 = 0;

pub(super) fn open(
    disk: Arc<dyn Disk>,
    root: &Path,
    config: &GroupStoreConfig,
) -> Result<Inner, OpenError> {
    config.check().map_err(OpenError::Config)?;
    let empty =
        ShareGroups::new(config.broker.clone()).map_err(|error| OpenError::Config(error.into()))?;
    let dir = root.join(group_dir());
    let (lock, meta) = find_or_make(disk.as_ref(), root, &dir)?;
    let starts = read_starts(disk.as_ref(), &dir, GROUP_TOPIC)?;
    let log = Log {
        disk: disk.as_ref(),
        dir: &dir,
        partition: PARTITION,
        log_start: starts.get(&PARTITION).copied().unwrap_or(0),
        expected: meta
            .as_ref()
            .map_or(Expected::ANYTHING, |meta| meta.expected(PARTITION)),
    };
    let found = segment_log::find(disk.as_ref(), &dir)?;
    let log_bytes = found.segments.iter().map(|(_, length)| length).sum();
    let read = |keep| read(&log, &found, keep, &empty);
    let (groups, mut recovery, checked) =
        match segment_log::load(&log, &found, config.repair, name_of, read)? {
            Loaded::Damaged(damage) => return Err(OpenError::Damaged(vec![damage])),
            Loaded::Passed {
                read: (groups, mut recovery),
                checked,
                repaired,
            } => {
                recovery.repaired.extend(repaired);
                (groups, recovery, checked)
            }
        };
    recovery.torn.extend(checked.torn.clone());
    recovery.note_damaged = meta
        .as_ref()
        .is_some_and(|meta| meta.noted == Noted::Damaged);
    // As in a store of states.
    let marks = meta.and_then(|meta| meta.marks).unwrap_or_else(|| Marks {
        number: disk.new_mark(),
        since: vec![checked.next_offset],
    });
    let framing = Framing {
        compression: Compression::None,
        mark: marks.number,
    };

    // From here on the directory is changed.
    let tally = Arc::new(Tally::default());
    let log = SegmentLog::open(
        Arc::clone(&disk),
        dir.clone(),
        config.segment_bytes,
        config.sync.into(),
        &checked,
        Arc::clone(&tally),
    )?;
    // All of it is on the disk now, so only the policy from here on counts. What a clean close noted goes, durably, before
    // anything is written that it does not know of.
    let meta = Meta {
        partitions: 1,
        torn: Torn::from(config.sync),
        marks: Some(marks.clone()),
        noted: Noted::Ends(vec![checked.end()]),
    };
    write_meta(disk.as_ref(), &dir, &meta)?;
    let journal = Journal::new(
        groups,
        log,
        checked.next_offset,
        config.sync,
        framing,
        Arc::clone(&tally),
        Arc::new(OnceLock::new()),
    )
    .rewritten(
        Rewriting::new(config.rewrite_bytes, log_bytes),
        record_start(Arc::clone(&disk), dir.clone(), meta),
    );
    Ok(Inner {
        disk,
        dir,
        journal,
        marks,
        recovery,
        tally,
        lock,
        opener: Opener::this_process(),
        released: AtomicBool::new(false),
    })
}

/// Notes where a log that was rewritten ends, and then where it begins: without what stood before, less of it would be another
/// state. It is alone in its directory, so it keeps its log start there.
fn record_start(disk: Arc<dyn Disk>, dir: PathBuf, meta: Meta) -> Box<RecordStart> {
    Box::new(move |log_start, end| {
        write_meta(disk.as_ref(), &dir, &meta.with_end(PARTITION, end))?;
        let starts = LogStarts::from([(PARTITION, log_start)]);
        let checkpoint = checkpoint::encode(GROUP_TOPIC, &starts);
        write_atomically(disk.as_ref(), &dir, CHECKPOINT_FILE, &checkpoint)
    })
}

/// Takes the lock and reads the meta file; makes the directory if there is none.
fn find_or_make(
    disk: &dyn Disk,
    root: &Path,
    dir: &Path,
) -> Result<(Box<dyn Held>, Option<Meta>), OpenError> {
    // Looked at first without the lock, whose file would be a change in a directory that is somebody else's.
    if read_meta(disk, dir)?.is_none() {
        check_unused(disk, dir)?;
        make_dir(disk, dir)?;
    }
    let lock = take_lock(disk, dir)?;
    if let Some(meta) = read_meta(disk, dir)? {
        return Ok((lock, Some(meta)));
    }
    check_unused(disk, dir)?;
    disk.sync_dir(dir).at("sync directory", dir)?;
    disk.sync_dir(root).at("sync directory", root)?;
    if let Some(parent) = root.parent() {
        disk.sync_dir(parent).at("sync directory", parent)?;
    }
    Ok((lock, None))
}

/// Refuses a directory that holds anything but what a making that was interrupted leaves: a broker's log, for instance.
fn check_unused(disk: &dyn Disk, dir: &Path) -> Result<(), OpenError> {
    let entries = match disk.list(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.at("list", dir)?,
    };
    if entries.iter().all(is_unfinished) {
        return Ok(());
    }
    Err(OpenError::NotAStore {
        path: dir.to_owned(),
    })
}

/// Checks and replays the log, or what is to stay of it.
fn read(
    log: &Log<'_>,
    found: &Found,
    keep: Option<Keep>,
    empty: &ShareGroups,
) -> Result<((ShareGroups, Recovery), Checked), OpenError> {
    let mut groups = empty.clone();
    let mut recovery = Recovery::default();
    let mut visit = |segment: &Path, position: u64, batch: &DecodedBatch<'_>| {
        recovery.batches += 1;
        if batch.is_control {
            recovery.control_batches += 1;
            return Ok(());
        }
        replay(segment, position, batch, &mut groups, &mut recovery)
    };
    let checked = segment_log::check(log, found, keep, &mut visit)?;
    Ok(((groups, recovery), checked))
}

/// The share group of a record.
fn name_of(key: &[u8]) -> Option<String> {
    match decode(key, None) {
        Ok(Decoded::Record(record)) => Some(record.group.to_string()),
        Ok(Decoded::OtherType(_)) | Err(_) => None,
    }
}

fn replay(
    segment: &Path,
    position: u64,
    batch: &DecodedBatch<'_>,
    groups: &mut ShareGroups,
    recovery: &mut Recovery,
) -> Result<(), OpenError> {
    let corrupt = |kind| OpenError::corrupt(segment, position, kind);
    for record in batch.records() {
        let offset = record.offset;
        let key = record
            .key
            .ok_or_else(|| corrupt(CorruptKind::NullKey { offset }))?;
        match decode(key, record.value) {
            Ok(Decoded::Record(record)) => groups.replay(&record),
            Ok(Decoded::OtherType(_)) => recovery.unknown_types += 1,
            Err(error) => return Err(corrupt(CorruptKind::Record { offset, error })),
        }
        recovery.records += 1;
    }
    Ok(())
}
