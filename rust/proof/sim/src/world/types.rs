//! Brokers and members, as plain data.

use std::collections::BTreeMap;
use std::sync::Arc;

use share_state_core::in_flight::InFlightStore;
use share_state_core::persister::WriteToken;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::SharePartition;
use share_state_core::share_session::{ShareFetchContext, ShareSessions};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;
use share_state_gateway::BatchRing;
use share_state_histories::Name;

use super::events::Call;
use super::groups::Grouped;
use crate::recorder::Said;

/// A clock that runs at its own pace and makes steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    pub shift: i64,
    pub ppm: i64,
    /// All steps together.
    pub stepped: i64,
}

impl Clock {
    /// Time that it shows at a time of the world, milliseconds.
    pub fn at(&self, now: i64) -> LockTime {
        LockTime((now + self.shift + now * self.ppm / 1_000_000).div_euclid(1_000))
    }

    /// Time from `now` until it shows `deadline`, microseconds.
    pub fn until(&self, now: i64, deadline: LockTime) -> i64 {
        let left = (deadline.0.saturating_sub(self.at(now).0)).clamp(0, 1_000_000);
        left * 1_000 + left * 25 + 10
    }
}

/// A process that leads share partitions, or does not.
pub struct Broker<S> {
    pub is_up: bool,
    pub life: u32,
    /// True if it takes itself for the leader, of `epoch`.
    pub leads: bool,
    pub epoch: i32,
    pub clock: Clock,
    pub sessions: ShareSessions,
    pub led: Vec<Option<Led<S>>>,
    /// Batches that it has read of each partition, where it reads through the gateway's cache.
    pub rings: Vec<BatchRing>,
    pub parked: Vec<Parked>,
    pub calls: BTreeMap<u64, Call>,
}

impl<S> Broker<S> {
    pub fn new(partitions: usize) -> Self {
        Self {
            is_up: true,
            life: 0,
            leads: false,
            epoch: -1,
            clock: Clock::default(),
            sessions: ShareSessions::new(100),
            led: (0..partitions).map(|_| None).collect(),
            rings: (0..partitions).map(|_| BatchRing::new()).collect(),
            parked: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    pub fn now(&self, now: i64) -> LockTime {
        self.clock.at(now)
    }
}

/// A share partition that a broker leads.
pub struct Led<S> {
    pub serial: u64,
    pub part: SharePartition<S>,
    /// Time at which the next look at the locks is due; the end of time for never.
    pub timer_at: i64,
    pub waiting: Vec<Waiter>,
    /// State that was seen after the last step.
    pub start_offset: i64,
    pub terminal: Vec<bool>,
    /// Records that the store has confirmed to it as acknowledged.
    pub confirmed: Confirmed,
    pub letters: u64,
}

impl<S: InFlightStore> Led<S> {
    pub fn take_waiter(&mut self, token: WriteToken) -> Option<Waiter> {
        let at = self
            .waiting
            .iter()
            .position(|waiter| waiter.token == token)?;
        Some(self.waiting.swap_remove(at))
    }
}

/// Records that are acknowledged for good, by offset.
#[derive(Clone, Debug, Default)]
pub struct Confirmed(Vec<bool>);

impl Confirmed {
    pub fn add(&mut self, batches: &[StateBatch]) {
        let acknowledged = RecordState::Acknowledged.id();
        for batch in batches {
            if batch.delivery_state != acknowledged || batch.first_offset < 0 {
                continue;
            }
            let range = place(batch.first_offset)..place(batch.last_offset) + 1;
            if range.end > self.0.len() {
                self.0.resize(range.end, false);
            }
            self.0.get_mut(range).unwrap_or_default().fill(true);
        }
    }

    /// The first offset of a range that is not among them.
    pub fn first_without(&self, first: i64, last: i64) -> Option<i64> {
        (first..=last).find(|offset| !self.0.get(place(*offset)).copied().unwrap_or(false))
    }
}

fn place(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// A member that waits for a write.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    pub token: WriteToken,
    pub member: usize,
    pub connection: u64,
    pub request: u64,
}

/// A fetch that waits for records.
#[derive(Debug)]
pub struct Parked {
    pub member: usize,
    pub connection: u64,
    pub request: u64,
    pub context: ShareFetchContext,
    pub parts: Vec<usize>,
}

/// Records in a member's hands.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub part: usize,
    pub first: i64,
    pub last: i64,
}

/// A request that a member waits for.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub request: u64,
    pub sent: i64,
    pub acknowledged: Option<(usize, Vec<Said>)>,
}

/// A share consumer.
#[derive(Debug)]
pub struct Member {
    pub name: Name,
    pub id: Arc<str>,
    pub life: u32,
    pub is_alive: bool,
    pub is_leaving: bool,
    pub broker: usize,
    pub connection: u64,
    pub epoch: i32,
    /// Time by which its clock is ahead.
    pub ahead: i64,
    pub waiting: Option<Waiting>,
    pub held: Vec<Held>,
    pub before: Option<(usize, Vec<Said>)>,
    /// The last answer with records that it has taken.
    pub taken: u64,
    /// The partitions that its session names.
    pub fetches: Vec<usize>,
    pub grouped: Grouped,
}
