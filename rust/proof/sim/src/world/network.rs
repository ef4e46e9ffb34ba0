//! Messages: they take their time, overtake each other, arrive twice or not at all.

use share_state_core::in_flight::InFlightStore;

use super::World;
use super::events::{Answer, Asked, Call, CallAnswer, Given, Request, Told, What};
use crate::fault::Fault;
use crate::meeting::Meeting;
use crate::plan::MS;

impl<S: InFlightStore> World<S> {
    /// Draws the time that a message is on its way.
    pub(super) fn delay(&mut self) -> i64 {
        let usual = self.chance.within(50, self.plan.delay_us);
        if self.hit(Fault::Slow) {
            usual + self.chance.within(0, self.plan.lock_ms * MS * 3 / 2)
        } else {
            usual
        }
    }

    /// Sends a message; whether it arrives.
    pub(super) fn send(&mut self, what: What) -> bool {
        let is_lost = self.hit(Fault::Lost);
        let delay = self.delay();
        // A member's requests go over one connection, which doubles nothing.
        let is_request = matches!(what, What::AtBroker { .. } | What::AtGroups(_));
        if !is_request && self.hit(Fault::Doubled) {
            let again = delay + self.delay();
            self.later(again, what.clone());
        }
        if !is_lost {
            self.later(delay, what);
        }
        !is_lost
    }

    /// A member sends a request to the broker that it takes for the leader.
    pub(super) fn request(&mut self, member: usize, asked: Asked) -> u64 {
        let number = self.number();
        let Some(from) = self.members.get(member) else {
            return number;
        };
        let request = Request {
            member,
            connection: from.connection,
            request: number,
            epoch: if matches!(asked, Asked::Close) {
                -1
            } else {
                from.epoch
            },
            asked,
        };
        let broker = from.broker;
        self.send(What::AtBroker { broker, request });
        number
    }

    /// A broker answers a member.
    pub(super) fn answer(&mut self, member: usize, connection: u64, request: u64, told: Told) {
        let lost = match &told {
            Told::Records { given, at, .. } => Some((given.clone(), *at)),
            _ => None,
        };
        let answer = Answer {
            connection,
            request,
            told,
        };
        let arrives = self.send(What::AtMember { member, answer });
        if !arrives && let Some((given, at)) = lost {
            self.lost_grant(member, &given, at);
        }
    }

    /// Nobody will ever know that these records were given: for the checker, a member went with them.
    pub(super) fn lost_grant(&mut self, member: usize, given: &[Given], at: i64) {
        let Some(own) = self.members.get(member) else {
            return;
        };
        if given.iter().any(|given| given.counts) {
            self.recorder.gone(at + own.ahead, own.name);
            self.meet(Meeting::LostGrant);
        }
    }

    /// A broker asks the store.
    pub(super) fn call(&mut self, call: Call) {
        let (broker, life, id) = (call.broker, call.life, call.id);
        if let Some(from) = self.brokers.get_mut(broker) {
            from.calls.insert(id, call.clone());
        }
        self.send(What::AtStore(call));
        let patience = 4 * self.plan.delay_us + 20 * MS;
        self.later(patience, What::CallAgain { broker, life, id });
    }

    /// The store answers.
    pub(super) fn answer_call(&mut self, call: Call, answer: CallAnswer) {
        self.send(What::CallAnswered { call, answer });
    }
}
