//! Many records change together: those of a member that is gone, those whose locks ran out, those of a write of many ranges.

use super::SharePartition;
use super::activity::{Activity, FirstUnsettled};
use super::changes::{Changes, completed, count_settled, cut, settled};
use super::counters::Tally;
use super::pull::Pull;
use crate::in_flight::{Change, HeldChange, Holder, InFlightRun, InFlightStore};
use crate::offset::OffsetRange;
use crate::record_state::{Circumstance, Trigger, decide};

/// A trigger while it is pulled over all that somebody holds.
struct Pulled<'a, E> {
    pull: Pull<'a>,
    eligible: &'a E,
    /// `delivery_complete_count`, and what else is counted.
    counts: (&'a mut u64, &'a mut Activity),
}

impl<E: Fn(&InFlightRun) -> bool> HeldChange for Pulled<'_, E> {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        (self.eligible)(run).then(|| self.pull.decide(run))?
    }

    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        let (count, activity) = &mut self.counts;
        self.pull.note(run, change, ranges, (count, activity));
    }
}

/// A write of many ranges while it is confirmed.
struct Written<'a> {
    is_below: bool,
    counts: (&'a mut u64, &'a mut Tally),
}

impl HeldChange for Written<'_> {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        let row = decide(
            run.state,
            run.phase,
            Trigger::Written,
            Circumstance::default(),
        )?;
        Some(settled(run, row.to))
    }

    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        let records = ranges.iter().map(|range| range.len()).sum();
        let (count, tally) = &mut self.counts;
        if !self.is_below {
            **count = completed(**count, records, run.state, change.state);
        }
        count_settled(tally, change.state, records);
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// [`Self::pull`] over the records of `ranges`, which ascend, that `holder` holds.
    pub(super) fn pull_held(
        &mut self,
        ranges: &[OffsetRange],
        holder: Holder,
        trigger: Trigger,
        eligible: impl Fn(&InFlightRun) -> bool,
        changes: &mut Changes,
    ) {
        let start = self.start_offset;
        let below = ranges.partition_point(|range| range.first < start);
        let (below, behind) = ranges.split_at(below);
        let mut pull_parts = |parts: &[OffsetRange], is_below| {
            let pull = Pull::new(is_below, trigger, &self.config, changes);
            let count = &mut self.delivery_complete_count;
            let activity = self.activity.make();
            let parts = parts.iter().copied();
            let counts = (count, activity);
            let eligible = &eligible;
            let mut pulled = Pulled {
                pull,
                eligible,
                counts,
            };
            self.store.update_held(parts, holder, &mut pulled);
        };
        if let Some((last, others)) = below.split_last() {
            pull_parts(others, true);
            // The last one may reach over the start offset.
            let [head, tail] = cut(*last, start);
            pull_parts(head.as_slice(), true);
            pull_parts(tail.as_slice(), false);
        }
        pull_parts(behind, false);
    }

    /// [`Self::pull`] over `ranges`, which ascend and lie at or behind the start offset.
    pub(super) fn pull_ranges(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        trigger: Trigger,
        changes: &mut Changes,
    ) {
        let pull = Pull::new(false, trigger, &self.config, changes);
        let count = &mut self.delivery_complete_count;
        let mut pulled = Pulled {
            pull,
            eligible: &|_: &InFlightRun| true,
            counts: (count, self.activity.make()),
        };
        self.store.update_held(ranges, Holder::Anybody, &mut pulled);
    }

    /// [`Self::end_pending`] of all that a write of many ranges confirms, which ascend.
    pub(super) fn end_written(&mut self, ranges: impl Iterator<Item = OffsetRange> + Clone) {
        let start = self.start_offset;
        self.activity.make().front = FirstUnsettled::UNKNOWN;
        let below = ranges.clone().take_while(|range| range.first < start);
        self.end_written_part(below.filter_map(|range| cut(range, start)[0]), true);
        let behind = ranges.filter_map(|r| OffsetRange::new(r.first.max(start), r.last));
        self.end_written_part(behind, false);
    }

    fn end_written_part(&mut self, parts: impl Iterator<Item = OffsetRange>, is_below: bool) {
        let count = &mut self.delivery_complete_count;
        let tally = &mut self.activity.make().tally;
        let mut written = Written {
            is_below,
            counts: (count, tally),
        };
        self.store.update_held(parts, Holder::Anybody, &mut written);
    }
}
