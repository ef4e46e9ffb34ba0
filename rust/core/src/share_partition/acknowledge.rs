//! Acknowledge: a member says what became of the records it holds (`SharePartition.acknowledge`,
//! `KafkaApis.validateAcknowledgementBatches`).
//!
//! The request is checked whole before anything changes; then every record changes state with its write under way, or is
//! renewed at once.

use super::changes::Changes;
use super::error::{AcknowledgeError, RecordStateReason};
use super::parts::{Parts, equal_at_front, types_of};
use super::writes::WriteKind;
use super::{SharePartition, Status};
use crate::in_flight::{Change, InFlightRun, InFlightStore, LockChange, MemberIndex};
use crate::offset::OffsetRange;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteToken};
use crate::record_state::{AcknowledgeType, Circumstance, Phase, RecordState, Trigger, decide};
use crate::time::LockTime;

/// What a member says about a range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcknowledgeBatch<'a> {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// One [`AcknowledgeType`] id for all offsets, or one for each.
    pub types: &'a [i8],
}

impl<S: InFlightStore> SharePartition<S> {
    /// Acknowledges records that `member` holds. Offsets below the start offset are ignored.
    ///
    /// Returns the token of the write that the member's answer waits for; `None` when there is nothing to write (renewals,
    /// offsets below the start offset).
    ///
    /// # Errors
    /// The request is malformed, a record is not held by the member, or the share partition is not active; then nothing has
    /// changed.
    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
    ) -> Result<Option<WriteToken>, AcknowledgeError> {
        self.check_request(member, batches)?;
        self.observe(now);
        let index = self.member(member);
        if let (Some(member), Some((range, trigger))) = (index, usual(batches, self.start_offset))
            && let Some(token) = self.acknowledge_run(range, trigger, member)
        {
            return Ok(Some(token));
        }
        self.acknowledge_formed(batches, index)
    }

    /// Checks what can be told without a look at the records: the form of the request, and whether anybody is served.
    pub(super) fn check_request(
        &self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
    ) -> Result<(), AcknowledgeError> {
        check_form(member, batches)?;
        if self.status != Status::Active {
            return Err(AcknowledgeError::NotActive(self.status));
        }
        Ok(())
    }

    /// [`SharePartition::acknowledge`] of a request of good form, at a time that is noted.
    pub(super) fn acknowledge_formed(
        &mut self,
        batches: &[AcknowledgeBatch<'_>],
        index: Option<MemberIndex>,
    ) -> Result<Option<WriteToken>, AcknowledgeError> {
        let enabled = self.config.renew_acknowledge_enable;
        // One range is found by one search either way.
        let many = index.filter(|_| batches.len() > 1);
        let is_held = many.is_some_and(|member| {
            self.all_held(batches, member, |kind, _, _| {
                enabled || kind != AcknowledgeType::Renew
            })
        });
        if !is_held {
            self.check_each(batches, index)?;
        }
        let mut changes = Changes::default();
        let mut parts = Parts::new(batches, self.start_offset);
        while let Some(kind) = parts.next_type() {
            let ranges = parts.of_type(kind);
            if kind == AcknowledgeType::Renew {
                ranges.for_each(|range| self.renew(range, index));
            } else {
                self.pull_ranges(ranges, kind.trigger(), &mut changes);
            }
        }
        Ok(self.queue_write(changes, WriteKind::Confirmed))
    }

    /// Whether the request is plainly in order, with `also` true of all its records: all lie at or behind the start offset, and
    /// `member` holds them. If not, [`Self::check_each`] tells what is wrong, if anything is.
    ///
    /// `also` is asked about each type and a run of records that are to be given it.
    pub(super) fn all_held(
        &self,
        batches: &[AcknowledgeBatch<'_>],
        member: MemberIndex,
        mut also: impl FnMut(AcknowledgeType, &InFlightRun, &[OffsetRange]) -> bool,
    ) -> bool {
        let is_behind = batches
            .first()
            .is_none_or(|batch| batch.first >= self.start_offset);
        if !is_behind || !batches.is_sorted_by(|a, b| a.last < b.first) {
            return false;
        }
        // At least as many as there may be state batches.
        let mut pieces: usize = batches.iter().map(|batch| batch.types.len()).sum();
        let mut parts = Parts::new(batches, self.start_offset);
        while let Some(kind) = parts.next_type() {
            let all = self.store.all_in(parts.of_type(kind), |run, ranges| {
                pieces += ranges.len();
                is_held(run, member) && also(kind, run, ranges)
            });
            if !all {
                return false;
            }
        }
        pieces <= MAX_STATE_BATCHES_PER_WRITE
    }

    /// Checks each batch of the request after the other, as Kafka does.
    fn check_each(
        &self,
        batches: &[AcknowledgeBatch<'_>],
        index: Option<MemberIndex>,
    ) -> Result<(), AcknowledgeError> {
        let mut state_batches = 0;
        let mut previous_last = -1;
        for (i, batch) in batches.iter().enumerate() {
            if batch.first <= previous_last {
                return Err(AcknowledgeError::InvalidRecordState {
                    index: i,
                    offset: batch.first,
                    reason: RecordStateReason::AcknowledgedTwice,
                });
            }
            previous_last = batch.last;
            self.check_held(i, batch, index, &mut state_batches)?;
        }
        if state_batches > MAX_STATE_BATCHES_PER_WRITE {
            return Err(AcknowledgeError::TooManyStateBatches {
                asked: state_batches,
                allowed: MAX_STATE_BATCHES_PER_WRITE,
            });
        }
        Ok(())
    }

    /// The usual request, when the range is one run held by the member, so that checking it and changing it take one look.
    /// `None` when it is anything else, and then nothing has changed.
    fn acknowledge_run(
        &mut self,
        range: OffsetRange,
        trigger: Trigger,
        member: MemberIndex,
    ) -> Option<WriteToken> {
        let is_held = |run: &InFlightRun| is_held_whole(run, range, member);
        let mut changes = Changes::default();
        self.pull_behind_start(range, trigger, is_held, &mut changes);
        self.queue_write(changes, WriteKind::Confirmed)
    }

    fn at_or_behind_start_offset(&self, batch: &AcknowledgeBatch<'_>) -> Option<OffsetRange> {
        OffsetRange::new(batch.first.max(self.start_offset), batch.last)
    }

    /// Locks the records for another full lock duration (KIP-1222). Nothing is written.
    fn renew(&mut self, range: OffsetRange, member: Option<MemberIndex>) {
        let Some(member) = member else { return };
        if self.store.run_in(range).is_none() {
            // A hole holds nothing, and nothing would ever end its lock.
            return;
        }
        let duration_ms = self.config.record_lock_duration_ms;
        let lock = self.store.new_lock(range, member, self.now, duration_ms);
        let mut renewed = 0;
        self.store.update(range, |run: &InFlightRun| {
            let row = decide(
                run.state,
                run.phase,
                Trigger::Renew,
                Circumstance::default(),
            )?;
            renewed += run.range.len();
            Some(Change {
                state: row.to,
                delivery_count: run.delivery_count,
                phase: row.to_phase,
                lock: LockChange::Hold(lock),
            })
        });
        self.activity.make().tally.rest.make().renewed += renewed;
    }

    /// Checks that `member` holds every record of the batch from the start offset on, and counts the state batches that the
    /// change may need.
    fn check_held(
        &self,
        index: usize,
        batch: &AcknowledgeBatch<'_>,
        member: Option<MemberIndex>,
        state_batches: &mut usize,
    ) -> Result<(), AcknowledgeError> {
        let Some(range) = self.at_or_behind_start_offset(batch) else {
            return Ok(());
        };
        let mut next = self.store.run_in(range);
        // Nearly always the batch is one run, and then it is in flight.
        if range.first != batch.first || next.is_none_or(|run| run.range != range) {
            self.check_in_flight(index, batch)?;
        }
        let disabled = !self.config.renew_acknowledge_enable;
        let mut runs = 0;
        while let Some(run) = next {
            let reason = if run.phase != Phase::Settled {
                Some(RecordStateReason::WriteUnderWay)
            } else if run.state != RecordState::Acquired {
                Some(RecordStateReason::NotAcquired)
            } else if run.lock.map(|lock| lock.member) != member {
                Some(RecordStateReason::OtherMember)
            } else if disabled && renews(batch, run.range, range) {
                Some(RecordStateReason::RenewDisabled)
            } else {
                None
            };
            if let Some(reason) = reason {
                return Err(AcknowledgeError::InvalidRecordState {
                    index,
                    offset: run.range.first,
                    reason,
                });
            }
            runs += 1;
            let rest = range.behind(run.range.last);
            next = rest.and_then(|rest| self.store.run_in(rest));
        }
        *state_batches += runs + changes_of_type(batch.types);
        Ok(())
    }

    /// Checks that the batch lies within in-flight batches. Holes inside it are fine, a hole at its end is not: then the member
    /// speaks of something that it was never given.
    fn check_in_flight(
        &self,
        index: usize,
        batch: &AcknowledgeBatch<'_>,
    ) -> Result<(), AcknowledgeError> {
        let first = self.store.batch_floor(batch.first).or_else(|| {
            (batch.first < self.start_offset)
                .then(|| self.store.batch_floor(self.start_offset))
                .flatten()
        });
        if first.is_none() {
            return Err(AcknowledgeError::InvalidRecordState {
                index,
                offset: batch.first,
                reason: RecordStateReason::NotFound,
            });
        }
        match self.store.batch_floor(batch.last) {
            Some(last) if last.last >= batch.last => Ok(()),
            _ => Err(AcknowledgeError::NotInFlight {
                index,
                first: batch.first,
                last: batch.last,
            }),
        }
    }
}

/// The usual request: one range at or behind the start offset, all of one type, which is not RENEW.
#[inline]
pub(super) fn usual(
    batches: &[AcknowledgeBatch<'_>],
    start_offset: i64,
) -> Option<(OffsetRange, Trigger)> {
    let [batch] = batches else { return None };
    let id = batch.types.first()?;
    if batch.types.len() > 1 && equal_at_front(batch.types) < batch.types.len() {
        return None;
    }
    let kind = AcknowledgeType::from_id(*id)?;
    let range = OffsetRange::new(batch.first, batch.last)?;
    let usual = kind != AcknowledgeType::Renew && range.first >= start_offset;
    usual.then_some((range, kind.trigger()))
}

/// Whether the run is all of `range`, and the member may settle it.
pub(super) fn is_held_whole(run: &InFlightRun, range: OffsetRange, member: MemberIndex) -> bool {
    run.range == range && is_held(run, member)
}

/// Whether the member may settle the records.
fn is_held(run: &InFlightRun, member: MemberIndex) -> bool {
    (run.state, run.phase) == (RecordState::Acquired, Phase::Settled)
        && run.lock.is_some_and(|lock| lock.member == member)
}

/// Whether a record of `run` is to be renewed. Types of offsets in holes say nothing.
fn renews(batch: &AcknowledgeBatch<'_>, run: OffsetRange, range: OffsetRange) -> bool {
    let Some(part) = run.intersection(range) else {
        return false;
    };
    let types = types_of(batch, part);
    let len = usize::try_from(part.len()).unwrap_or(usize::MAX);
    types
        .get(..len.min(types.len()))
        .is_some_and(|types| types.contains(&(AcknowledgeType::Renew as i8)))
}

/// How often neighbours differ.
fn changes_of_type(types: &[i8]) -> usize {
    let behind = types.get(1..).unwrap_or_default();
    types.iter().zip(behind).filter(|(a, b)| a != b).count()
}

#[inline]
fn check_form(member: &str, batches: &[AcknowledgeBatch<'_>]) -> Result<(), AcknowledgeError> {
    if member.is_empty() {
        return Err(AcknowledgeError::EmptyMemberId);
    }
    // Batches must ascend and may not touch; that one reaches into the next is found with the state of the records, as Kafka
    // finds it: a record would be acknowledged twice.
    let mut previous: Option<OffsetRange> = None;
    for (index, batch) in batches.iter().enumerate() {
        let AcknowledgeBatch { first, last, types } = *batch;
        let Some(range) = OffsetRange::new(first, last) else {
            return Err(AcknowledgeError::Inverted { index, first, last });
        };
        if first < 0 || last == i64::MAX {
            return Err(AcknowledgeError::OutOfRange { index, first, last });
        }
        if let Some(before) = previous.filter(|p| first < p.first || first == p.last) {
            return Err(AcknowledgeError::NotAscending {
                index,
                first,
                previous_last: before.last,
            });
        }
        previous = Some(range);
        if types.len() != 1 && types.len() as u64 != range.len() {
            return Err(AcknowledgeError::TypeCount {
                index,
                types: types.len(),
                offsets: range.len(),
            });
        }
        // The ids are 0 to 4, so that a look at the greatest tells of all.
        let greatest = match types {
            [id] => *id as u8,
            _ => types.iter().fold(0, |max, id| max.max(*id as u8)),
        };
        if AcknowledgeType::from_id(greatest as i8).is_none() {
            let unknown = |id: &&i8| AcknowledgeType::from_id(**id).is_none();
            let id = types.iter().find(unknown).copied().unwrap_or(-1);
            return Err(AcknowledgeError::UnknownType { index, id });
        }
    }
    Ok(())
}
