//! Making and loading a store.
//!
//! Order of making: directories, their names synced, then the meta file, whose presence says that the rest is there.
//! Order of loading: lock, meta file, check and replay of every partition; only then is anything changed: torn tails are
//! cut, the meta file notes up to where the logs are whole and what the sync policy may tear from there on, and the store takes
//! requests.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use share_state_core::coordinator::ShareCoordinator;

use super::inner::NotedFiles;
use super::load::{OnProgress, Source};
use super::recovery::Recovery;
use super::state_partition::StatePartition;
use crate::config::StoreConfig;
use crate::counters::Tally;
use crate::disk::{At, Disk, Held, IoFailure};
use crate::error::OpenError;
use crate::home::{is_unfinished, make_dir, read_meta, read_starts, take_lock, write_meta};
use crate::journal::Framing;
use crate::layout::{META_FILE, STATE_TOPIC, group_dir, parse_partition_dir, partition_dir};
use crate::mark::Marks;
use crate::meta::{Meta, Noted, Torn};
use crate::segment_log::SegmentLog;

/// An opened store, in parts.
pub(super) struct Opened {
    pub lock: Box<dyn Held>,
    pub partitions: Vec<StatePartition>,
    pub noted: NotedFiles,
    pub recovery: Recovery,
    pub tally: Arc<Tally>,
}

pub(super) fn open(
    disk: &Arc<dyn Disk>,
    root: &Path,
    config: &StoreConfig,
    on_progress: &mut OnProgress<'_>,
) -> Result<Opened, OpenError> {
    config.check().map_err(OpenError::Config)?;
    let coordinator = ShareCoordinator::new(config.coordinator)
        .map_err(|error| OpenError::Config(error.into()))?;
    let (lock, meta) = find_or_make(disk.as_ref(), root, config)?;
    let starts = read_starts(disk.as_ref(), root, STATE_TOPIC)?;
    let source = Source {
        disk: disk.as_ref(),
        root,
        meta: &meta,
        starts: &starts,
        empty: &coordinator,
        repair: config.repair,
    };
    let loaded = source.load(on_progress)?;

    // A store that is older than marks gets one now. Nothing is written with it before the meta file says so.
    let marks = meta.marks.clone().unwrap_or_else(|| Marks {
        number: disk.new_mark(),
        since: loaded.logs.iter().map(|(_, log)| log.next_offset).collect(),
    });
    let framing = Framing {
        compression: config.compression,
        mark: marks.number,
    };

    // From here on the directory is changed.
    let tally = Arc::new(Tally::default());
    let poison = Arc::new(OnceLock::new());
    let mut partitions = Vec::with_capacity(loaded.logs.len());
    let mut ends = Vec::with_capacity(loaded.logs.len());
    for (index, (coordinator, checked)) in (0..).zip(loaded.logs) {
        let dir = root.join(partition_dir(index));
        ends.push(checked.end());
        let log = SegmentLog::open(
            Arc::clone(disk),
            dir,
            config.segment_bytes,
            config.sync.into(),
            &checked,
            Arc::clone(&tally),
        )?;
        partitions.push(StatePartition::new(
            coordinator,
            log,
            checked.next_offset,
            config.sync,
            framing,
            Arc::clone(&tally),
            Arc::clone(&poison),
        ));
    }
    // All of it is on the disk now, so only the policy from here on counts. What a clean close noted goes, durably, before
    // anything is written that it does not know of.
    let meta = Meta {
        torn: Torn::from(config.sync),
        marks: Some(marks),
        noted: Noted::Ends(ends),
        ..meta
    };
    write_meta(disk.as_ref(), root, &meta)?;
    Ok(Opened {
        lock,
        partitions,
        noted: NotedFiles { starts, meta },
        recovery: loaded.recovery,
        tally,
    })
}

/// Takes the lock and reads the meta file; makes the directories where there is nothing.
fn find_or_make(
    disk: &dyn Disk,
    root: &Path,
    config: &StoreConfig,
) -> Result<(Box<dyn Held>, Meta), OpenError> {
    let not_a_store = || OpenError::NotAStore {
        path: root.to_owned(),
    };
    // Looked at first without the lock, whose file would be a change in a directory that is somebody else's.
    if read_meta(disk, root)?.is_none() {
        if !config.create || !may_become_a_store(disk, root)? {
            return Err(not_a_store());
        }
        make_dir(disk, root)?;
    }
    let lock = take_lock(disk, root)?;
    if let Some(meta) = read_meta(disk, root)? {
        return match config.partitions {
            Some(asked) if asked != meta.partitions => Err(OpenError::PartitionCount {
                recorded: meta.partitions,
                asked,
            }),
            _ => Ok((lock, meta)),
        };
    }
    if !may_become_a_store(disk, root)? {
        return Err(not_a_store());
    }
    let meta = Meta {
        partitions: config.partitions.unwrap_or(1),
        torn: Torn::from(config.sync),
        marks: None,
        noted: Noted::Nothing,
    };
    for index in 0..meta.partitions {
        let dir = root.join(partition_dir(index));
        disk.create_dir(&dir).at("create", &dir)?;
    }
    disk.sync_dir(root).at("sync directory", root)?;
    if let Some(parent) = root.parent() {
        disk.sync_dir(parent).at("sync directory", parent)?;
    }
    Ok((lock, meta))
}

/// Returns `true` if a directory is missing, empty, or holds only what a making that was interrupted leaves.
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
            // The log of share groups has its own home, beside the state partitions.
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
