//! Making and loading a store.
//!
//! Order of making: directories, their names synced, then the meta file, whose presence says that the rest is there.
//! Order of loading: lock, meta file, check and replay of every partition; only then is anything changed: torn tails are
//! cut, the meta file notes what the sync policy may tear from now on, and the store takes requests.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use share_state_core::coordinator::ShareCoordinator;
use share_state_wire::record_batch::DecodedBatch;
use share_state_wire::state_record::{RecordDecoder, Seen};

use super::config::StoreConfig;
use super::error::OpenError;
use super::progress::Progress;
use super::state_partition::StatePartition;
use crate::checkpoint::LogStarts;
use crate::corrupt::{CorruptKind, CorruptLog, TornTail};
use crate::counters::Tally;
use crate::disk::{At, Disk, Held, IoFailure};
use crate::home::{is_unfinished, read_meta, read_starts, take_lock, write_meta};
use crate::layout::{META_FILE, STATE_TOPIC, group_dir, parse_partition_dir, partition_dir};
use crate::meta::{Meta, Torn};
use crate::segment_log::{self, Checked, SegmentLog};

/// What opening found and made good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Records replayed.
    pub records: u64,
    /// Record batches read.
    pub batches: u64,
    /// Records of types that this release does not know, passed over as Kafka does.
    pub unknown_types: u64,
    /// Batches of markers, passed over.
    pub control_batches: u64,
    /// Unfinished batches that were cut off; no answer had been given for them, unless the sync policy allowed it.
    pub torn: Vec<TornTail>,
}

/// An opened store, in parts.
pub(super) struct Opened {
    pub lock: Box<dyn Held>,
    pub partitions: Vec<StatePartition>,
    pub starts: LogStarts,
    pub recovery: Recovery,
    pub tally: Arc<Tally>,
}

/// Tells how far a load is; [`ControlFlow::Break`] ends it.
pub(super) type OnProgress<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Bytes between two calls of the progress callback.
const PROGRESS_BYTES: u64 = 1 << 20;

pub(super) fn open(
    disk: &Arc<dyn Disk>,
    root: &Path,
    config: &StoreConfig,
    on_progress: &mut OnProgress<'_>,
) -> Result<Opened, OpenError> {
    config.check().map_err(OpenError::Config)?;
    let coordinator = ShareCoordinator::new(config.coordinator)
        .map_err(|error| OpenError::Config(error.into()))?;
    let (lock, meta, is_new) = find_or_make(disk.as_ref(), root, config)?;
    let starts = read_starts(disk.as_ref(), root, STATE_TOPIC)?;
    let loaded = load(
        disk.as_ref(),
        root,
        meta,
        &starts,
        &coordinator,
        on_progress,
    )?;

    // From here on the directory is changed.
    let tally = Arc::new(Tally::default());
    let poison = Arc::new(OnceLock::new());
    let mut partitions = Vec::with_capacity(loaded.logs.len());
    for (index, (coordinator, checked)) in (0..).zip(loaded.logs) {
        let dir = root.join(partition_dir(index));
        let log = SegmentLog::open(
            Arc::clone(disk),
            dir,
            config.segment_bytes,
            &checked,
            Arc::clone(&tally),
        )?;
        partitions.push(StatePartition::new(
            coordinator,
            log,
            checked.next_offset,
            config.sync,
            config.compression,
            Arc::clone(&tally),
            Arc::clone(&poison),
        ));
    }
    let torn = Torn::from(config.sync);
    // What was unsynced is synced now, so only the policy from here on counts.
    if is_new || meta.torn != torn {
        write_meta(disk.as_ref(), root, Meta { torn, ..meta })?;
    }
    Ok(Opened {
        lock,
        partitions,
        starts,
        recovery: loaded.recovery,
        tally,
    })
}

/// Takes the lock and reads the meta file; makes the directories where there is nothing.
fn find_or_make(
    disk: &dyn Disk,
    root: &Path,
    config: &StoreConfig,
) -> Result<(Box<dyn Held>, Meta, bool), OpenError> {
    let not_a_store = || OpenError::NotAStore {
        path: root.to_owned(),
    };
    // Looked at first without the lock, whose file would be a change in a directory that is somebody else's.
    if read_meta(disk, root)?.is_none() {
        if !config.create || !may_become_a_store(disk, root)? {
            return Err(not_a_store());
        }
        disk.create_dir(root).at("create", root)?;
    }
    let lock = take_lock(disk, root)?;
    if let Some(meta) = read_meta(disk, root)? {
        return match config.partitions {
            Some(asked) if asked != meta.partitions => Err(OpenError::PartitionCount {
                recorded: meta.partitions,
                asked,
            }),
            _ => Ok((lock, meta, false)),
        };
    }
    if !may_become_a_store(disk, root)? {
        return Err(not_a_store());
    }
    let meta = Meta {
        partitions: config.partitions.unwrap_or(1),
        torn: Torn::from(config.sync),
    };
    for index in 0..meta.partitions {
        let dir = root.join(partition_dir(index));
        disk.create_dir(&dir).at("create", &dir)?;
    }
    disk.sync_dir(root).at("sync directory", root)?;
    if let Some(parent) = root.parent() {
        disk.sync_dir(parent).at("sync directory", parent)?;
    }
    Ok((lock, meta, true))
}

/// Whether a directory is missing, empty, or holds only what a making that was interrupted leaves.
fn may_become_a_store(disk: &dyn Disk, root: &Path) -> Result<bool, OpenError> {
    let entries = match disk.list(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(IoFailure::new("list", root, &error).into()),
    };
    for entry in entries {
        let dir = root.join(&entry.name);
        let ours = if !entry.is_dir {
            is_unfinished(&entry)
        } else if entry.name == group_dir() {
            // The log of share groups has a home of its own, beside the state partitions.
            disk.list(&dir)
                .at("list", &dir)?
                .iter()
                .any(|entry| entry.name == META_FILE)
        } else {
            parse_partition_dir(&entry.name).is_some()
                && disk.list(&dir).at("list", &dir)?.is_empty()
        };
        if !ours {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Loaded {
    logs: Vec<(ShareCoordinator, Checked)>,
    recovery: Recovery,
}

/// Checks and replays every partition; changes nothing.
fn load(
    disk: &dyn Disk,
    root: &Path,
    meta: Meta,
    starts: &LogStarts,
    empty: &ShareCoordinator,
    on_progress: &mut OnProgress<'_>,
) -> Result<Loaded, OpenError> {
    let mut found = Vec::new();
    let mut progress = Progress {
        partitions_total: meta.partitions,
        ..Progress::default()
    };
    for index in 0..meta.partitions {
        let dir = root.join(partition_dir(index));
        let segments = match segment_log::find(disk, &dir) {
            Err(OpenError::Io(failure)) if failure.kind == std::io::ErrorKind::NotFound => {
                let kind = CorruptKind::MissingPartition;
                return Err(OpenError::Corrupt(CorruptLog {
                    segment: dir,
                    position: 0,
                    kind,
                }));
            }
            other => other?,
        };
        progress.bytes_total += segments
            .segments
            .iter()
            .map(|(_, length)| length)
            .sum::<u64>();
        found.push((index, dir, segments));
    }
    let mut recovery = Recovery::default();
    let mut logs = Vec::with_capacity(found.len());
    for (index, dir, segments) in found {
        report(on_progress, progress)?;
        let mut coordinator = empty.clone();
        let mut decoder = RecordDecoder::default();
        let log_start = starts.get(&index).copied().unwrap_or(0);
        let base_bytes = progress.bytes_done;
        let bytes: u64 = segments.segments.iter().map(|(_, length)| length).sum();
        let mut unreported = 0;
        let mut visit = |segment: &Path, position: u64, batch: &DecodedBatch<'_>| {
            recovery.batches += 1;
            if batch.is_control {
                recovery.control_batches += 1;
            } else {
                replay(
                    segment,
                    position,
                    batch,
                    &mut decoder,
                    &mut coordinator,
                    &mut recovery,
                )?;
            }
            let size = 12 + u64::from(batch.header.batch_length.unsigned_abs());
            progress.bytes_done += size;
            progress.records = recovery.records;
            unreported += size;
            if unreported >= PROGRESS_BYTES {
                unreported = 0;
                report(on_progress, progress)?;
            }
            Ok(())
        };
        let checked = segment_log::check(
            disk, &dir, index, segments, log_start, meta.torn, &mut visit,
        )?;
        recovery.torn.extend(checked.torn.clone());
        // A torn tail was read too.
        progress.bytes_done = base_bytes + bytes;
        progress.partitions_done += 1;
        logs.push((coordinator, checked));
    }
    report(on_progress, progress)?;
    Ok(Loaded { logs, recovery })
}

fn replay(
    segment: &Path,
    position: u64,
    batch: &DecodedBatch<'_>,
    decoder: &mut RecordDecoder,
    coordinator: &mut ShareCoordinator,
    recovery: &mut Recovery,
) -> Result<(), OpenError> {
    let corrupt = |kind| {
        OpenError::Corrupt(CorruptLog {
            segment: PathBuf::from(segment),
            position,
            kind,
        })
    };
    for record in batch.records() {
        let offset = record.offset;
        let key = record
            .key
            .ok_or_else(|| corrupt(CorruptKind::NullKey { offset }))?;
        match decoder.decode(key, record.value) {
            Ok(Seen::Record { key, value, .. }) => coordinator.replay_value(offset, key, value),
            Ok(Seen::UnknownType(_)) => recovery.unknown_types += 1,
            Err(error) => return Err(corrupt(CorruptKind::Record { offset, error })),
        }
        recovery.records += 1;
    }
    Ok(())
}

fn report(on_progress: &mut OnProgress<'_>, progress: Progress) -> Result<(), OpenError> {
    match on_progress(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(OpenError::Interrupted(progress)),
    }
}
