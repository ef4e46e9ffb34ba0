//! Members: they fetch, work, acknowledge, stall, crash and leave.

use std::sync::Arc;

use share_state_core::in_flight::InFlightStore;
use share_state_core::share_session::next_epoch;
use share_state_histories::Outcome;

use super::World;
use super::events::{Answer, Asked, Given, Told, What};
use super::groups::Grouped;
use super::types::{Held, Member, Waiting};
use crate::fault::Fault;
use crate::plan::MS;
use crate::recorder::Said;

impl<S: InFlightStore> World<S> {
    pub(super) fn new_member(&mut self) {
        if self.is_resetting {
            return;
        }
        let number = self.members.len();
        let alive: Vec<(Arc<str>, i64)> = self
            .members
            .iter()
            .filter(|member| member.is_alive)
            .map(|member| (Arc::clone(&member.id), member.ahead))
            .collect();
        let twin = !alive.is_empty() && self.hit(Fault::Twin);
        let ahead = self.chance.within(-self.plan.skew_us, self.plan.skew_us);
        // Two of one name have one clock: the checker knows them as one member.
        let (id, ahead) = match alive.get(self.chance.below(alive.len())) {
            Some((id, ahead)) if twin => (Arc::clone(id), *ahead),
            _ => (Arc::from(format!("m{number}")), ahead),
        };
        let member = Member {
            name: self.recorder.name(&id),
            id,
            life: 0,
            is_alive: true,
            is_leaving: false,
            broker: self.leader,
            connection: self.number(),
            epoch: 0,
            ahead,
            waiting: None,
            held: Vec::new(),
            before: None,
            taken: 0,
            fetches: Vec::new(),
            grouped: Grouped::default(),
        };
        self.members.push(member);
        if self.plan.grouped {
            self.later(0, What::Beat { member: number });
        }
        self.wake(number, 0);
    }

    /// Has a member go on after a time, whatever it meant to do before.
    pub(super) fn wake(&mut self, member: usize, wait: i64) {
        if let Some(own) = self.members.get_mut(member) {
            own.life += 1;
            let life = own.life;
            self.later(wait, What::MemberWakes { member, life });
        }
    }

    pub(super) fn member_wakes(&mut self, member: usize, life: u32) {
        let Some(own) = self.members.get(member) else {
            return;
        };
        if !own.is_alive || own.life != life || own.waiting.is_some() {
            return;
        }
        let (is_leaving, epoch) = (own.is_leaving, own.epoch);
        let held_of = own.held.first().map(|held| held.part);
        if self.hit(Fault::MemberCrash) {
            self.crash_member(member);
        } else if is_leaving || self.hit(Fault::MemberClose) {
            self.request(member, Asked::Close);
            self.leave_group(member);
            self.member_goes(member);
        } else if epoch > 0
            && let Some(part) = held_of
        {
            let said = self.say(member, part);
            self.acknowledge(member, part, said);
        } else if epoch > 0 && self.hit(Fault::Repeat) {
            match self.members.get(member).and_then(|own| own.before.clone()) {
                Some((part, said)) => self.acknowledge(member, part, said),
                None => self.fetch(member),
            }
        } else if epoch > 0 && self.hit(Fault::Stranger) {
            let part = self.chance.below(self.logs.len());
            let end = self.logs.get(part).map_or(0, |log| log.end);
            let first = self.chance.within(0, end);
            // One record: a range may reach over holes, and is confirmed for what the member holds of it. And no renewal: it is
            // confirmed below the start offset, where nothing is held.
            let kind = self.chance.within(0, 3) as i8;
            self.acknowledge(member, part, vec![(first, first, kind)]);
        } else {
            self.fetch(member);
        }
    }

    fn fetch(&mut self, member: usize) {
        let parts = self.parts_of(member);
        if parts.is_empty() {
            self.wake(member, 20 * MS);
            return;
        }
        let names_others = |own: &Member| own.epoch > 0 && own.fetches != parts;
        if self.members.get(member).is_some_and(names_others) {
            self.reconnect(member);
        }
        if let Some(own) = self.members.get_mut(member) {
            own.fetches.clone_from(&parts);
        }
        let wait_us = self.chance.within(20, 200) * MS;
        let request = self.request(member, Asked::Fetch { wait_us, parts });
        self.waits(member, request, None, wait_us);
    }

    fn acknowledge(&mut self, member: usize, part: usize, said: Vec<Said>) {
        let asked = Asked::Acknowledge {
            part,
            said: said.clone(),
        };
        let request = self.request(member, asked);
        self.waits(member, request, Some((part, said)), 0);
    }

    fn waits(
        &mut self,
        member: usize,
        request: u64,
        acknowledged: Option<(usize, Vec<Said>)>,
        more: i64,
    ) {
        let sent = self.now;
        if let Some(own) = self.members.get_mut(member) {
            own.waiting = Some(Waiting {
                request,
                sent,
                acknowledged,
            });
        }
        let patience = more + 8 * self.plan.delay_us + 200 * MS;
        self.later(patience, What::GivesUp { member, request });
        if self.hit(Fault::Cut) {
            // Its request and the answer may be on their way.
            let soon = self.chance.within(0, 2 * self.plan.delay_us);
            self.later(soon, What::GivesUp { member, request });
        }
    }

    /// Acknowledgements of a member for what it holds of a share partition.
    fn say(&mut self, member: usize, part: usize) -> Vec<Said> {
        let held = self
            .members
            .get_mut(member)
            .map(|own| core::mem::take(&mut own.held));
        let (mine, mut kept): (Vec<Held>, Vec<Held>) = held
            .unwrap_or_default()
            .into_iter()
            .partition(|held| held.part == part);
        let mut said: Vec<Said> = Vec::new();
        for Held { first, last, .. } in mine {
            let mut at = first;
            while at <= last {
                let has_record = self.logs.get(part).is_some_and(|log| log.has_record(at));
                let (end, kind) = if has_record {
                    let end = (at + self.chance.within(0, 9)).min(last);
                    (end, self.verdict())
                } else {
                    (at, 0)
                };
                if kind == 4 {
                    kept.push(Held {
                        part,
                        first: at,
                        last: end,
                    });
                }
                said.push((at, end, kind));
                at = end + 1;
            }
        }
        said.sort_unstable();
        said.dedup_by(|b, a| b.0 <= a.1);
        if let Some(own) = self.members.get_mut(member) {
            own.held = kept;
            own.before = Some((
                part,
                said.iter().copied().filter(|said| said.2 != 4).collect(),
            ));
        }
        said
    }

    fn verdict(&mut self) -> i8 {
        if self.hit(Fault::Release) {
            2
        } else if self.hit(Fault::Reject) {
            3
        } else if self.hit(Fault::Renew) {
            4
        } else {
            1
        }
    }

    pub(super) fn at_member(&mut self, member: usize, answer: Answer) {
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        let awaited = own
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.request == answer.request)
            && own.connection == answer.connection
            && own.is_alive;
        if !awaited {
            if let Told::Records { given, serial, at } = answer.told
                && own.taken != serial
            {
                own.taken = serial;
                self.lost_grant(member, &given, at);
            }
            return;
        }
        let Some(waiting) = own.waiting.take() else {
            return;
        };
        let (name, ahead) = (own.name, own.ahead);
        let times = (waiting.sent + ahead, self.now + ahead);
        if let Some((part, said)) = &waiting.acknowledged {
            let outcome = match answer.told {
                Told::Done { counts: true } => Some(Outcome::Ok),
                Told::Failed { counts: true } => Some(Outcome::Unknown),
                Told::Done { .. } | Told::Failed { .. } => None,
                _ => Some(Outcome::Refused),
            };
            if let Some(outcome) = outcome {
                self.recorder
                    .acknowledged(times, *part, name, said, outcome);
            }
        }
        self.go_on(member, answer.told, times);
    }

    /// After an answer.
    fn go_on(&mut self, member: usize, told: Told, times: (i64, i64)) {
        match told {
            Told::Records { given, serial, .. } => {
                self.take(member, &given, serial, times);
                self.advance(member);
                let longest = if self.is_calm { MS } else { self.plan.work_us };
                let mut work = self.chance.within(0, longest);
                if !given.is_empty() && self.hit(Fault::Stall) {
                    work = self.plan.lock_ms * MS * self.chance.within(10, 30) / 10;
                }
                self.wake(member, work);
            }
            Told::Session | Told::NotLeader => {
                self.reconnect(member);
                let wait = self.chance.within(5, 50) * MS;
                self.wake(member, wait);
            }
            Told::Done { .. } | Told::Failed { .. } | Told::Refused => {
                self.advance(member);
                self.wake(member, 0);
            }
        }
    }

    fn take(&mut self, member: usize, given: &[Given], serial: u64, times: (i64, i64)) {
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        own.taken = serial;
        for given in given {
            own.held.push(Held {
                part: given.part,
                first: given.first,
                last: given.last,
            });
            let Some(log) = self.logs.get(given.part).filter(|_| given.counts) else {
                continue;
            };
            // A consumer hands out records; what lies between them nobody sees.
            for (first, last) in log.records_within(given.first, given.last) {
                let records = (first, last, given.count);
                self.recorder
                    .granted(times, given.part, own.name, records, self.plan.lock_ms);
            }
        }
    }

    fn advance(&mut self, member: usize) {
        if let Some(own) = self.members.get_mut(member) {
            own.epoch = next_epoch(own.epoch);
        }
    }

    /// The member asks who leads, and opens a session of its own.
    fn reconnect(&mut self, member: usize) {
        let connection = self.number();
        let leader = self.leader;
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        let (broker, old) = (own.broker, own.connection);
        own.connection = connection;
        own.epoch = 0;
        own.broker = leader;
        let delay = self.delay();
        self.later(
            delay,
            What::Disconnected {
                broker,
                connection: old,
            },
        );
    }

    pub(super) fn gives_up(&mut self, member: usize, request: u64) {
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        if own
            .waiting
            .as_ref()
            .is_none_or(|waiting| waiting.request != request)
        {
            return;
        }
        if let Some(Waiting {
            sent,
            acknowledged: Some((part, said)),
            ..
        }) = own.waiting.take()
        {
            let times = (sent + own.ahead, self.now + own.ahead);
            self.recorder
                .acknowledged(times, part, own.name, &said, Outcome::Unknown);
        }
        self.reconnect(member);
        self.wake(member, 0);
    }

    pub(super) fn crash_member(&mut self, member: usize) {
        if let Some(own) = self.members.get(member) {
            let (broker, connection) = (own.broker, own.connection);
            let delay = self.delay();
            self.later(delay, What::Disconnected { broker, connection });
        }
        self.member_goes(member);
    }

    /// A member is there no more. Somebody else may come in its place.
    fn member_goes(&mut self, member: usize) {
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        own.is_alive = false;
        own.life += 1;
        let t = self.now + own.ahead;
        self.recorder.gone(t, own.name);
        let wait = self.chance.within(0, 300) * MS;
        self.later(wait, What::NewMember);
    }
}
