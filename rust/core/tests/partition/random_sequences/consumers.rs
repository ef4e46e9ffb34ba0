//! Operations of members, and what must come of them.

use super::seen::{Record, Seen};
use super::world::World;
use crate::common::lab::Fetch;
use crate::common::view::everything;
use share_state_core::record_state::{AcknowledgeType, Phase, RecordState};
use share_state_core::share_partition::{AcquireMode, AcquiredRange};

impl World {
    pub fn acquire(&mut self, member: &str, fetch: &Fetch, before: &Seen) -> Vec<AcquiredRange> {
        let now = self.now();
        let acquired = both!(self, lab => lab.acquire(member, fetch)).unwrap();
        let after = self.seen();
        let mut previous = after.start_offset.max(before.start_offset) - 1;
        let mut count = 0;
        for AcquiredRange {
            range,
            delivery_count,
        } in &acquired
        {
            assert!(
                range.first > previous,
                "ascending, not below the start offset: {acquired:?}"
            );
            previous = range.last;
            count += range.len();
            let (first, last) = (fetch.log[0], fetch.log[fetch.log.len() - 1]);
            assert!(first.base_offset <= range.first && range.last <= last.last_offset);
            for offset in range.first..=range.last {
                let earlier = before.records.get(&offset);
                assert!(
                    earlier.is_none_or(|r| r.is_free(now)),
                    "{offset} was taken: {earlier:?}"
                );
                let earlier_count = earlier.map_or(0, |record| record.delivery_count);
                assert_eq!(*delivery_count, earlier_count + 1, "{offset}");
                assert!(
                    !self.persister.done.contains(&offset),
                    "{offset} has returned"
                );
                let holder = Some((member.to_owned(), now + self.lock_duration()));
                assert_eq!(after.records[&offset].holder, holder);
            }
        }
        let max_records = u64::try_from(fetch.max_records).unwrap_or(0);
        if fetch.mode == AcquireMode::RecordLimit {
            assert!(count <= max_records, "{count} records of {max_records}");
        }
        if count > 0 {
            self.note(match fetch.mode {
                AcquireMode::RecordLimit => "acquire record_limit",
                AcquireMode::BatchOptimized => "acquire batch_optimized",
            });
            if acquired.iter().any(|a| a.delivery_count > 1) {
                self.note("redelivery");
            }
        }
        acquired
    }

    fn lock_duration(&self) -> i64 {
        self.twin.sp.config().record_lock_duration_ms
    }

    pub fn acknowledge_held(
        &mut self,
        member: &str,
        picks: &[(bool, i64, i64)],
        types: &[i8],
        before: &Seen,
    ) {
        let ranges: Vec<(i64, i64)> = before
            .held_by(member)
            .into_iter()
            .zip(picks)
            .filter(|(_, (picked, ..))| *picked)
            .map(|((first, last), (_, head, tail))| (first + head, last - tail))
            .filter(|(first, last)| first <= last)
            .collect();
        let each: Vec<Vec<i8>> = ranges
            .iter()
            .map(|(first, last)| match types {
                [one] => vec![*one],
                _ => types
                    .iter()
                    .cycle()
                    .take((last - first + 1) as usize)
                    .copied()
                    .collect(),
            })
            .collect();
        let batches: Vec<(i64, i64, &[i8])> = ranges
            .iter()
            .zip(&each)
            .map(|((first, last), types)| (*first, *last, types.as_slice()))
            .collect();
        let accepted = self.acknowledge(member, &batches, before);
        let due = before
            .records
            .values()
            .any(|r| r.holder.is_some() && r.is_free(self.now()));
        let renews = each
            .iter()
            .flatten()
            .any(|t| *t == AcknowledgeType::Renew as i8);
        if !due && (!renews || self.twin.sp.config().renew_acknowledge_enable) {
            assert!(accepted, "{member} holds {batches:?}");
        }
    }

    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[(i64, i64, &[i8])],
        before: &Seen,
    ) -> bool {
        let unchanged = everything(&self.twin.sp);
        let due = self
            .twin
            .sp
            .poll_timeout()
            .is_some_and(|at| at.0 <= self.now());
        let outcome = both!(self, lab => lab.acknowledge(member, batches));
        let after = self.seen();
        if outcome.is_err() {
            assert!(
                due || everything(&self.twin.sp) == unchanged,
                "refusal is free: {outcome:?}"
            );
            self.note("refused acknowledgement");
            return false;
        }
        for (first, last, types) in batches {
            for offset in (*first).max(before.start_offset)..=*last {
                let id = types.get((offset - first) as usize).unwrap_or(&types[0]);
                let id = if types.len() == 1 { types[0] } else { *id };
                let (Some(earlier), Some(record)) =
                    (before.records.get(&offset), after.records.get(&offset))
                else {
                    continue;
                };
                let held = earlier
                    .holder
                    .as_ref()
                    .is_some_and(|(name, _)| name == member);
                assert!(held, "{offset} was not {member}'s: {earlier:?}");
                self.check_acknowledged(offset, id, record);
            }
        }
        if outcome.is_ok_and(|token| token.is_some()) {
            self.note("acknowledgement");
        }
        true
    }

    fn check_acknowledged(&mut self, offset: i64, id: i8, record: &Record) {
        use RecordState::{Acknowledged, Acquired, Archived, Archiving, Available};
        let config = self.twin.sp.config();
        let given_up = if config.dead_letter_queue {
            Archiving
        } else {
            Archived
        };
        let at_limit = record.delivery_count >= config.delivery_count_limit;
        let state = match AcknowledgeType::from_id(id).unwrap() {
            AcknowledgeType::Gap => Archived,
            AcknowledgeType::Accept => Acknowledged,
            AcknowledgeType::Release if at_limit => given_up,
            AcknowledgeType::Release => Available,
            AcknowledgeType::Reject => given_up,
            AcknowledgeType::Renew => Acquired,
        };
        assert_eq!(record.state, state, "{offset}");
        if state == Acquired {
            let deadline = self.now() + self.lock_duration();
            assert!(
                record
                    .holder
                    .as_ref()
                    .is_some_and(|(_, at)| *at == deadline),
                "{offset}"
            );
            self.note("renewal");
        } else {
            assert_eq!(record.phase, Phase::Pending, "{offset}");
        }
    }
}
