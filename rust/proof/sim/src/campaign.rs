//! Many worlds, one after the other, until there are enough or the time is over.

use std::panic::{AssertUnwindSafe, catch_unwind};

use share_state_core::in_flight::{IntervalStore, TwinStore};

use crate::broken::Broken;
use crate::fault::Fault;
use crate::meeting::{Meeting, Meetings};
use crate::plan::{Cuts, Plan};
use crate::world::{Played, World};

/// Counts and findings of many worlds.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Worlds that were played.
    pub worlds: u64,
    /// Things that happened in them.
    pub steps: u64,
    /// Events of their histories.
    pub events: u64,
    /// Number of times that each fault came.
    pub faults: [u64; Fault::COUNT],
    /// Number of times that each meeting happened.
    pub meetings: Meetings,
    /// Seeds of worlds with findings, and what was found first.
    pub found: Vec<(u64, String)>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            worlds: 0,
            steps: 0,
            events: 0,
            faults: [0; Fault::COUNT],
            meetings: Meetings::default(),
            found: Vec::new(),
        }
    }
}

impl Tally {
    /// Takes in one world.
    pub fn take(&mut self, seed: u64, played: &Played) {
        self.worlds += 1;
        self.steps += played.steps;
        self.events += played.events;
        for (count, more) in self.faults.iter_mut().zip(played.faults) {
            *count += more;
        }
        self.meetings.add(&played.meetings);
        if let Some(first) = played.findings.first() {
            self.found.push((seed, first.clone()));
        }
    }

    /// Faults and meetings that never came, in words.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let faults = Fault::ALL.into_iter().zip(self.faults);
        let faults = faults.filter(|(_, count)| *count == 0);
        let meetings = Meeting::ALL.into_iter();
        let meetings = meetings.filter(|&meeting| self.meetings.count(meeting) == 0);
        faults
            .map(|(fault, _)| fault.name())
            .chain(meetings.map(Meeting::text))
            .collect()
    }

    /// Adds what another thread has seen.
    pub fn add(&mut self, other: Self) {
        self.worlds += other.worlds;
        self.steps += other.steps;
        self.events += other.events;
        for (count, more) in self.faults.iter_mut().zip(other.faults) {
            *count += more;
        }
        self.meetings.add(&other.meetings);
        self.found.extend(other.found);
    }
}

/// Plays one world. Odd seeds have the plain in-flight store, even ones the one that is used. A panic is a finding.
#[must_use]
pub fn play(seed: u64, cuts: &Cuts, broken: Option<Broken>) -> Played {
    let plan = Plan::draw(seed).cut(cuts);
    let played = catch_unwind(AssertUnwindSafe(|| {
        if seed.is_multiple_of(2) {
            World::<IntervalStore>::new(&plan, broken).play()
        } else {
            World::<TwinStore>::new(&plan, broken).play()
        }
    }));
    played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Played {
            findings: vec![format!("panic: {}", said.unwrap_or_default())],
            ..Played::default()
        }
    })
}
