//! The world: one thread, one clock, one queue of what happens next.

mod asks;
mod brokers;
mod cache;
mod calls;
mod calm;
mod engine;
mod events;
mod fetches;
mod groups;
mod inline;
mod members;
mod misfortune;
mod network;
mod store;
mod store_starts;
mod types;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use share_state_core::ids::TopicId;
use share_state_core::in_flight::InFlightStore;
use share_state_histories::{MILLI, Settings, check};

use crate::broken::Broken;
use crate::chance::Chance;
use crate::data_log::DataLog;
use crate::fault::Fault;
use crate::meeting::{Meeting, Meetings};
use crate::plan::{MS, Plan};
use crate::recorder::Recorder;
use events::{Due, What};
use groups::Groups;
use store::Store;
use types::{Broker, Member};

/// The one topic.
const TOPIC: TopicId = TopicId([7; 16]);
/// The one group.
const GROUP: &str = "g";

/// A world that does not end by then has failed.
const MOST_STEPS: u64 = 400_000;

/// Longest time that the world takes to be done once it is calm, beside the time in which faults came: microseconds.
const CALM: i64 = 60_000 * MS;

/// Outcome of a world.
#[derive(Debug, Default)]
pub struct Played {
    /// Things that happened.
    pub steps: u64,
    /// Events of the history.
    pub events: u64,
    /// A hash of all that happened, in order.
    pub trace: u64,
    /// Findings, in words; the first word is the rule.
    pub findings: Vec<String>,
    /// Meetings that happened.
    pub meetings: Meetings,
    /// Number of times that each fault came.
    pub faults: [u64; Fault::COUNT],
    /// The history, a line an event; only of a world with findings.
    pub history: Vec<String>,
}

/// See the module.
pub struct World<S> {
    plan: Plan,
    broken: Option<Broken>,
    chance: Chance,
    now: i64,
    order: u64,
    queue: BinaryHeap<Reverse<Due>>,
    logs: Vec<DataLog>,
    /// Records that are still to be produced.
    left: i64,
    store: Store,
    brokers: [Broker<S>; 2],
    /// The broker that leads, as the cluster has it, and its epoch.
    leader: usize,
    epoch: i32,
    members: Vec<Member>,
    groups: Groups,
    /// Numbers for requests, calls, connections and grants.
    serial: u64,
    given_up: BTreeSet<u64>,
    recorder: Recorder,
    /// The highest leader epoch that was shown of each share partition.
    shown: Vec<i32>,
    is_calm: bool,
    calm_since: i64,
    is_resetting: bool,
    is_draining: bool,
    is_over: bool,
    out: Played,
}

impl<S: InFlightStore> World<S> {
    /// A world that follows from its plan.
    #[must_use]
    pub fn new(plan: &Plan, broken: Option<Broken>) -> Self {
        let plan = plan.clone();
        let mut chance = Chance::new(plan.seed, 2);
        let mut store = Store::new(&plan, broken);
        let first = store.make(&plan, &mut chance);
        let mut world = Self {
            chance,
            now: 0,
            order: 0,
            queue: BinaryHeap::new(),
            logs: vec![DataLog::default(); plan.partitions],
            left: plan.records,
            store,
            brokers: [Broker::new(plan.partitions), Broker::new(plan.partitions)],
            leader: 0,
            epoch: 1,
            members: Vec::new(),
            groups: Groups::default(),
            serial: 0,
            given_up: BTreeSet::new(),
            recorder: Recorder::default(),
            shown: vec![0; plan.partitions],
            is_calm: false,
            calm_since: 0,
            is_resetting: false,
            is_draining: false,
            is_over: false,
            out: Played::default(),
            broken,
            plan,
        };
        if let Err(error) = first {
            world.find(error);
        }
        world.begin();
        world
    }

    fn begin(&mut self) {
        if self.plan.drift_ppm != 0 {
            self.came(Fault::Drift);
            for broker in &mut self.brokers {
                broker.clock.ppm = self.plan.drift_ppm;
            }
        }
        if self.plan.rate(Fault::DeadLetter) > 0 {
            self.came(Fault::DeadLetter);
        }
        if self.plan.grouped {
            self.groups_begin();
        }
        self.view_all();
        self.lead(0, 1);
        self.later(0, What::Produce);
        self.later(MS, What::Observe);
        for _ in 0..self.plan.members {
            let wait = self.chance.within(0, 20 * MS);
            self.later(wait, What::NewMember);
        }
        let faulty = self.plan.faulty_us;
        for _ in 0..self.chance.within(0, 8) {
            let at = self.chance.within(0, faulty);
            self.later(at, What::Misfortune);
        }
        self.later(faulty / 3, What::Maintain);
        self.later(faulty, What::Calm);
    }

    /// Plays it to its end, and checks what the members saw.
    #[must_use]
    pub fn play(mut self) -> Played {
        while let Some(Reverse(due)) = self.queue.pop() {
            self.now = due.at;
            self.out.steps += 1;
            self.trace(due.at as u64);
            self.trace(due.what.number());
            self.happen(due.what);
            if self.is_over || !self.out.findings.is_empty() {
                break;
            }
            if self.out.steps > MOST_STEPS {
                self.find(format!("end: the world does not end: {:?}", self.plan));
                break;
            }
        }
        let settings = Settings {
            delivery_limit: self.plan.limit.into(),
            skew: self.skew_us() * 1_000,
            within: (self.plan.faulty_us + CALM / 2) / MS * MILLI,
        };
        let history = self.recorder.finish();
        let report = check(&history, &settings);
        self.out.events = history.events.len() as u64;
        for violation in report.violations.iter().take(5) {
            let mut text = format!(
                "{}: {:?} {}",
                violation.check.name(),
                violation.span,
                violation.text
            );
            for &at in &violation.excerpt {
                if let Some(event) = history.events.get(at as usize) {
                    text += &format!("\n    {}", history.line(event, violation.span));
                }
            }
            self.out.findings.push(text);
        }
        if !self.out.findings.is_empty() {
            let lines = history.events.iter().map(|event| history.line(event, None));
            self.out.history = lines.collect();
        }
        self.out
    }

    /// Largest difference between the times that members see and those that the leaders' clocks say.
    fn skew_us(&self) -> i64 {
        let drift = self.plan.lock_ms * MS * self.plan.drift_ppm.abs() / 1_000_000;
        let steps: i64 = self
            .brokers
            .iter()
            .map(|broker| broker.clock.stepped)
            .max()
            .unwrap_or(0);
        2 * self.plan.skew_us + drift + steps + 2 * MS
    }

    fn later(&mut self, wait: i64, what: What) {
        self.order += 1;
        self.queue.push(Reverse(Due {
            at: self.now + wait.max(0),
            order: self.order,
            what,
        }));
    }

    fn number(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn trace(&mut self, what: u64) {
        self.out.trace = (self.out.trace ^ what)
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(23);
    }

    fn find(&mut self, what: String) {
        self.out.findings.push(what);
    }

    fn meet(&mut self, meeting: Meeting) {
        self.out.meetings.note(meeting);
    }

    fn came(&mut self, fault: Fault) {
        if let Some(count) = self.out.faults.get_mut(fault as usize) {
            *count += 1;
        }
    }

    /// Returns true if a fault comes now, of those that come by chance.
    fn hit(&mut self, fault: Fault) -> bool {
        let rate = self.plan.rate(fault);
        let comes = !self.is_calm && rate > 0 && self.chance.hit(rate);
        if comes {
            self.came(fault);
        }
        comes
    }

    fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Produce => self.produce(),
            What::EndTransaction { part } => self.end_transaction(part),
            What::NewMember => self.new_member(),
            What::MemberWakes { member, life } => self.member_wakes(member, life),
            What::GivesUp { member, request } => self.gives_up(member, request),
            What::AtMember { member, answer } => self.at_member(member, answer),
            What::AtBroker { broker, request } => self.at_broker(broker, request),
            What::Disconnected { broker, connection } => self.disconnected(broker, connection),
            What::FetchEnds {
                broker,
                life,
                request,
            } => self.fetch_ends(broker, life, request),
            What::LocksDue {
                broker,
                life,
                part,
                serial,
            } => self.locks_due(broker, life, part, serial),
            What::LetterDone {
                broker,
                life,
                part,
                serial,
                token,
            } => {
                self.letter_done(broker, (life, part, serial), token);
            }
            What::ReadAgain { broker, life, part } => self.read_again(broker, life, part),
            What::AtStore(call) => self.at_store(call),
            What::CallAnswered { call, answer } => self.call_answered(call, answer),
            What::CallAgain { broker, life, id } => self.call_again(broker, life, id),
            What::Sync { life } => self.sync(life),
            What::StoreStarts => self.store_starts(),
            What::BrokerStarts { broker } => self.broker_starts(broker),
            What::Told { broker, epoch } => self.told(broker, epoch),
            What::TakesOver => self.takes_over(),
            What::Observe => self.observe(),
            What::Viewed { view } => self.viewed(view),
            What::Maintain => self.maintain(),
            What::Misfortune => self.misfortune(),
            What::ResetNow { tries } => self.reset_now(tries),
            What::Beat { member } => self.beat(member),
            What::AtGroups(beat) => self.at_groups(&beat),
            What::Beaten { member, beaten } => self.beaten(member, beaten),
            What::GroupsEnd => self.groups_end(),
            What::Calm => self.calm(),
            What::Drain => self.drain(),
        }
    }
}
