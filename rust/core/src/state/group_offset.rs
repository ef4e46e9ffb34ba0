//! THE FOLD: what a record of the state topic makes of a share partition's state (Kafka: `ShareGroupOffset`,
//! `ShareCoordinatorShard.replay`).
//!
//! It is the same function when a coordinator writes, when a log is loaded and when a file is inspected. A record is
//! taken as written: a snapshot replaces the value, an update's start offset (unless -1) and delivery complete count
//! stand even when they go back, and its snapshot epoch is not compared. Whoever *decides* takes the maxima, so logs of
//! 4.2 and 4.3 brokers, which did not, read as those brokers read them.

use crate::records::{ShareSnapshot, ShareUpdate, ShareValue, TaggedField};
use crate::state::state_batch::StateBatches;

/// State of one share partition as its records tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareGroupOffset {
    /// Epoch of the last snapshot.
    pub snapshot_epoch: i32,
    /// Epoch of the state, set when it was initialised.
    pub state_epoch: i32,
    /// Leader epoch of the last record that named one.
    pub leader_epoch: i32,
    /// Start offset of the share partition; -1 while not yet resolved.
    pub start_offset: i64,
    /// Terminal records at or after the start offset; -1 when unknown.
    pub delivery_complete_count: i32,
    /// State of the records at and after the start offset, as far as it is known.
    pub state_batches: StateBatches,
    /// Wall clock, ms: when the content of the last snapshot came to be.
    pub create_timestamp: i64,
    /// Wall clock, ms: when the last snapshot was written.
    pub write_timestamp: i64,
    /// Tagged fields that this release does not know: those of the last snapshot, with those of later updates laid
    /// over them by tag. The next snapshot carries them on.
    pub unknown_tagged_fields: Vec<TaggedField>,
    /// Set if there were only updates: the snapshot below them is missing, and with it the state epoch and the
    /// timestamps, which then are 0. The next snapshot clears the mark.
    pub incomplete: bool,
}

impl ShareGroupOffset {
    /// Applies one record's value to a key's state; `None` is a key without state, before and after. Returns `false` for an
    /// update that changed nothing; a snapshot is made, whatever it says.
    pub fn fold(state: &mut Option<Self>, value: &ShareValue) -> bool {
        *state = match (value, state.as_mut()) {
            (ShareValue::Update(update), Some(present)) => return present.apply_update(update),
            (ShareValue::Update(update), None) => Some(Self::from_update(update)),
            (ShareValue::Snapshot(snapshot), _) => Some(Self::from_snapshot(snapshot)),
            (ShareValue::Tombstone, _) => None,
        };
        true
    }

    /// The state that a snapshot tells. Its batches may be unsorted or overlap; they are not clipped.
    #[must_use]
    pub fn from_snapshot(snapshot: &ShareSnapshot) -> Self {
        Self {
            snapshot_epoch: snapshot.snapshot_epoch,
            state_epoch: snapshot.state_epoch,
            leader_epoch: snapshot.leader_epoch,
            start_offset: snapshot.start_offset,
            delivery_complete_count: snapshot.delivery_complete_count,
            state_batches: StateBatches::from_batches(&snapshot.state_batches),
            create_timestamp: snapshot.create_timestamp,
            write_timestamp: snapshot.write_timestamp,
            unknown_tagged_fields: snapshot.unknown_tagged_fields.clone(),
            incomplete: false,
        }
    }

    /// The state that an update tells when there is none below it, as in a log whose prefix was pruned.
    #[must_use]
    pub fn from_update(update: &ShareUpdate) -> Self {
        Self {
            snapshot_epoch: update.snapshot_epoch,
            state_epoch: 0,
            leader_epoch: update.leader_epoch,
            start_offset: update.start_offset,
            delivery_complete_count: update.delivery_complete_count,
            state_batches: StateBatches::from_batches(&update.state_batches),
            create_timestamp: 0,
            write_timestamp: 0,
            unknown_tagged_fields: update.unknown_tagged_fields.clone(),
            incomplete: true,
        }
    }

    /// Applies an update. Snapshot epoch, state epoch and timestamps stay. Returns whether anything changed but the tagged
    /// fields that are not known here.
    pub fn apply_update(&mut self, update: &ShareUpdate) -> bool {
        let figures = |state: &Self| {
            (
                state.leader_epoch,
                state.start_offset,
                state.delivery_complete_count,
            )
        };
        let before = figures(self);
        if update.leader_epoch != -1 {
            self.leader_epoch = update.leader_epoch;
        }
        if update.start_offset != -1 {
            self.start_offset = update.start_offset;
        }
        self.delivery_complete_count = update.delivery_complete_count;
        let clipped = self.state_batches.clip(self.start_offset);
        let merged = self
            .state_batches
            .merge(&update.state_batches, self.start_offset);
        self.lay_over(&update.unknown_tagged_fields);
        clipped || merged || figures(self) != before
    }

    /// Lays tagged fields over those that are there: a tag's later data stand, and tags ascend as on the wire.
    fn lay_over(&mut self, fields: &[TaggedField]) {
        if fields.is_empty() {
            return;
        }
        let all = &mut self.unknown_tagged_fields;
        all.extend_from_slice(fields);
        all.sort_by_key(|field| field.tag); // stable, so the later of two stays after the earlier
        all.dedup_by(|later, kept| {
            let same = later.tag == kept.tag;
            if same {
                core::mem::swap(later, kept);
            }
            same
        });
    }

    /// The snapshot that folds to this state.
    #[must_use]
    pub fn to_snapshot(&self) -> ShareSnapshot {
        ShareSnapshot {
            snapshot_epoch: self.snapshot_epoch,
            state_epoch: self.state_epoch,
            leader_epoch: self.leader_epoch,
            start_offset: self.start_offset,
            delivery_complete_count: self.delivery_complete_count,
            create_timestamp: self.create_timestamp,
            write_timestamp: self.write_timestamp,
            state_batches: self.state_batches.to_vec(),
            unknown_tagged_fields: self.unknown_tagged_fields.clone(),
        }
    }
}
