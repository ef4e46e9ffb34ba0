//! A share partition with all that the events of its records are judged by.

use crate::event::{Event, Grant, Name, Nanos, Span, View, What};
use crate::event_index::{EventIndex, GroupEvents, LogEvents, SharePartitionEvents};
use crate::failovers::Failovers;
use crate::history::History;
use crate::intervals::Intervals;
use crate::reloads::{Answer, reloads};
use crate::reset_period::Reset;
use crate::reset_periods::ResetPeriods;
use crate::rising_offset::RisingOffset;
use crate::settings::{MILLI, Settings};
use crate::violation::{Check, Violation};

/// See the module.
#[derive(Debug)]
pub struct SharePartition<'a> {
    pub history: &'a History,
    pub settings: &'a Settings,
    pub group: Name,
    pub topic: Name,
    pub partition: i32,
    pub events: &'a SharePartitionEvents,
    pub log: Option<&'a LogEvents>,
    pub members: Option<&'a GroupEvents>,
    /// Periods between resets: in each the state has one epoch.
    pub periods: ResetPeriods,
    pub failovers: Failovers,
    /// Times within which the leader may have dropped the state that it had, and read an earlier one.
    pub reloads: Intervals,
    /// Offsets at which the log is seen to start, and the times.
    pub log_start: RisingOffset<Nanos>,
    /// The last offset that was produced, as far as the history tells.
    pub log_end: Option<i64>,
    /// The drains that concern the share partition, in order: their times and events.
    pub drained: Vec<(Nanos, u32)>,
    /// The longest time from a request to its answer in the whole history.
    pub longest_wait: Nanos,
    /// Time that the last request of a member that went may have waited: as long as others are seen to.
    pub lingering: Nanos,
    /// Times in which a member that went may have held any record that nobody saw.
    pub held_unseen: Intervals,
    /// End of the history.
    pub end: Nanos,
}

/// Time that a request for records that nobody waits for any more may wait at the server, at most: more than any client asks for.
pub const LINGERING: Nanos = 10_000 * MILLI;
/// Time that it may wait, at least: clients ask for half a second when they do not say.
const SHORT_WAIT: Nanos = 1000 * MILLI;

impl<'a> SharePartition<'a> {
    pub fn new(
        history: &'a History,
        settings: &'a Settings,
        index: &'a EventIndex,
        (group, topic, partition): (Name, Name, i32),
        events: &'a SharePartitionEvents,
    ) -> Self {
        let log = index.logs.get(&(topic, partition));
        let mut made = Self {
            history,
            settings,
            group,
            topic,
            partition,
            events,
            log,
            members: index.groups.get(&group),
            periods: ResetPeriods::new(std::iter::empty(), settings.skew),
            failovers: Failovers::default(),
            reloads: Intervals::default(),
            log_start: RisingOffset::default(),
            log_end: None,
            drained: Vec::new(),
            longest_wait: index.longest_wait,
            held_unseen: Intervals::default(),
            lingering: index.longest_wait.clamp(SHORT_WAIT, LINGERING),
            end: history.events.last().map_or(0, |event| event.t),
        };
        made.periods = made.make_periods();
        // The last request may have been answered a little before or after its member went.
        let asked = made.lingering.saturating_add(settings.skew);
        let locked = asked.saturating_add(index.longest_lock);
        let gone = made.members.map_or(&[][..], |members| &members.gone).iter();
        made.held_unseen = gone
            .map(|t| (t.saturating_sub(asked), t.saturating_add(locked)))
            .collect();
        let views = made.views().map(|(_, t, view)| (t, view));
        made.failovers = Failovers::new(views, settings.skew, made.lingering);
        if let Some(members) = made.members {
            let answers = made
                .grants()
                .map(|(_, t, grant)| (grant.member, grant.sent, t));
            let answers: Vec<Answer> = answers.collect();
            made.reloads = reloads(members, &answers, settings.skew, made.lingering);
        }
        let moves = log.map_or(&[][..], |log| &log.retained).iter();
        let moves = moves.map(|&at| made.event(at));
        made.log_start = moves
            .filter_map(|event| match event.what {
                What::Retained { from } => Some((from, event.t)),
                _ => None,
            })
            .collect();
        let produces = log.map_or(&[][..], |log| &log.produces).iter();
        let lasts = produces.filter_map(|&at| match made.event(at).what {
            What::Produce(span) => Some(span.last),
            _ => None,
        });
        made.log_end = lasts.max();
        for &at in &index.drained {
            let event = made.event(at);
            let place = event.place;
            if place.group.is_none_or(|wanted| wanted == group)
                && place.topic.is_none_or(|wanted| wanted == topic)
                && place.partition.is_none_or(|wanted| wanted == partition)
            {
                made.drained.push((event.t, at));
            }
        }
        made
    }

    /// The event at a position; positions come from the history itself.
    pub fn event(&self, at: u32) -> &'a Event {
        const NOTHING: Event = Event {
            t: 0,
            place: crate::event::Place {
                group: None,
                topic: None,
                partition: None,
            },
            what: What::Drained,
        };
        self.history.events.get(at as usize).unwrap_or(&NOTHING)
    }

    pub fn grants(&self) -> impl Iterator<Item = (u32, Nanos, &'a Grant)> {
        self.events.grants.iter().filter_map(|&at| {
            let event = self.event(at);
            match &event.what {
                What::Grant(grant) => Some((at, event.t, grant)),
                _ => None,
            }
        })
    }

    pub fn views(&self) -> impl Iterator<Item = (u32, Nanos, &'a View)> {
        self.events.views.iter().filter_map(|&at| {
            let event = self.event(at);
            match &event.what {
                What::View(view) => Some((at, event.t, view)),
                _ => None,
            }
        })
    }

    /// Number of members of the group that went within a time, or a little before. Each may have taken a grant with it that
    /// nobody saw, and its last request may have waited at the server for longer than it lived itself.
    pub fn gone_within(&self, from: Nanos, to: Nanos) -> i64 {
        let gone = self.members.map_or(&[][..], |members| &members.gone);
        let skew = self.settings.skew;
        let before = gone.partition_point(|&t| t < from.saturating_sub(self.lingering));
        let until = gone.partition_point(|&t| t <= to.saturating_add(skew));
        until.saturating_sub(before) as i64
    }

    /// Returns true if a record that was delivered `count` times at `from` may have no delivery left by `to`: each member that
    /// went may have taken one with it.
    pub fn may_be_used_up(&self, count: i64, from: Nanos, to: Nanos) -> bool {
        count.saturating_add(self.gone_within(from, to)) >= self.settings.delivery_limit
    }

    /// Returns true if a member went within a time, a little before or a little after. It may have been given records then that
    /// it did not see: its last request may have waited at the server, and the answer may have been on its way.
    pub fn may_be_given_unseen(&self, member: Name, from: Nanos, to: Nanos) -> bool {
        let apart = self.lingering.saturating_add(self.settings.skew);
        let gone = self.gone_of(member, from.saturating_sub(apart));
        gone.is_some_and(|gone| gone <= to.saturating_add(apart))
    }

    /// Earliest time at which the connection of a member may have been cut, so that all was released that it held from `from`
    /// on.
    pub fn cut_of(&self, member: Name, from: Nanos) -> Option<Nanos> {
        let cuts = self.members?.cuts_of.get(&member)?;
        let at = cuts.partition_point(|&(t, _)| t < from);
        cuts.get(at).map(|&(_, earliest)| earliest)
    }

    /// Time at which a member went, at `from` or later.
    pub fn gone_of(&self, member: Name, from: Nanos) -> Option<Nanos> {
        let gone = self.members?.gone_of.get(&member)?;
        gone.get(gone.partition_point(|&t| t < from)).copied()
    }

    /// Returns true if the log start passes the record at any time: its move may be seen late.
    pub fn may_be_gone(&self, offset: i64) -> bool {
        self.log_start.passed(offset).is_some()
    }

    pub fn violation(
        &self,
        check: Check,
        span: Option<Span>,
        text: &'static str,
        mut excerpt: Vec<u32>,
    ) -> Violation {
        excerpt.sort_unstable();
        excerpt.dedup();
        Violation {
            check,
            group: self.group,
            topic: self.topic,
            partition: self.partition,
            span,
            text,
            excerpt,
        }
    }

    fn make_periods(&self) -> ResetPeriods {
        let resets = self.events.resets.iter().filter_map(|&event| {
            let Event { t, ref what, .. } = *self.event(event);
            match *what {
                What::Reset {
                    start_offset,
                    state_epoch,
                } => Some(Reset {
                    event,
                    t,
                    start_offset,
                    state_epoch,
                }),
                _ => None,
            }
        });
        let mut periods = ResetPeriods::new(resets, self.settings.skew);
        for (at, t, view) in self.views() {
            let period = periods.of_view(t, view);
            if let (Some(offset), Some(period)) = (
                view.start_offset,
                period.and_then(|period| periods.get_mut(period)),
            ) {
                period.start_offsets.see(offset, (t, at));
            }
        }
        for (_, t, grant) in self.grants() {
            let period = periods.only(grant.sent, t);
            if let Some(period) = period.and_then(|period| periods.get_mut(period)) {
                period.see_granted(grant.span.first, t);
            }
        }
        periods
    }
}
