//! All periods of a share partition, and which of them a request belongs to.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::event::{Nanos, View};
use crate::reset_period::{Reset, ResetPeriod};

/// The periods of a share partition, one after the other: the first begins before all resets.
#[derive(Debug)]
pub struct ResetPeriods {
    periods: Vec<ResetPeriod>,
    /// The last period of each state epoch.
    of_epoch: HashMap<i64, usize>,
    skew: Nanos,
}

impl ResetPeriods {
    /// The periods between resets, which are in the order of their times.
    pub fn new(resets: impl Iterator<Item = Reset>, skew: Nanos) -> Self {
        let mut all = Self {
            periods: vec![ResetPeriod::first()],
            of_epoch: HashMap::new(),
            skew,
        };
        for reset in resets {
            if let Some(last) = all.periods.last_mut() {
                last.to = reset.t;
            }
            all.of_epoch.insert(reset.state_epoch, all.periods.len());
            all.periods.push(ResetPeriod::since(&reset));
        }
        all
    }

    pub fn iter(&self) -> std::slice::Iter<'_, ResetPeriod> {
        self.periods.iter()
    }

    pub fn get(&self, number: usize) -> Option<&ResetPeriod> {
        self.periods.get(number)
    }

    pub fn get_mut(&mut self, number: usize) -> Option<&mut ResetPeriod> {
        self.periods.get_mut(number)
    }

    /// Number of the period that a time belongs to.
    pub fn at(&self, t: Nanos) -> usize {
        self.periods.partition_point(|period| period.to < t)
    }

    /// Numbers of the periods that the step of a request may belong to.
    pub fn of(&self, sent: Nanos, t: Nanos) -> RangeInclusive<usize> {
        self.at(sent.saturating_sub(self.skew))..=self.at(t.saturating_add(self.skew))
    }

    /// The period of a request, if there is no doubt.
    pub fn only(&self, sent: Nanos, t: Nanos) -> Option<usize> {
        let periods = self.of(sent, t);
        (periods.start() == periods.end()).then_some(*periods.start())
    }

    /// The period of an answer that shows state, if there is no doubt. A reset takes place before it is seen, and may be seen by
    /// another clock. The state epoch, where it is shown, tells more.
    pub fn of_view(&self, t: Nanos, view: &View) -> Option<usize> {
        let of_epoch = view.state_epoch.and_then(|epoch| self.of_epoch.get(&epoch));
        if let Some(&found) = of_epoch {
            return Some(found);
        }
        let number = self.at(view.sent);
        let period = self.periods.get(number)?;
        let is_other = |epoch: i64| period.state_epoch.is_some_and(|own| own != epoch);
        let is_within = view.sent >= period.from.saturating_add(self.skew)
            && t <= period.to.saturating_sub(self.skew);
        (is_within && !view.state_epoch.is_some_and(is_other)).then_some(number)
    }

    /// The first reset at `t` or later.
    pub fn next_reset(&self, t: Nanos) -> Option<Nanos> {
        let at = self.periods.partition_point(|period| period.from < t);
        self.periods
            .get(at)
            .filter(|period| period.reset.is_some())
            .map(|period| period.from)
    }
}
