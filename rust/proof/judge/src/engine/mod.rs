//! share_state's side: plays operations on our share partition, on one in-flight store.

mod answers;
mod commands;
mod durable;
mod inline;
mod view;

use std::collections::BTreeMap;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::{DeadLetterToken, SharePartition};
use share_state_core::state_batch::StateBatches;

use self::view::state_of;
use crate::durable::{Keeper, Tally};
use crate::operation::{Limits, Operation, Verb};
use crate::outcome::{Answered, Outcome, State};

/// The two ways to have writes made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// They are polled, and their answers are told.
    #[default]
    Queued,
    /// A persister answers within the call, where the operation has it answer at once.
    Inline,
}

/// A write whose answer is held back.
struct Held {
    partition: usize,
    token: WriteToken,
    code: i16,
    /// The operation whose member waits.
    asked_by: Option<usize>,
}

/// State that a coordinator would have stored.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Start offset; -1 while nothing was written.
    pub start: i64,
    /// Batches.
    pub batches: StateBatches,
}

/// Plays operations one after the other.
pub struct Engine<S> {
    form: Form,
    /// Keeps the state on a disk, in the durable form.
    keeper: Option<Keeper>,
    partitions: Vec<SharePartition<S>>,
    /// The configuration as each leader knows it.
    configs: Vec<ShareGroupConfig>,
    /// Each leader's clock.
    clocks: Vec<i64>,
    held: BTreeMap<u32, Vec<Held>>,
    /// Dead letters of which the queue has said nothing yet.
    letters: BTreeMap<u32, Vec<(usize, DeadLetterToken)>>,
    /// Outcomes of the operations, in their order.
    pub outcomes: Vec<Outcome>,
    /// State that was written with success.
    pub stored: Stored,
    /// An invariant that broke, with the operation.
    pub broken: Option<(usize, String)>,
    last_start: i64,
    shown: Vec<State>,
}

impl<S: InFlightStore> Default for Engine<S> {
    fn default() -> Self {
        Self {
            form: Form::default(),
            keeper: None,
            partitions: Vec::new(),
            configs: Vec::new(),
            clocks: Vec::new(),
            held: BTreeMap::new(),
            letters: BTreeMap::new(),
            outcomes: Vec::new(),
            stored: Stored {
                start: -1,
                batches: StateBatches::new(),
            },
            broken: None,
            last_start: -1,
            shown: Vec::new(),
        }
    }
}

fn configured(config: &mut ShareGroupConfig, limits: Limits) {
    config.partition_max_record_locks = limits.max_locks;
    config.delivery_count_limit = limits.delivery_limit;
    config.record_lock_duration_ms = limits.lock_ms;
    config.dead_letter_queue = limits.dead_letters;
}

fn key() -> SharePartitionKey {
    SharePartitionKey::new("group", TopicId([7; 16]), 0)
}

fn code_of(answer: i16) -> KafkaCode {
    KafkaCode::from_i16(answer).unwrap_or(KafkaCode::UnknownServerError)
}

impl<S: InFlightStore> Engine<S> {
    /// An engine that has its writes made in this way.
    pub fn in_form(form: Form) -> Self {
        Self {
            form,
            ..Self::default()
        }
    }

    /// An engine whose writes go to a store on a disk.
    ///
    /// # Errors
    /// The disk.
    pub fn durable_in_form(form: Form) -> Result<Self, String> {
        Ok(Self {
            form,
            keeper: Some(Keeper::new(key())?),
            ..Self::default()
        })
    }

    /// Counts of the store, in the durable form.
    pub fn tally(&self) -> Tally {
        self.keeper
            .as_ref()
            .map_or_else(Tally::default, |keeper| keeper.tally)
    }

    /// Has the files of the store looked at, in the durable form, and with `reopen` the store opened again from them.
    pub fn look(&mut self, reopen: bool) {
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        if let Err(differs) = keeper.look(&self.partitions, reopen) {
            let at = self.outcomes.len().saturating_sub(1);
            self.broken.get_or_insert((at, differs));
        }
    }

    /// The share partition of the latest leader.
    pub fn current(&self) -> Option<&SharePartition<S>> {
        self.partitions.last()
    }

    /// Number of leaders so far.
    pub const fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Milliseconds since the sequence began.
    pub fn now(&self) -> i64 {
        self.clocks.last().copied().unwrap_or(0)
    }

    /// Ids under which answers are held back, with the partition they go to.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, usize)> {
        self.held
            .iter()
            .filter_map(|(id, held)| Some((*id, held.first()?.partition)))
    }

    /// Ids under which dead letters wait for a word of the queue, with the partition they came from.
    pub fn letters(&self) -> impl Iterator<Item = (u32, usize)> {
        self.letters
            .iter()
            .filter_map(|(id, held)| Some((*id, held.first()?.0)))
    }

    /// Time at which the next lock of an earlier leader ends, and what its clock shows.
    pub fn due(&self, partition: usize) -> (Option<i64>, i64) {
        let due = self
            .partitions
            .get(partition)
            .and_then(SharePartition::poll_timeout);
        let clock = self.clocks.get(partition).copied().unwrap_or(0);
        (due.map(|time| time.0), clock)
    }

    /// The state of a share partition as last seen.
    pub fn state(&self, partition: usize) -> Option<&State> {
        self.shown.get(partition)
    }

    /// Plays one operation. Operations on share partitions that were never made are passed over (they come up while a sequence
    /// is shrunk).
    pub fn play(&mut self, op: &Operation) {
        let at = self.outcomes.len();
        self.outcomes.push(Outcome {
            answered: Answered::Nothing,
            exception: None,
            writes: Vec::new(),
            letters: Vec::new(),
            state: None,
        });
        if let Verb::Create {
            leader_epoch,
            limits,
        } = &op.verb
        {
            self.create(*leader_epoch, *limits);
        }
        let partition = op.partition;
        if partition >= self.partitions.len() {
            return;
        }
        let config = &mut self.configs[partition];
        if let Some(limits) = op.limits {
            configured(config, limits);
        }
        config.renew_acknowledge_enable = matches!(op.verb, Verb::Acknowledge { renew: true, .. });
        if self.partitions[partition].configure(*config).is_err() {
            self.broken = Some((at, "the configuration was refused".to_owned()));
        }
        let answered = self.run(partition, op, at);
        self.outcomes[at].answered = answered;
        let waits = matches!(op.verb, Verb::Acknowledge { .. } | Verb::Release { .. });
        self.settle(partition, op, at, waits);
        let before = match (&op.verb, &self.keeper) {
            (Verb::Acquire { .. }, Some(_)) => Some(self.shown[partition].clone()),
            _ => None,
        };
        self.show(partition, at);
        if let (Some(before), Some(keeper)) = (before, &mut self.keeper) {
            keeper.acquired(partition, &before, &self.shown[partition]);
        }
    }

    fn create(&mut self, leader_epoch: i32, limits: Limits) {
        let mut config = ShareGroupConfig::default();
        configured(&mut config, limits);
        config.dead_letter_queue = false;
        if let Ok(partition) = SharePartition::new(key(), leader_epoch, config) {
            self.configs.push(config);
            self.partitions.push(partition);
            self.clocks.push(self.now());
            self.shown.push(State::default());
            self.last_start = -1;
        }
    }

    fn show(&mut self, partition: usize, at: usize) {
        let under_test = &self.partitions[partition];
        if let Err(broken) = under_test.check() {
            self.broken.get_or_insert((at, broken));
        }
        let state = state_of(under_test);
        if partition + 1 == self.partitions.len() && state.status == "ACTIVE" {
            if state.start < self.last_start {
                self.broken
                    .get_or_insert((at, "the start offset went back".to_owned()));
            }
            self.last_start = state.start;
        }
        if self.shown[partition] != state {
            self.outcomes[at].state = Some(state.clone());
            self.shown[partition] = state;
        }
    }
}
