//! The group coordinator: members say that they are there, and are told which partitions to fetch. It ends and starts again from
//! its log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use share_state_core::assignor::Assignment;
use share_state_core::in_flight::InFlightStore;
use share_state_core::share_group::{
    GroupError, GroupRecord, Heartbeat, HeartbeatAnswer, JOIN_EPOCH, LEAVE_EPOCH, Numbers,
    ShareGroups, Topic,
};
use share_state_core::time::LockTime;

use super::events::{Beat, Beaten, What};
use super::{GROUP, TOPIC, World};
use crate::broken::Broken;
use crate::meeting::Meeting;
use crate::plan::MS;

/// Time that the coordinator waits for a member, milliseconds.
const SESSION_MS: i64 = 1_000;

/// Time between two heartbeats of a member, milliseconds.
const INTERVAL_MS: i64 = 200;

/// State that the coordinator holds.
#[derive(Debug, Default)]
pub struct Groups {
    machine: Option<ShareGroups>,
    /// Records that are durable.
    log: Vec<GroupRecord>,
    /// It ends at its next heartbeat: before it has written, or after.
    ends: Option<Moment>,
    /// The newest heartbeat of each member that has come.
    newest: BTreeMap<usize, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    BeforeWrite,
    AfterWrite,
}

/// A member's part.
#[derive(Debug, Default)]
pub struct Grouped {
    epoch: i32,
    /// Its last heartbeat, and whether it was answered.
    serial: u64,
    is_answered: bool,
    assigned: Vec<usize>,
}

impl Grouped {
    /// Its next heartbeat joins, and says all.
    pub fn joins_anew(&mut self) {
        // What answers an earlier one is not heard any more.
        *self = Self::default();
    }
}

impl<S: InFlightStore> World<S> {
    pub(super) fn groups_begin(&mut self) {
        self.groups_start();
        for _ in 0..self.chance.within(0, 3) {
            let at = self.chance.within(0, self.plan.faulty_us);
            self.later(at, What::GroupsEnd);
        }
    }

    /// Starts from the log.
    fn groups_start(&mut self) {
        let numbers = [
            ("group.share.min.session.timeout.ms", 1),
            ("group.share.session.timeout.ms", SESSION_MS),
            ("group.share.min.heartbeat.interval.ms", 1),
            ("group.share.heartbeat.interval.ms", INTERVAL_MS),
            ("group.share.assignment.interval.ms", 100),
        ];
        let numbers: Numbers = numbers.map(|(name, value)| (name.to_owned(), value)).into();
        let topic = Topic {
            name: Arc::from("t"),
            id: TOPIC,
            partitions: i32::try_from(self.plan.partitions).unwrap_or(i32::MAX),
        };
        let made = ShareGroups::new(numbers).map_err(|error| error.to_string());
        let made = made.and_then(|mut machine| {
            let set = machine.set_topics(vec![topic]);
            set.map_err(|error| error.to_string())?;
            for record in &self.groups.log {
                machine.replay(record);
            }
            machine.check().map(|()| machine)
        });
        match made {
            Ok(machine) => self.groups.machine = Some(machine),
            Err(error) => self.find(format!("group: {error}")),
        }
    }

    /// It ends soon.
    pub(super) fn groups_end(&mut self) {
        self.groups.ends = Some(if self.chance.once_in(2) {
            Moment::BeforeWrite
        } else {
            Moment::AfterWrite
        });
    }

    /// The partitions that a member is to fetch.
    pub(super) fn parts_of(&self, member: usize) -> Vec<usize> {
        match self.members.get(member) {
            Some(own) if self.plan.grouped => own.grouped.assigned.clone(),
            _ => (0..self.plan.partitions).collect(),
        }
    }

    pub(super) fn beat(&mut self, member: usize) {
        if self.send_beat(member, None) {
            let wait = self.chance.within(INTERVAL_MS / 2, INTERVAL_MS) * MS;
            self.later(wait, What::Beat { member });
        }
    }

    pub(super) fn leave_group(&mut self, member: usize) {
        if self.plan.grouped {
            self.send_beat(member, Some(LEAVE_EPOCH));
        }
    }

    /// Sends a heartbeat; whether the member is there.
    fn send_beat(&mut self, member: usize, epoch: Option<i32>) -> bool {
        let serial = self.number();
        let Some(own) = self.members.get_mut(member).filter(|own| own.is_alive) else {
            return false;
        };
        let is_full = !core::mem::take(&mut own.grouped.is_answered);
        own.grouped.serial = serial;
        let beat = Beat {
            member,
            id: Arc::clone(&own.id),
            epoch: epoch.unwrap_or(own.grouped.epoch),
            serial,
            is_full,
        };
        self.send(What::AtGroups(beat));
        true
    }

    pub(super) fn at_groups(&mut self, beat: &Beat) {
        let now = LockTime(self.now / MS);
        let newest = self.groups.newest.entry(beat.member).or_default();
        let is_late = beat.serial < *newest;
        *newest = beat.serial.max(*newest);
        if is_late {
            self.meet(Meeting::LateBeat);
        }
        let ends = self.groups.ends.take();
        if ends == Some(Moment::BeforeWrite) {
            self.groups_start();
            return;
        }
        let wall = self.store.wall(self.now);
        let Some(machine) = &mut self.groups.machine else {
            return;
        };
        let mut written = Vec::new();
        let mut expired = 0;
        for (group, member) in machine.handle_timeout(now) {
            if let Ok(decision) = machine.decide_expire(&group, &member) {
                expired += 1;
                for record in &decision.records {
                    machine.replay(record);
                }
                written.extend(decision.records);
            }
        }
        let request = Heartbeat {
            group: GROUP,
            member: &beat.id,
            member_epoch: beat.epoch,
            rack: None,
            topics: (beat.is_full && beat.epoch >= JOIN_EPOCH).then_some(&["t"]),
            client_id: "c",
            client_host: "h",
        };
        let new = machine.to_initialize(&request);
        let new: Vec<_> = new
            .iter()
            .map(|new| (new.topic_id, new.partition))
            .collect();
        let told = machine
            .decide_heartbeat(&request, &new, wall)
            .map(|decision| {
                for record in &decision.records {
                    machine.replay(record);
                }
                machine.heard(GROUP, &beat.id, now);
                written.extend(decision.records);
                decision.answer
            });
        let checked = machine.check();
        let described = machine.describe(GROUP);
        self.groups.log.extend(written);
        for _ in 0..expired {
            self.meet(Meeting::MemberExpires);
        }
        if let Err(error) = checked {
            self.find(format!("group: {error}"));
        }
        if ends == Some(Moment::AfterWrite) {
            self.meet(Meeting::BeatThenLost);
            self.groups_start();
            let again = self
                .groups
                .machine
                .as_ref()
                .and_then(|machine| machine.describe(GROUP));
            if again != described {
                self.find(format!(
                    "group: {described:?} was left, and {again:?} is found"
                ));
            }
            return;
        }
        let moves = |answer: &HeartbeatAnswer| answer.member_epoch > beat.epoch;
        if is_late && beat.epoch > JOIN_EPOCH && told.as_ref().is_ok_and(moves) {
            self.meet(Meeting::LateBeatMoves);
        }
        self.answer_beat(beat, told);
    }

    fn answer_beat(&mut self, beat: &Beat, told: Result<HeartbeatAnswer, GroupError>) {
        if told.is_err() && beat.epoch > JOIN_EPOCH {
            self.meet(Meeting::MemberFenced);
        }
        let told = match told {
            Ok(answer) => Some(answer),
            Err(_) if self.is(Broken::FencesNot) => Some(HeartbeatAnswer {
                member_epoch: beat.epoch,
                heartbeat_interval_ms: INTERVAL_MS,
                assignment: None,
            }),
            Err(_) => None,
        };
        let (member, serial) = (beat.member, beat.serial);
        let beaten = Beaten { serial, told };
        self.send(What::Beaten { member, beaten });
    }

    pub(super) fn beaten(&mut self, member: usize, beaten: Beaten) {
        let partitions = self.plan.partitions;
        let Some(own) = self.members.get_mut(member) else {
            return;
        };
        let grouped = &mut own.grouped;
        if !own.is_alive || grouped.serial != beaten.serial {
            return;
        }
        grouped.is_answered = true;
        let Some(answer) = beaten.told else {
            grouped.joins_anew();
            return;
        };
        let (before, now) = (grouped.epoch, answer.member_epoch);
        grouped.epoch = now;
        let mut is_sound = now >= before;
        if let Some(assigned) = answer.assignment {
            grouped.assigned = parts(&assigned);
            is_sound &= grouped.assigned.iter().all(|part| *part < partitions);
            is_sound &= grouped.assigned.len() == assigned.len();
        }
        if !is_sound {
            let assigned = grouped.assigned.clone();
            self.find(format!(
                "group: a member of epoch {before} is told {now}, and to fetch {assigned:?}"
            ));
        }
    }

    /// Returns true if the group is made of the members that are there, and each fetches what it was assigned; together, all.
    pub(super) fn group_agrees(&self) -> bool {
        let machine = self.groups.machine.as_ref();
        let Some(group) = machine.and_then(|machine| machine.describe(GROUP)) else {
            return !self.plan.grouped;
        };
        let alive = || self.members.iter().filter(|own| own.is_alive);
        let known = |id: &Arc<str>, grouped: &Grouped| {
            group.members.iter().any(|member| {
                member.id == *id
                    && member.epoch == group.epoch
                    && member.epoch == grouped.epoch
                    && parts(&member.assigned) == grouped.assigned
            })
        };
        let fetched: BTreeSet<usize> = alive()
            .flat_map(|own| own.grouped.assigned.clone())
            .collect();
        alive().count() == group.members.len()
            && alive().all(|own| known(&own.id, &own.grouped))
            && fetched.len() == self.plan.partitions
    }
}

fn parts(assigned: &Assignment) -> Vec<usize> {
    let mut parts: Vec<usize> = assigned
        .of(TOPIC)
        .iter()
        .filter_map(|part| usize::try_from(*part).ok())
        .collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}
