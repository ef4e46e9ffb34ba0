//! The segments of one log: append, sync, roll, prune. One group commit is one record batch.

mod recovery;
mod survey;

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::counters::Tally;
use crate::disk::{At, DRAFT_SUFFIX, Disk, DiskFile, IoFailure, Room};
use crate::end_note::LogEnd;
use crate::layout::segment_name;

pub(crate) use recovery::{Checked, Found, Keep, Log, check, ends_elsewhere, find, out_of_order};
pub(crate) use survey::{Loaded, load};

/// Partition leader epoch of every batch: an embedded log has one leader for good. It lies outside the checksum, so a
/// constant also shows a flipped bit.
pub(crate) const LEADER_EPOCH: i32 = 0;

/// See the module.
#[derive(Debug)]
pub(crate) struct SegmentLog {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    segment_bytes: u64,
    room: Room,
    /// Base offsets, ascending.
    segments: VecDeque<i64>,
    active: Option<Active>,
    /// Offset of the next record.
    next_offset: i64,
    tally: Arc<Tally>,
    /// The room of a batch that was appended.
    pub spare: Vec<u8>,
}

/// Records durably that a log begins at an offset, and that it is whole up to an end.
pub(crate) type RecordStart = dyn Fn(i64, LogEnd) -> Result<(), IoFailure> + Send + Sync;

/// The segment that is appended to.
#[derive(Debug)]
struct Active {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    size: u64,
    /// Set if something was appended since the last sync.
    dirty: bool,
}

impl SegmentLog {
    /// Opens what [`check`] has found in order, and makes good what a crash left: cuts the torn tail, removes drafts,
    /// and writes and syncs what was read and may not have been durable. Done again after a crash it does the same.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        segment_bytes: u64,
        room: Room,
        checked: &Checked,
        tally: Arc<Tally>,
    ) -> Result<Self, IoFailure> {
        for draft in &checked.drafts {
            disk.remove(draft).at("remove", draft)?;
        }
        for remove in &checked.remove {
            disk.remove(remove).at("remove", remove)?;
            // One after the other, so that a crash leaves no hole.
            disk.sync_dir(&dir).at("sync directory", &dir)?;
            tally.fsync();
        }
        let mut log = Self {
            disk,
            dir,
            segment_bytes,
            room,
            segments: checked.segments.iter().copied().collect(),
            active: None,
            next_offset: checked.next_offset,
            tally,
            spare: Vec::new(),
        };
        if let Some(base) = log.segments.back() {
            let path = log.dir.join(segment_name(*base));
            let mut file = log.disk.open_append(&path, room).at("open", &path)?;
            if checked.cut {
                file.truncate(checked.size).at("truncate", &path)?;
            }
            if let Some(from) = checked.unsure_from {
                log.disk.write_again(&path, from).at("write", &path)?;
            }
            file.sync().at("sync", &path)?;
            log.tally.fsync();
            log.active = Some(Active {
                file,
                path,
                size: checked.size,
                dirty: false,
            });
        }
        log.sync_dir()?;
        Ok(log)
    }

    /// Closes the file that is appended to. Nothing may be appended from then on.
    pub fn release(&mut self) {
        self.active = None;
    }

    /// End of the log.
    pub fn end(&self) -> LogEnd {
        LogEnd {
            segment: self.segments.back().copied().unwrap_or(self.next_offset),
            bytes: self.active.as_ref().map_or(0, |active| active.size),
            next_offset: self.next_offset,
        }
    }

    /// Tells if the active segment takes so many bytes more.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        let active = self.active.as_ref();
        active.is_some_and(|active| active.size.saturating_add(bytes) <= self.segment_bytes)
    }

    /// Appends one batch of these offsets, in a new segment if the active one would grow beyond the size limit. A batch larger
    /// than the limit has its own segment.
    pub fn append(&mut self, offsets: Range<i64>, batch: &[u8]) -> Result<(), IoFailure> {
        let size = batch.len() as u64;
        match &mut self.active {
            Some(active) if active.size.saturating_add(size) <= self.segment_bytes => {
                active.dirty = true;
                active.file.append(batch).at("append", &active.path)?;
                active.size += size;
            }
            _ => self.roll(offsets.start, batch)?,
        }
        self.next_offset = offsets.end;
        Ok(())
    }

    /// Returns when everything appended is durable.
    pub fn sync(&mut self) -> Result<(), IoFailure> {
        match &mut self.active {
            Some(active) if active.dirty => {
                active.file.sync().at("sync", &active.path)?;
                active.dirty = false;
                self.tally.fsync();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Cuts off what room is left, and returns when that and everything appended is durable. For a segment or a log that gets nothing
    /// more.
    pub fn finish(&mut self) -> Result<(), IoFailure> {
        if self.room == Room::Ahead
            && let Some(active) = &mut self.active
        {
            active
                .file
                .truncate(active.size)
                .at("truncate", &active.path)?;
            active.dirty = true;
        }
        self.sync()
    }

    /// Begins a segment with its first batch. It is written under another name and gets its own only when it is
    /// durable, as is all before it: so damage in any but the last segment, and an empty segment, are never the work
    /// of a crash, whatever the sync policy.
    fn roll(&mut self, base_offset: i64, batch: &[u8]) -> Result<(), IoFailure> {
        self.finish()?;
        let path = self.dir.join(segment_name(base_offset));
        let draft = self
            .dir
            .join(format!("{}{DRAFT_SUFFIX}", segment_name(base_offset)));
        let mut file = self.disk.create(&draft, self.room).at("create", &draft)?;
        file.append(batch).at("append", &draft)?;
        file.sync().at("sync", &draft)?;
        self.tally.fsync();
        self.disk.rename(&draft, &path).at("rename", &path)?;
        self.sync_dir()?;
        self.segments.push_back(base_offset);
        self.active = Some(Active {
            file,
            path,
            size: batch.len() as u64,
            dirty: false,
        });
        Ok(())
    }

    /// The offset with which the log would begin if all whole segments below `offset` were gone; `None` if there
    /// are none. The active segment always stays.
    pub fn prunable(&self, offset: i64) -> Option<i64> {
        self.segments
            .iter()
            .skip(1)
            .copied()
            .take_while(|base| *base <= offset)
            .last()
    }

    /// Removes the segments below `log_start`, the oldest first and each durably, so that a crash leaves no gap.
    /// Returns how many.
    pub fn remove_below(&mut self, log_start: i64) -> Result<usize, IoFailure> {
        let mut removed = 0;
        while let (Some(first), Some(second)) = (self.segments.front(), self.segments.get(1)) {
            if *second > log_start {
                break;
            }
            let path = self.dir.join(segment_name(*first));
            self.disk.remove(&path).at("remove", &path)?;
            self.segments.pop_front();
            removed += 1;
            self.sync_dir()?;
        }
        Ok(removed)
    }

    /// Begins a segment with batches of these offsets that make all before it superfluous, and lets that go once `record` has
    /// made the new log start durable. Returns how many segments went.
    pub fn begin_anew(
        &mut self,
        offsets: Range<i64>,
        batches: &[u8],
        record: &RecordStart,
    ) -> Result<usize, IoFailure> {
        self.roll(offsets.start, batches)?;
        self.next_offset = offsets.end;
        record(offsets.start, self.end())?;
        self.remove_below(offsets.start)
    }

    fn sync_dir(&self) -> Result<(), IoFailure> {
        self.disk
            .sync_dir(&self.dir)
            .at("sync directory", &self.dir)?;
        self.tally.fsync();
        Ok(())
    }
}

/// Path of a segment, for reports.
pub(crate) fn segment_path(dir: &Path, base_offset: i64) -> PathBuf {
    dir.join(segment_name(base_offset))
}
