//! State allocated on first use.

use crate::kafka_code::KafkaCode;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::pending_writes::PendingWrites;
use crate::partition::share_partition::change::refusals::Refusals;
use crate::partition::share_partition::change::writes::member_code;
use crate::partition::share_partition::records::counters::Tally;
use crate::partition::share_partition::records::members::Members;
use crate::partition::share_partition::records::window::GapWindow;
use crate::partition::share_partition::verbs::dead_letter::DeadLetters;
use crate::partition::share_partition::verbs::fetch_lock::FetchLock;
use crate::persister::{ReadStateResult, WriteToken};
use crate::util::on_demand::OnDemand;

/// Made by the first fetch or command.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct Activity {
    pub members: Members,
    pub writes: PendingWrites,
    pub tally: Tally,
    pub front: FirstOutstanding,
    pub occasional: OnDemand<Occasional>,
}

const _: () = assert!(
    size_of::<Activity>() <= 80,
    "what is made for every share partition in use takes 80 bytes"
);

impl Activity {
    /// Counts the refusal of a write and notes it for its member.
    #[cold]
    pub fn note_refusal(&mut self, token: WriteToken, persister: KafkaCode) {
        self.tally.rest.make().writes_refused += 1;
        let occasional = self.occasional.make();
        occasional.refusals.note(token, member_code(persister));
    }
}

/// The first outstanding offset, where that is known: as long as it stays so, nothing can advance the start offset.
#[derive(Clone, Debug)]
pub(in crate::partition::share_partition) struct FirstOutstanding(i64);

impl Default for FirstOutstanding {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl FirstOutstanding {
    /// Value in place of the least offset of all, which is looked for each time.
    pub const UNKNOWN: Self = Self(i64::MIN);

    pub const fn is_known(&self) -> bool {
        self.0 != Self::UNKNOWN.0
    }

    /// Forgets the offset if `doubt` says that it may be another one now.
    pub fn doubt(&mut self, doubt: impl FnOnce(i64) -> bool) {
        if self.is_known() && doubt(self.0) {
            *self = Self::UNKNOWN;
        }
    }
}

impl From<Option<i64>> for FirstOutstanding {
    fn from(offset: Option<i64>) -> Self {
        offset.map_or(Self::UNKNOWN, Self)
    }
}

impl<S> SharePartition<S> {
    pub(in crate::partition::share_partition) fn occasional(&self) -> Option<&Occasional> {
        self.activity.get()?.occasional.get()
    }

    pub(in crate::partition::share_partition) fn occasional_mut(
        &mut self,
    ) -> Option<&mut Occasional> {
        self.activity.get_mut()?.occasional.get_mut()
    }

    pub(in crate::partition::share_partition) fn knows_front(&self) -> bool {
        self.activity.get().is_some_and(|a| a.front.is_known())
    }
}

/// Parts that few share partitions have, or only for a while.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct Occasional {
    pub fetch_lock: FetchLock,
    /// A read result whose start offset is not resolved yet.
    pub unresolved: Option<ReadStateResult>,
    pub gap_window: Option<GapWindow>,
    pub dead_letters: DeadLetters,
    pub refusals: Refusals,
}
