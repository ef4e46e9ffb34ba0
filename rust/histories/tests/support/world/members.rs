//! Members of the world: they fetch, deal with records, and acknowledge.

use std::cmp::Reverse;

use super::super::server::Given;
use super::{Fate, MS, SKEW, Step, World};

/// Time that a member waits for the answer to an acknowledgement.
const WAIT: i64 = 1000 * MS;
/// Milliseconds by which one arrives later that was on its way for longer.
const LATE: i64 = 30_000;

impl World {
    pub(super) fn fetch_later(&mut self, member: usize, wait: i64) {
        let sent = self.now + wait;
        let delay = wait + self.delay();
        let until = sent + 500 * MS;
        self.later(
            delay,
            Step::Fetch {
                member,
                sent,
                until,
            },
        );
    }

    /// The place, and a member's name and request time by its own clock.
    fn of(&self, member: usize, sent: i64) -> String {
        let sent = sent + self.clocks[member] + SKEW;
        format!(
            r#""sent":{sent},"group":"g","topic":"t","partition":0,"member":"m{}""#,
            self.names[member]
        )
    }

    pub(super) fn fetch(&mut self, member: usize, sent: i64, until: i64) {
        if !self.alive[member] {
            return;
        }
        let most = if self.chance.once_in(2) {
            500
        } else {
            self.chance.within(1, 20)
        };
        let (name, now) = (self.names[member], self.now);
        let given = self.leader(member).fetch(name, now, most);
        if given.is_empty() {
            if self.now < until {
                self.later(
                    20 * MS,
                    Step::Fetch {
                        member,
                        sent,
                        until,
                    },
                );
            } else {
                self.fetch_later(member, MS);
            }
            return;
        }
        let answered = self.now + self.delay();
        // A member that goes before its answer comes takes the records with it.
        let crash = self
            .steps
            .iter()
            .find_map(|Reverse((at, _, step))| (*step == Step::Crash { member }).then_some(*at));
        if crash.is_some_and(|at| at <= answered) {
            return;
        }
        let of = self.of(member, sent);
        let lock_ms = self.server.lock / MS;
        for Given { first, last, count } in &given {
            let line = format!(
                r#""type":"grant",{of},"first":{first},"last":{last},"delivery_count":{count},"lock_ms":{lock_ms}"#
            );
            self.note(answered + self.clocks[member], line);
        }
        let grants = given
            .iter()
            .map(|given| (given.first, given.last))
            .collect();
        let work = if self.chance.once_in(12) {
            // Longer than the lock.
            self.server.lock + self.chance.within(100, 3000) * MS
        } else {
            self.chance.within(1, self.pace.max(1)) * MS
        };
        let step = Step::Dealt {
            member,
            grants,
            renewed: false,
        };
        self.later(answered - self.now + work, step);
    }

    pub(super) fn dealt(&mut self, member: usize, grants: Vec<(i64, i64)>, renewed: bool) {
        if !self.alive[member] {
            return;
        }
        let mut ranges = Vec::new();
        if !renewed && self.chance.once_in(8) {
            ranges.extend(grants.iter().map(|&(first, last)| (first, last, 4)));
            let step = Step::Dealt {
                member,
                grants,
                renewed: true,
            };
            let work = self.chance.within(1, self.server.lock / MS) * MS;
            self.later(work, step);
        } else {
            for (first, last) in grants {
                self.verdicts(first, last, &mut ranges);
            }
            // It asks on, whatever becomes of the acknowledgement.
            let wait = self.chance.within(0, 100) * MS;
            self.fetch_later(member, wait);
        }
        let fate = match self.chance.below(25) {
            0 => Fate::Lost,
            1 => Fate::Unanswered,
            2 => Fate::Late,
            _ => Fate::Answered,
        };
        let sent = self.now;
        let delay = if fate == Fate::Late {
            WAIT + self.chance.within(0, LATE) * MS
        } else {
            self.delay()
        };
        self.later(
            delay,
            Step::Ack {
                member,
                sent,
                ranges,
                fate,
            },
        );
    }

    /// Verdicts of a member on records: whole stretches of one type.
    fn verdicts(&mut self, first: i64, last: i64, ranges: &mut Vec<(i64, i64, i64)>) {
        let mut at = first;
        while at <= last {
            let end = (at + self.chance.below(12)).min(last);
            let kind = if at % self.poison == 3 {
                2
            } else {
                [1, 1, 1, 1, 1, 1, 2, 3, 0][self.chance.below(9) as usize]
            };
            ranges.push((at, end, kind));
            at = end + 1;
        }
    }

    pub(super) fn acknowledge(
        &mut self,
        member: usize,
        sent: i64,
        ranges: &[(i64, i64, i64)],
        fate: Fate,
    ) {
        let (t, outcome) = if fate == Fate::Lost {
            (sent + WAIT, "unknown")
        } else {
            // Some wait for long, others do not.
            let is_slow = self.now - sent > 3 * WAIT;
            let fate = if is_slow && self.chance.once_in(2) {
                Fate::Late
            } else {
                fate
            };
            let lost = fate != Fate::Answered;
            let (name, now) = (self.names[member], self.now);
            let taken = self.leader(member).acknowledge(name, now, ranges, lost);
            let crashed = !self.alive[member];
            match (lost || crashed, taken) {
                (true, _) if fate == Fate::Late => (sent + WAIT, "unknown"),
                (true, _) => (self.now.max(sent + WAIT), "unknown"),
                (false, true) => (self.now + self.delay(), "ok"),
                (false, false) => (self.now + self.delay(), "refused"),
            }
        };
        let of = self.of(member, sent);
        let ranges: Vec<String> = ranges
            .iter()
            .map(|(first, last, kind)| format!("[{first},{last},{kind}]"))
            .collect();
        let ranges = ranges.join(",");
        let line = format!(r#""type":"ack",{of},"ranges":[{ranges}],"outcome":"{outcome}""#);
        self.note(t + self.clocks[member], line);
    }
}
