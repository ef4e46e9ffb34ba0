//! The data plane of a gateway as one machine without I/O: bytes of clients in, bytes of answers out.
//!
//! ```text
//! feed(connection, bytes) ─► inlet: frames ─► header ─► 78 share_fetch, 79 share_acknowledge ─► sessions, engines ─► rings
//!                                                   └► anything else: Event::Request, for the control plane
//! Event::Send ◄─ answering ◄─ request done: its acknowledgements are durable, its fetch has records or its time is over
//! poll_round ─► Round ─► the committer ─► settle        poll_need ─► Need ─► state_read, start_found, records_read
//!                                                              looked_up, log_starts_told
//! poll_timeout ─► the driver's timer ─► tick
//! ```
//!
//! It has no clock, no socket, no disk and no thread. Whoever drives it calls one method for each thing that happens, and then polls
//! for events, a round, needs and the next time until there is nothing more.
//!
//! Invariants; `Node::check` asserts what the state of a node shows of them, and the tests compare what it gave out:
//!
//! 1. A connection has one request under way at most, and its answers leave in the order of its requests (R7).
//! 2. An answer with acknowledgements leaves after the round of their writes was settled.
//! 3. One round is under way at most; the writes of a share partition leave in the order in which it made them.
//! 4. A record is acquired only when its bytes are at hand, so no lock runs for a record that cannot be sent.
//! 5. A fetch that waits stands at each of its share partitions and has one timer; one that does not wait stands nowhere. A member
//!    has one that waits at most, and none once its session has gone on or ended.
//! 6. The earliest lock of a share partition that serves has a timer at its deadline or before.
//!
//! `share_state.gateway.data_plane` drives it, on an event loop of Python.

mod access;
mod acknowledging;
mod acquiring;
mod answer_bytes;
mod answering;
mod batches;
mod check;
mod codes;
mod connection;
mod counts;
mod events;
mod feeding;
mod inlet;
mod limits;
mod listing;
mod loading;
mod locks;
mod memory;
mod names;
mod partitions;
mod places;
mod requests;
mod rounds;
mod served;
mod sessions;
mod settings;
mod share_acknowledge;
mod share_fetch;
mod shown;
mod slots;
mod sources;
mod timers;
mod topics;
mod truncation;
mod upstream;
mod waiting;
mod writing;

pub use access::{Access, Resource, Rule};
pub use counts::{ByTopic, Counts, Figures, GroupCounts, Times};
pub use events::{Closing, Event, Need, Round};
pub use inlet::FrameError;
pub use limits::Limits;
pub use listing::{Listed, Ring};
pub use names::{KeepTicket, ServedId, SourceKey};
pub use rounds::NoSuchRound;
pub use shown::Shown;
pub use slots::{Home, Leader, Slot, Slots};
pub use topics::{Topic, Topics};

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use share_state_core::ids::QuickHash;
use share_state_core::limits::{ConfigError, ShareGroupConfig};
use share_state_core::share_session::{ConnectionId, ShareSessions};
use share_state_core::time::LockTime;

use answer_bytes::AnswerBytes;
use connection::Connection;
use names::RequestId;
use partitions::Partitions;
use rounds::Rounds;
use sources::Sources;
use timers::Timers;

use crate::BatchRing;

/// The data plane of a gateway; see the module.
#[derive(Debug)]
pub struct Node {
    limits: Limits,
    slots: Slots,
    access: Access,
    topics: Topics,
    connections: HashMap<ConnectionId, Connection, QuickHash>,
    sessions: ShareSessions,
    partitions: Partitions,
    sources: Sources,
    rounds: Rounds,
    timers: Timers,
    answers: AnswerBytes,
    counts: Counts,
    /// Bytes of requests that have arrived and are not begun.
    queued: usize,
    /// Fetches that wait until clients have taken what they were given, oldest first.
    starved: BTreeMap<RequestId, ConnectionId>,
    events: VecDeque<Event>,
    needs: VecDeque<Need>,
    /// Share partitions at which a fetch may find something, before the call ends.
    wakes: VecDeque<ServedId>,
    /// Connections whose request may be done, or whose next may begin, before the call ends.
    done: VecDeque<ConnectionId>,
    /// Number of requests so far.
    requests: RequestId,
    /// Mark of a store that takes no writes any more.
    is_closed: bool,
}

impl Node {
    /// A node without connections, topics and share partitions. `config` is the configuration of groups that have none.
    ///
    /// # Errors
    /// The first value of `config` that cannot be used.
    pub fn new(
        limits: Limits,
        slots: Slots,
        config: impl Into<Arc<ShareGroupConfig>>,
    ) -> Result<Self, ConfigError> {
        let config = config.into();
        config.check()?;
        Ok(Self {
            sessions: ShareSessions::new(limits.sessions),
            limits,
            slots,
            access: Access::default(),
            topics: Topics::default(),
            connections: HashMap::default(),
            partitions: Partitions::new(config),
            sources: Sources::default(),
            rounds: Rounds::default(),
            timers: Timers::default(),
            answers: AnswerBytes::default(),
            counts: Counts::default(),
            queued: 0,
            starved: BTreeMap::new(),
            events: VecDeque::new(),
            needs: VecDeque::new(),
            wakes: VecDeque::new(),
            done: VecDeque::new(),
            requests: 0,
            is_closed: false,
        })
    }

    /// The next output about a connection or a start offset, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next thing that is needed of the control plane, oldest first.
    pub fn poll_need(&mut self) -> Option<Need> {
        self.needs.pop_front()
    }

    /// The time at which [`Self::tick`] has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<LockTime> {
        self.timers.next()
    }

    /// The batches of a ring; `None` where no share partition reads it.
    #[must_use]
    pub fn ring(&self, key: SourceKey) -> Option<&BatchRing> {
        self.sources.get(key).map(|source| &source.ring)
    }

    /// Carries on until nothing is left that can be done without an answer from outside.
    fn run(&mut self, now: LockTime) {
        loop {
            if let Some(served) = self.wakes.pop_front() {
                self.wake(served, now);
            } else if let Some(connection) = self.done.pop_front() {
                self.go_on(connection, now);
            } else {
                return;
            }
        }
    }

    fn next_request(&mut self) -> RequestId {
        self.requests += 1;
        self.requests
    }
}
