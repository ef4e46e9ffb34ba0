//! Periods between two resets: each has a state of its own, with an epoch of its own.

use crate::event::Nanos;
use crate::rising_offset::RisingOffset;

/// A reset: its event, its time, the offset and the state epoch that were set.
#[derive(Clone, Copy, Debug)]
pub struct Reset {
    pub event: u32,
    pub t: Nanos,
    pub start_offset: i64,
    pub state_epoch: i64,
}

/// The period between two resets.
#[derive(Debug)]
pub struct ResetPeriod {
    /// The reset that it begins with, and the offset that was set.
    pub reset: Option<(u32, i64)>,
    /// The epoch that the reset set.
    pub state_epoch: Option<i64>,
    /// Time at which it begins.
    pub from: Nanos,
    /// Time at which it ends.
    pub to: Nanos,
    /// The start offsets that views show: time and event of each.
    pub start_offsets: RisingOffset<(Nanos, u32)>,
    /// The grants of lower offsets than all before, in order: time, offset.
    pub lows: Vec<(Nanos, i64)>,
}

impl ResetPeriod {
    /// The period before all resets.
    pub fn first() -> Self {
        Self {
            reset: None,
            state_epoch: None,
            from: Nanos::MIN,
            to: Nanos::MAX,
            start_offsets: RisingOffset::default(),
            lows: Vec::new(),
        }
    }

    /// The period that a reset begins.
    pub fn since(reset: &Reset) -> Self {
        Self {
            reset: Some((reset.event, reset.start_offset)),
            state_epoch: Some(reset.state_epoch),
            from: reset.t,
            ..Self::first()
        }
    }

    /// The first view of the period that shows a start offset above `offset`, and whether an earlier one, a grant or the
    /// reset showed that the share partition did not start after it: offset, time and event of the view.
    pub fn passed(&self, offset: i64) -> Option<(Nanos, u32, bool)> {
        let (t, view) = self.start_offsets.passed(offset)?;
        let is_below = |(start, _)| start <= offset;
        let started = self.start_offsets.first().is_some_and(is_below)
            || self.reset.is_some_and(|(_, start)| start <= offset)
            || self
                .lowest_granted(t)
                .is_some_and(|lowest| lowest <= offset);
        Some((t, view, started))
    }

    /// Takes in the first offset of a grant.
    pub fn see_granted(&mut self, first: i64, t: Nanos) {
        if self.lows.last().is_none_or(|&(_, lowest)| first < lowest) {
            self.lows.push((t, first));
        }
    }

    fn lowest_granted(&self, until: Nanos) -> Option<i64> {
        let at = self.lows.partition_point(|&(t, _)| t <= until);
        self.lows.get(at.checked_sub(1)?).map(|&(_, lowest)| lowest)
    }
}
