//! A heartbeat on both sides.
//!
//! Kafka initialises state after the heartbeat, and assigns it with the next one; ours is told what the caller has initialised. So
//! it is asked twice: with nothing initialised it must do as Kafka does; with everything, what Kafka will have done in the end.

use serde_json::Value;
use share_state_core::share_group::{
    CurrentAssignment, Decision, GroupError, GroupRecord, GroupValue, Heartbeat, HeartbeatAnswer,
    LEAVE_EPOCH, Uninitialized,
};

use super::administration::number;
use super::log::{read, shown};
use super::operation::{Beat, Epoch, NO_EPOCH};
use super::ours::Ours;
use super::point::{G1, G4, G6, G7, G8, G10, G13, Points};
use super::targets::{self, Targets};
use super::text::{assigned, assigned_json};
use crate::assignor::{COUNTED, NOBODY_LEFT};

/// Longest member id (Kafka's clients take a UUID).
const LONGEST_MEMBER_ID: usize = 36;

type Decided = Result<Decision<HeartbeatAnswer>, GroupError>;

/// Turn of both sides with a heartbeat.
pub struct Turn<'a> {
    /// Our side.
    pub ours: &'a mut Ours,
    /// The heartbeat.
    pub request: Heartbeat<'a>,
    /// Points in which the sides differ.
    pub points: Points,
}

/// Compares a heartbeat, and takes over what Kafka has decided; what was reached.
pub fn compare(ours: &mut Ours, beat: &Beat, given: &Value) -> (Points, String) {
    let epoch = epoch(ours, beat);
    let topics: Option<Vec<&str>> = beat
        .topics
        .as_ref()
        .map(|topics| topics.iter().map(String::as_str).collect());
    let client_host = beat.client_host();
    let request = Heartbeat {
        group: &beat.group,
        member: &beat.member,
        member_epoch: epoch,
        rack: beat.rack.as_deref(),
        topics: topics.as_deref(),
        client_id: &beat.client,
        client_host: &client_host,
    };
    let mut turn = Turn {
        ours,
        request,
        points: Points::default(),
    };
    let reached = turn.compare(given);
    (turn.points, reached)
}

fn epoch(ours: &Ours, beat: &Beat) -> i32 {
    if let Epoch::Is(epoch) = beat.epoch {
        return epoch;
    }
    let mut is_member = false;
    let (mut current, mut previous) = (0, -1);
    for record in ours.latest.of(&beat.group) {
        match &record.value {
            GroupValue::Member(member, Some(_)) if **member == *beat.member => is_member = true,
            GroupValue::CurrentMember(member, Some(of)) if **member == *beat.member => {
                (current, previous) = (of.member_epoch, of.previous_member_epoch);
            }
            _ => {}
        }
    }
    match beat.epoch {
        _ if !is_member => NO_EPOCH,
        Epoch::Current => current,
        _ => previous,
    }
}

impl Turn<'_> {
    fn compare(&mut self, given: &Value) -> String {
        let result = &given["result"];
        let code = number(&result["code"]);
        let need = self.ours.groups.to_initialize(&self.request);
        let decided = self
            .ours
            .groups
            .decide_heartbeat(&self.request, &[], self.ours.now());
        let mut kafka = match read(&given["records"]) {
            Ok(records) => records,
            Err(wrong) => {
                self.points.differ("codec", wrong, String::new(), None);
                return String::new();
            }
        };
        let own = decided.as_ref().map_or(&[][..], |d| &d.records[..]);
        if let Err(wrong) = self.ours.translate(&mut kafka, own) {
            self.points
                .differ("metadata hash", wrong, String::new(), None);
        }
        if code == 0 && decided.is_ok() {
            self.one_step(&need);
        }
        match decided {
            Ok(decided) if code == 0 => self.accepted(decided, &need, &kafka, given),
            decided => self.refused(&decided, code, result),
        }
        self.ours.adopt(&kafka);
        if code == 0 && self.request.member_epoch != LEAVE_EPOCH {
            self.ours.heard(self.request.group, self.request.member);
        }
        let kind = match self.request.member_epoch {
            LEAVE_EPOCH => "leave",
            0 => "join",
            _ => "go on",
        };
        let moved = if result.get("assignment").is_some() {
            ", told"
        } else {
            ""
        };
        format!("{code} {kind}{moved}")
    }

    fn refused(&mut self, decided: &Decided, code: i64, result: &Value) {
        let own = match decided {
            Ok(_) => 0,
            Err(error) => i64::from(error.kafka_code().code()),
        };
        if own == code {
            return;
        }
        let lost = self.ours.latest.of(self.request.group).next().is_none();
        let failed = result["error"] == NOBODY_LEFT;
        let class = match (code, own) {
            (69, 25) if lost && self.request.member_epoch > 0 => Some(G1),
            (-1, 0) if failed => Some(COUNTED),
            (0 | 25 | 69 | 81 | 110, 42)
                if self.request.member.chars().count() > LONGEST_MEMBER_ID =>
            {
                Some(G10)
            }
            _ => None,
        };
        self.points
            .differ("code", result.to_string(), format!("{decided:?}"), class);
    }

    fn accepted(
        &mut self,
        mut decided: Decision<HeartbeatAnswer>,
        need: &[Uninitialized],
        kafka: &[GroupRecord],
        given: &Value,
    ) {
        let result = &given["result"];
        let mut need = need.to_vec();
        self.first_epoch(&mut decided, &mut need, kafka);
        if self.makes_new_ones(&decided.records, kafka) {
            return;
        }
        let mut theirs: Vec<GroupRecord> = kafka
            .iter()
            .filter(|record| !matches!(record.value, GroupValue::StatePartitions(_)))
            .filter(|record| self.is_assignment_news(record))
            .cloned()
            .collect();
        // Of several members Kafka writes in the order of a hash map.
        theirs
            .chunk_by_mut(|a, b| targets::member(a).is_some() && targets::member(b).is_some())
            .for_each(|targets| {
                targets.sort_by(|a, b| targets::member(a).cmp(&targets::member(b)))
            });
        if self.request.member_epoch != LEAVE_EPOCH {
            let targets = Targets::of(self.ours, &self.request);
            targets.adjust(&mut decided, &theirs, &mut self.points);
        }
        decided
            .records
            .retain(|record| self.is_assignment_news(record));
        let answer = &decided.answer;
        self.points.same(
            "epoch",
            number(&result["epoch"]).to_string(),
            answer.member_epoch.to_string(),
        );
        let own = answer.assignment.as_ref().map(assigned);
        let told = result.get("assignment").map(assigned_json);
        let told = told.filter(|told| own.is_some() || !self.is_told_again(told));
        let class = (told.is_none() && self.has_missed(own.as_deref())).then_some(G13);
        if told != own {
            self.points
                .differ("assignment", format!("{told:?}"), format!("{own:?}"), class);
        }
        self.points
            .same("records", shown(&theirs), shown(&decided.records));
        self.interval(number(&result["interval"]), answer, &decided.records);
        self.initialize(&need, &given["initialize"]);
    }

    /// Kafka tells an assignment of a topic without partitions from one of nothing, and both delete targets that are not there.
    fn is_assignment_news(&self, record: &GroupRecord) -> bool {
        let is_assignment = matches!(
            record.value,
            GroupValue::TargetMember(..) | GroupValue::CurrentMember(..)
        );
        !is_assignment || self.ours.latest.is_news(record)
    }

    /// Returns true if Kafka tells a member what it has. It does so when a topic without partitions, which it keeps in an
    /// assignment, is gone.
    fn is_told_again(&self, told: &str) -> bool {
        let current = self.current();
        !self.is_full() && current.is_some_and(|current| assigned(&current.assigned) == told)
    }

    /// Returns true if a member that says the epoch before is told what it has.
    fn has_missed(&self, told: Option<&str>) -> bool {
        let is_before = |current: &&CurrentAssignment| {
            current.previous_member_epoch == self.request.member_epoch
                && current.member_epoch > self.request.member_epoch
        };
        let current = self.current().filter(is_before);
        !self.is_full()
            && current.is_some_and(|current| told == Some(&*assigned(&current.assigned)))
    }

    /// Returns true if the member joins, or says all.
    const fn is_full(&self) -> bool {
        self.request.member_epoch <= 0 || self.request.topics.is_some()
    }

    /// Assignment that the member has before the heartbeat.
    fn current(&self) -> Option<&CurrentAssignment> {
        let mut records = self.ours.latest.of(self.request.group);
        records.find_map(|record| match &record.value {
            GroupValue::CurrentMember(id, current) if **id == *self.request.member => {
                current.as_ref()
            }
            _ => None,
        })
    }

    /// Returns true if Kafka keeps targets that hold what cannot be assigned any more, or that are younger than the clock, and we
    /// make new ones.
    fn makes_new_ones(&mut self, own: &[GroupRecord], kafka: &[GroupRecord]) -> bool {
        let is_bump = |records: &[GroupRecord]| {
            records
                .iter()
                .any(|record| matches!(record.value, GroupValue::Group(_)))
        };
        let is_made = |records: &[GroupRecord]| {
            records
                .iter()
                .any(|record| matches!(record.value, GroupValue::TargetAssignment(Some(_))))
        };
        let targets = Targets::of(self.ours, &self.request);
        let ahead = targets.made_at() > self.ours.now().0;
        if ahead && is_made(own) && !is_made(kafka) {
            self.points
                .differ("clock", shown(kafka), shown(own), Some(G6));
            return true;
        }
        let heals = is_bump(own) && !is_bump(kafka) && targets.are_stale();
        if heals {
            self.points
                .differ("healing", shown(kafka), shown(own), Some(G7));
        }
        heals
    }

    /// Compares the first epoch of a group, and takes over Kafka's.
    fn first_epoch(
        &mut self,
        decided: &mut Decision<HeartbeatAnswer>,
        need: &mut [Uninitialized],
        kafka: &[GroupRecord],
    ) {
        let epoch = |records: &[GroupRecord]| {
            records.iter().find_map(|record| match record.value {
                GroupValue::Group(Some(group)) => Some(group.epoch),
                _ => None,
            })
        };
        let (theirs, own) = (epoch(kafka), epoch(&decided.records));
        let begins = !self.ours.latest.has_epoch(self.request.group);
        if !begins || theirs.is_none() || own.map(|own| own + 1) != theirs {
            return;
        }
        self.points.differ(
            "first epoch",
            format!("{theirs:?}"),
            format!("{own:?}"),
            Some(G8),
        );
        decided.answer.member_epoch += 1;
        for record in &mut decided.records {
            match &mut record.value {
                GroupValue::Group(Some(group)) => group.epoch += 1,
                GroupValue::TargetAssignment(Some(target)) => target.assignment_epoch += 1,
                GroupValue::CurrentMember(_, Some(current)) => current.member_epoch += 1,
                _ => {}
            }
        }
        for new in need {
            new.state_epoch += 1;
        }
    }

    fn interval(&mut self, kafka: i64, answer: &HeartbeatAnswer, records: &[GroupRecord]) {
        let own = answer.heartbeat_interval_ms;
        if kafka == own {
            return;
        }
        let mut after = self.ours.clone();
        after.try_out(records);
        let described = after.groups.describe(self.request.group);
        let pending = described.is_some_and(|group| group.assignment_epoch < group.epoch);
        let settings = self.ours.groups.settings(self.request.group);
        let soon = settings.assignment_interval_ms.max(500);
        let class = (pending && own == soon && own < kafka).then_some(G4);
        self.points
            .differ("interval", kafka.to_string(), own.to_string(), class);
    }
}
