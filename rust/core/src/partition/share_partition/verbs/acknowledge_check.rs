//! Checks of an acknowledgement: its form first, then batch by batch as Kafka does
//! (`KafkaApis.validateAcknowledgementBatches`, `SharePartition.acknowledge`).

use crate::offset::OffsetRange;
use crate::partition::in_flight::{InFlightStore, MemberIndex};
use crate::partition::record_state::{AcknowledgeType, Phase, RecordState};
use crate::partition::share_partition::error::{AcknowledgeError, RecordStateReason};
use crate::partition::share_partition::verbs::parts::AcknowledgeBatch;
use crate::partition::share_partition::verbs::parts::types_of;
use crate::partition::share_partition::{SharePartition, Status};

impl<S: InFlightStore> SharePartition<S> {
    /// Checks what can be told without a look at the records: the form of the request, and whether anybody is served.
    pub(in crate::partition::share_partition) fn check_request(
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

    /// Checks each batch of the request after the other. Holes inside a batch are in order here.
    pub(in crate::partition::share_partition) fn check_each(
        &self,
        batches: &[AcknowledgeBatch<'_>],
        member: Option<MemberIndex>,
    ) -> Result<(), AcknowledgeError> {
        let mut previous_last = -1;
        for (index, batch) in batches.iter().enumerate() {
            if batch.first <= previous_last {
                return Err(AcknowledgeError::InvalidRecordState {
                    index,
                    offset: batch.first,
                    reason: RecordStateReason::AcknowledgedTwice,
                });
            }
            previous_last = batch.last;
            self.check_held(index, batch, member)?;
        }
        Ok(())
    }

    /// Checks that `member` holds every record of the batch from the start offset on.
    fn check_held(
        &self,
        index: usize,
        batch: &AcknowledgeBatch<'_>,
        member: Option<MemberIndex>,
    ) -> Result<(), AcknowledgeError> {
        let Some(range) = OffsetRange::new(batch.first.max(self.start_offset), batch.last) else {
            return Ok(());
        };
        let mut next = self.store.run_in(range);
        // Nearly always the batch is one run, and then it is in flight.
        if range.first != batch.first || next.is_none_or(|run| run.range != range) {
            self.check_in_flight(index, batch)?;
        }
        let disabled = !self.config.renew_acknowledge_enable;
        while let Some(run) = next {
            let reason = if run.phase != Phase::Stable {
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
            let rest = range.after(run.range.last);
            next = rest.and_then(|rest| self.store.run_in(rest));
        }
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

/// Returns `true` if a record of `run` is to be renewed. Types of offsets in holes say nothing.
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
        let is_known = |id: i8| AcknowledgeType::from_id(id).is_some();
        if !is_known(greatest as i8)
            && let Some(&id) = types.iter().find(|id| !is_known(**id))
        {
            return Err(AcknowledgeError::UnknownType { index, id });
        }
    }
    Ok(())
}
