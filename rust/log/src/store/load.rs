//! Checking and replaying every state partition of a store. Nothing is changed.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use share_state_core::coordinator::ShareCoordinator;
use share_state_wire::partitioner::state_partition;
use share_state_wire::record_batch::DecodedBatch;
use share_state_wire::state_record::{DecodedKey, RecordDecoder, Seen, decode_key};

use super::recovery::Recovery;
use crate::checkpoint::LogStarts;
use crate::corrupt::CorruptKind;
use crate::damage::Damage;
use crate::disk::Disk;
use crate::error::OpenError;
use crate::layout::partition_dir;
use crate::meta::{Meta, Noted};
use crate::progress::Progress;
use crate::segment_log::{self, Checked, Found, Log};

/// Tells how far a load is; [`ControlFlow::Break`] ends it.
pub(super) type OnProgress<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Bytes between two calls of the progress callback.
const PROGRESS_BYTES: u64 = 1 << 20;

/// A directory, and what is known of it before its logs are read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub disk: &'a dyn Disk,
    pub root: &'a Path,
    pub meta: &'a Meta,
    pub starts: &'a LogStarts,
    /// A coordinator without states.
    pub empty: &'a ShareCoordinator,
    /// Set if damage is to be cut off.
    pub repair: bool,
}

pub(super) struct Loaded {
    pub logs: Vec<(ShareCoordinator, Checked)>,
    pub recovery: Recovery,
}

impl Source<'_> {
    /// Reads every partition, also those after one that is damaged, so that a refusal names all that a repair would cut.
    pub fn load(&self, on_progress: &mut OnProgress<'_>) -> Result<Loaded, OpenError> {
        let found = self.find()?;
        let bytes_of = |found: &Found| found.segments.iter().map(|(_, length)| length).sum::<u64>();
        let mut progress = Progress {
            partitions_total: self.meta.partitions,
            bytes_total: found.iter().map(|(_, found)| bytes_of(found)).sum(),
            ..Progress::default()
        };
        let mut recovery = Recovery {
            note_damaged: self.meta.noted == Noted::Damaged,
            ..Recovery::default()
        };
        let mut logs = Vec::with_capacity(found.len());
        let mut damages: Vec<Damage> = Vec::new();
        for (partition, (dir, found)) in (0..).zip(&found) {
            report(on_progress, progress)?;
            let log = Log {
                disk: self.disk,
                dir,
                partition,
                log_start: self.starts.get(&partition).copied().unwrap_or(0),
                expected: self.meta.expected(partition),
            };
            let read = |keep| {
                let place = (partition, self.meta.partitions);
                let mut loading = Loading::new(self.empty, place, progress);
                let checked = segment_log::check(&log, found, keep, &mut |segment, at, batch| {
                    loading.batch(segment, at, batch, on_progress)
                })?;
                Ok((loading, checked))
            };
            match segment_log::load(&log, found, self.repair, name_of, read)? {
                segment_log::Loaded::Damaged(damage) => damages.push(damage),
                segment_log::Loaded::Passed {
                    read,
                    checked,
                    repaired,
                } => {
                    recovery.add(&read.seen);
                    recovery.torn.extend(checked.torn.clone());
                    recovery.repaired.extend(repaired);
                    logs.push((read.coordinator, checked));
                }
            }
            // A tail that is cut was read too.
            progress.bytes_done += bytes_of(found);
            progress.records = recovery.records;
            progress.partitions_done += 1;
        }
        if !damages.is_empty() {
            return Err(OpenError::Damaged(damages));
        }
        report(on_progress, progress)?;
        Ok(Loaded { logs, recovery })
    }

    fn find(&self) -> Result<Vec<(PathBuf, Found)>, OpenError> {
        let mut all = Vec::new();
        for index in 0..self.meta.partitions {
            let dir = self.root.join(partition_dir(index));
            let found = match segment_log::find(self.disk, &dir) {
                Err(OpenError::Io(failure)) if failure.kind == std::io::ErrorKind::NotFound => {
                    return Err(OpenError::corrupt(&dir, 0, CorruptKind::MissingPartition));
                }
                other => other?,
            };
            all.push((dir, found));
        }
        Ok(all)
    }
}

/// State partition while it is read.
struct Loading {
    coordinator: ShareCoordinator,
    /// Its number, and how many there are.
    place: (u32, u32),
    decoder: RecordDecoder,
    seen: Recovery,
    /// Progress with what was read before it.
    progress: Progress,
    records_before: u64,
    unreported: u64,
}

impl Loading {
    fn new(empty: &ShareCoordinator, place: (u32, u32), progress: Progress) -> Self {
        Self {
            coordinator: empty.clone(),
            place,
            decoder: RecordDecoder::default(),
            seen: Recovery::default(),
            progress,
            records_before: progress.records,
            unreported: 0,
        }
    }

    fn batch(
        &mut self,
        segment: &Path,
        position: u64,
        batch: &DecodedBatch<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), OpenError> {
        self.seen.batches += 1;
        if batch.is_control {
            self.seen.control_batches += 1;
        } else {
            self.replay(segment, position, batch)?;
        }
        let size = 12 + u64::from(batch.header.batch_length.unsigned_abs());
        self.progress.bytes_done += size;
        self.progress.records = self.records_before + self.seen.records;
        self.unreported += size;
        if self.unreported >= PROGRESS_BYTES {
            self.unreported = 0;
            report(on_progress, self.progress)?;
        }
        Ok(())
    }

    fn replay(
        &mut self,
        segment: &Path,
        position: u64,
        batch: &DecodedBatch<'_>,
    ) -> Result<(), OpenError> {
        let corrupt = |kind| OpenError::corrupt(segment, position, kind);
        for record in batch.records() {
            let offset = record.offset;
            let key = record
                .key
                .ok_or_else(|| corrupt(CorruptKind::NullKey { offset }))?;
            match self.decoder.decode(key, record.value) {
                Ok(Seen::Record { key, value, .. }) => {
                    let (here, partitions) = self.place;
                    let partition = state_partition(key, partitions);
                    if partition != here {
                        return Err(corrupt(CorruptKind::StatePartition { offset, partition }));
                    }
                    self.coordinator.replay_value(offset, key, value);
                }
                Ok(Seen::UnknownType(_)) => self.seen.unknown_types += 1,
                Err(error) => return Err(corrupt(CorruptKind::Record { offset, error })),
            }
            self.seen.records += 1;
        }
        Ok(())
    }
}

/// The share partition of a record.
fn name_of(key: &[u8]) -> Option<String> {
    match decode_key(key) {
        Ok(DecodedKey::Snapshot(key) | DecodedKey::Update(key)) => Some(format!(
            "{}:{}:{}",
            key.group,
            key.topic_id.to_base64(),
            key.partition
        )),
        Ok(DecodedKey::UnknownType(_)) | Err(_) => None,
    }
}

fn report(on_progress: &mut OnProgress<'_>, progress: Progress) -> Result<(), OpenError> {
    match on_progress(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(OpenError::Interrupted(progress)),
    }
}
