//! Times in which members were there and nothing was locked.

use std::collections::BTreeMap;

use crate::event::{AckType, Name, Nanos, Outcome, What};
use crate::intervals::Intervals;
use crate::share_partition::SharePartition;

/// A time, longer than the bound, in which members were there and nothing was locked.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    pub from: Nanos,
    pub to: Nanos,
    /// The event that ended it, if one did.
    pub until: Option<u32>,
}

/// The idle times of a share partition that are longer than the bound.
pub fn idle_times(partition: &SharePartition<'_>) -> Vec<Idle> {
    let presence = Presence::new(partition);
    let mut locks = Locks::default();
    let mut idle = Vec::new();
    // What an answer brings may have been locked from the request on.
    let on_their_way: Intervals = partition
        .grants()
        .map(|(_, t, grant)| (grant.sent, t))
        .collect();
    let mut since = Nanos::MIN;
    let mut events: Vec<u32> = [&partition.events.grants[..], &partition.events.acks[..]].concat();
    events.sort_unstable();
    for event in events {
        let t = partition.event(event).t;
        match partition.event(event).what {
            What::Grant(grant) => {
                let from = since.max(locks.end());
                idle.extend(presence.idle(from, t, Some(event)));
                let end = t.saturating_add(grant.lock);
                locks.take(
                    grant.span.first,
                    grant.span.last,
                    grant.member,
                    grant.lock,
                    end,
                );
                since = t;
            }
            What::Ack(ack) => {
                let end = locks.end();
                for range in partition.history.ranges_of(&ack) {
                    locks.acknowledge(
                        range.span.first,
                        range.span.last,
                        ack.member,
                        range.kind,
                        ack.outcome,
                        t,
                    );
                }
                // A lock that held until now ends the idle time, even if nothing is locked after it.
                since = since.max(end.min(t));
            }
            _ => {}
        }
    }
    let from = since.max(locks.end());
    idle.extend(presence.idle(from, partition.end, None));
    let outside = |idle: Idle| {
        let parts = on_their_way.outside(idle.from, idle.to, partition.settings.within);
        parts.map(move |(from, to)| Idle { from, to, ..idle })
    };
    idle.into_iter().flat_map(outside).collect()
}

/// Times in which members are there.
struct Presence {
    within: Nanos,
    /// Start and end of each, in order; the last may not have ended.
    times: Vec<(Nanos, Nanos)>,
}

impl Presence {
    fn new(partition: &SharePartition<'_>) -> Self {
        let changes = partition
            .members
            .and_then(|members| members.present.get(&partition.topic));
        let changes = changes.map_or(&[][..], Vec::as_slice);
        let mut times: Vec<(Nanos, Nanos)> = Vec::new();
        let mut members = 0;
        for &(t, change) in changes {
            if members == 0 && change > 0 {
                times.push((t, Nanos::MAX));
            }
            members += change;
            if members == 0
                && let Some((_, end)) = times.last_mut()
            {
                *end = t;
            }
        }
        Self {
            within: partition.settings.within,
            times,
        }
    }

    /// The parts of a time in which a member is there, if they are longer than the bound.
    fn idle(&self, from: Nanos, to: Nanos, until: Option<u32>) -> impl Iterator<Item = Idle> {
        let at = self.times.partition_point(|&(_, end)| end <= from);
        let times = self.times.iter().skip(at);
        let parts = times
            .take_while(move |&&(start, _)| start < to)
            .map(move |&(start, end)| Idle {
                from: start.max(from),
                to: end.min(to),
                until: until.filter(|_| end >= to),
            });
        parts.filter(|idle| idle.to.saturating_sub(idle.from) > self.within)
    }
}

/// Records that may be locked.
#[derive(Default)]
struct Locks {
    /// Ranges by first offset: the last, the member, the lock's length and its latest end.
    held: BTreeMap<i64, (i64, Name, Nanos, Nanos)>,
    /// Number of records whose locks end at each time.
    ends: BTreeMap<Nanos, usize>,
}

impl Locks {
    /// End of the last of them.
    fn end(&self) -> Nanos {
        self.ends
            .last_key_value()
            .map_or(Nanos::MIN, |(&end, _)| end)
    }

    fn take(&mut self, first: i64, last: i64, member: Name, lock: Nanos, end: Nanos) {
        self.remove(first, last, |_| true);
        self.put(first, (last, member, lock, end));
    }

    fn acknowledge(
        &mut self,
        first: i64,
        last: i64,
        member: Name,
        kind: AckType,
        outcome: Outcome,
        t: Nanos,
    ) {
        match (kind, outcome) {
            (_, Outcome::Refused) => {}
            (AckType::Renew, _) => {
                let removed = self.remove(first, last, |holder| holder == member);
                for (first, (last, holder, lock, end)) in removed {
                    let end = end.max(t.saturating_add(lock));
                    self.put(first, (last, holder, lock, end));
                }
            }
            (_, Outcome::Ok) => {
                self.remove(first, last, |holder| holder == member);
            }
            (_, Outcome::Unknown) => {}
        }
    }

    fn put(&mut self, first: i64, held: (i64, Name, Nanos, Nanos)) {
        *self.ends.entry(held.3).or_default() += 1;
        self.held.insert(first, held);
    }

    fn forget(&mut self, first: i64) -> Option<(i64, Name, Nanos, Nanos)> {
        let held = self.held.remove(&first)?;
        if let Some(count) = self.ends.get_mut(&held.3) {
            *count -= 1;
            if *count == 0 {
                self.ends.remove(&held.3);
            }
        }
        Some(held)
    }

    /// Takes the locks of a range out, of those members that `whose` tells.
    fn remove(
        &mut self,
        first: i64,
        last: i64,
        whose: impl Fn(Name) -> bool,
    ) -> Vec<(i64, (i64, Name, Nanos, Nanos))> {
        let before = self.held.range(..first).next_back();
        let start = before
            .filter(|(_, held)| held.0 >= first)
            .map_or(first, |(&start, _)| start);
        let touched: Vec<i64> = self
            .held
            .range(start..=last)
            .filter(|(_, held)| whose(held.1))
            .map(|(&first, _)| first)
            .collect();
        let mut removed = Vec::new();
        for start in touched {
            let Some((end, member, lock, until)) = self.forget(start) else {
                continue;
            };
            if start < first {
                self.put(start, (first - 1, member, lock, until));
            }
            if end > last {
                self.put(last + 1, (end, member, lock, until));
            }
            removed.push((start.max(first), (end.min(last), member, lock, until)));
        }
        removed
    }
}
