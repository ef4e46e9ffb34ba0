//! Clients, a network and a clock each, around one server.

mod members;

use core::ops::Range;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Chance;
use super::server::{Fault, Server};

const MS: i64 = 1_000_000;
/// Clocks of two clients are at most this far apart.
const SKEW: i64 = 40 * MS;
/// Time for which a member may take a leader for the one that leads when it does not any more.
const MOST_LATE: i64 = 1000 * MS;

/// A history that was made, and whether the fault took place.
#[derive(Debug)]
pub struct Story {
    /// Its lines.
    pub lines: Vec<String>,
    /// True once the fault was done.
    pub is_done: bool,
}

/// Events that come next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Produce,
    View,
    FailOver,
    Retain,
    Reset,
    /// A member's request for records arrives, or is looked at again.
    Fetch {
        member: usize,
        sent: i64,
        until: i64,
    },
    /// A member has the answer, and has dealt with it.
    Dealt {
        member: usize,
        grants: Vec<(i64, i64)>,
        renewed: bool,
    },
    /// An acknowledgement arrives.
    Ack {
        member: usize,
        sent: i64,
        ranges: Vec<(i64, i64, i64)>,
        fate: Fate,
    },
    Crash {
        member: usize,
    },
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Answered,
    /// The request was lost.
    Lost,
    /// The answer was lost.
    Unanswered,
    /// It arrives when its member waits for it no longer.
    Late,
}

/// See the module.
#[derive(Debug)]
pub struct World {
    chance: Chance,
    server: Server,
    /// The leader before, and until when each member takes it for the leader.
    before: Option<(Server, Vec<i64>)>,
    now: i64,
    steps: BinaryHeap<Reverse<(i64, u64, Step)>>,
    order: u64,
    /// Time by which each member's clock goes ahead.
    clocks: Vec<i64>,
    alive: Vec<bool>,
    /// Name of each, by its number: two may have one name.
    names: Vec<usize>,
    lines: Vec<(i64, usize, String)>,
    poison: i64,
    pace: i64,
    left: i64,
    /// The server stands still for a time.
    pause: Range<i64>,
}

impl World {
    /// A world that follows from its seed.
    pub fn new(seed: u64, fault: Option<Fault>) -> Self {
        let mut chance = Chance(seed);
        let members = chance.within(2, 5) as usize;
        let lock = chance.within(2, 8) * 1000 * MS;
        let fault_from = chance.within(1, 6) * 1000 * MS;
        let server = Server::new(5, lock, fault, fault_from, 40_000 * MS);
        let clocks = (0..members)
            .map(|_| chance.within(-SKEW / 2, SKEW / 2))
            .collect();
        let mut world = Self {
            server,
            before: None,
            now: 0,
            steps: BinaryHeap::new(),
            order: 0,
            clocks,
            alive: vec![true; members],
            names: (0..members).collect(),
            lines: Vec::new(),
            poison: chance.within(5, 40),
            pace: chance.within(20, 600),
            left: chance.within(3, 12),
            pause: 0..0,
            chance,
        };
        if world.chance.once_in(3) {
            let from = world.chance.within(1, 15) * 1000 * MS;
            world.pause = from..from + world.chance.within(500, 15_000) * MS;
        }
        world.later(0, Step::Produce);
        world.later(MS, Step::View);
        for member in 0..members {
            let start = world.chance.within(1, 300) * MS;
            world.fetch_later(member, start);
        }
        if world.chance.once_in(2) {
            let at = world.chance.within(1, 15) * 1000 * MS;
            world.later(at, Step::FailOver);
        }
        if world.chance.once_in(3) {
            let at = world.chance.within(1, 10) * 1000 * MS;
            world.later(at, Step::Retain);
        }
        if world.chance.once_in(2) {
            let at = world.chance.within(1, 9) * 1000 * MS;
            let member = world.chance.below(members as i64) as usize;
            world.later(at, Step::Crash { member });
        }
        world.later(20_000 * MS, Step::End);
        if fault.is_none() {
            world.add_resets_and_doubles();
        }
        world
    }

    /// Resets, which would undo a fault, and two processes of one member on one machine, which would hide one.
    fn add_resets_and_doubles(&mut self) {
        for _ in 0..self.chance.below(3) {
            let at = self.chance.within(1, 30) * 1000 * MS;
            self.later(at, Step::Reset);
        }
        if self.chance.once_in(6) {
            self.names[1] = 0;
            self.clocks[1] = self.clocks[0];
        }
    }

    /// Plays it to its end.
    pub fn play(mut self) -> Story {
        while let Some(Reverse((at, _, step))) = self.steps.pop() {
            self.now = at;
            if step == Step::End {
                self.server.tick(at);
                let stuck = at > 600_000 * MS;
                // The leader that goes on after a pause is seen.
                let is_seen = at > self.pause.end + 2000 * MS;
                if self.left == 0
                    && is_seen
                    && (self.server.is_drained()
                        || stuck
                        || self.server.is_done && at > 200_000 * MS)
                {
                    self.note(at, r#""type":"drained","group":"g""#.into());
                    break;
                }
                self.later(1000 * MS, Step::End);
                continue;
            }
            self.step(step);
        }
        self.lines.sort_by_key(|line| (line.0, line.1));
        Story {
            lines: self.lines.into_iter().map(|(_, _, line)| line).collect(),
            is_done: self.server.is_done,
        }
    }

    /// The leader that a member asks.
    fn leader(&mut self, member: usize) -> &mut Server {
        let hears = |hears: &Vec<i64>| hears.get(member).is_some_and(|&at| self.now < at);
        match &mut self.before {
            Some((before, times)) if hears(times) => before,
            _ => &mut self.server,
        }
    }

    fn later(&mut self, delay: i64, step: Step) {
        self.order += 1;
        self.steps
            .push(Reverse((self.now + delay, self.order, step)));
    }

    fn note(&mut self, t: i64, rest: String) {
        // Clocks may be below the beginning.
        let t = t + SKEW;
        let line = format!("{{\"t\":{t},{rest}}}");
        self.lines.push((t, self.lines.len(), line));
    }

    fn delay(&mut self) -> i64 {
        if self.chance.once_in(20) {
            self.chance.within(50, 900) * MS
        } else {
            self.chance.within(1, 8) * MS / 4
        }
    }

    fn step(&mut self, step: Step) {
        let is_request = matches!(step, Step::View | Step::Fetch { .. } | Step::Ack { .. });
        if is_request && self.pause.contains(&self.now) {
            self.later(self.pause.end - self.now, step);
            return;
        }
        match step {
            Step::Produce => {
                let count = self.chance.within(1, 40);
                let (first, last) = self.server.produce(count);
                let line = format!(
                    r#""type":"produce","topic":"t","partition":0,"first":{first},"last":{last}"#
                );
                self.note(self.now, line);
                self.left -= 1;
                if self.left > 0 {
                    let wait = self.chance.within(10, 2000) * MS;
                    self.later(wait, Step::Produce);
                }
            }
            Step::View => self.view(),
            Step::FailOver => {
                let before = self.server.fail_over();
                // Some hear of it late.
                let hears = self.names.iter().map(|_| {
                    let late = if self.chance.once_in(2) { MOST_LATE } else { 0 };
                    self.now + self.chance.below(late + 1)
                });
                self.before = Some((before, hears.collect()));
            }
            Step::Retain => {
                let from = (self.server.start + self.chance.below(6)).min(self.server.end());
                self.server.retain(from);
                self.before = None;
                let line = format!(r#""type":"retained","topic":"t","partition":0,"from":{from}"#);
                let seen = self.now + self.chance.within(0, 3000) * MS;
                self.note(seen, line);
            }
            Step::Reset => {
                let start = self.chance.within(0, self.server.end());
                self.server.reset(start);
                self.before = None;
                let (start, epoch) = (self.server.start, self.server.state_epoch);
                let line = format!(
                    r#""type":"reset","group":"g","topic":"t","partition":0,"start_offset":{start},"state_epoch":{epoch}"#
                );
                self.note(self.now, line);
            }
            Step::Fetch {
                member,
                sent,
                until,
            } => self.fetch(member, sent, until),
            Step::Dealt {
                member,
                grants,
                renewed,
            } => self.dealt(member, grants, renewed),
            Step::Ack {
                member,
                sent,
                ranges,
                fate,
            } => self.acknowledge(member, sent, &ranges, fate),
            Step::Crash { member } => {
                self.alive[member] = false;
                let line = format!(
                    r#""type":"gone","group":"g","member":"m{}""#,
                    self.names[member]
                );
                self.note(self.now + self.clocks[member], line);
                // Another one takes its place.
                self.clocks.push(self.chance.within(-SKEW / 2, SKEW / 2));
                self.names.push(self.names.len());
                self.alive.push(true);
                self.fetch_later(self.names.len() - 1, 200 * MS);
            }
            Step::End => {}
        }
    }

    fn view(&mut self) {
        let sent = self.now - self.delay();
        let (start, leader) = self.server.view(self.now);
        let state = self.server.state_epoch;
        let t = self.now + self.delay();
        let sent = sent + SKEW;
        let line = format!(
            r#""type":"view","sent":{sent},"group":"g","topic":"t","partition":0,"start_offset":{start},"leader_epoch":{leader},"state_epoch":{state}"#
        );
        self.note(t, line);
        let wait = self.chance.within(100, 1500) * MS;
        self.later(wait, Step::View);
    }
}
