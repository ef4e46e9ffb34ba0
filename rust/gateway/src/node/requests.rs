//! Requests that are under way, at most one a connection (R7).

use std::sync::Arc;

use share_state_core::share_partition::AcquireMode;
use share_state_core::share_session::{ConnectionId, ShareFetchContext, TopicIdPartition};
use share_state_core::time::LockTime;

use super::names::{RequestId, ServedId};
use super::timers::TimerId;
use crate::Delivery;

/// The request that a connection waits for.
#[derive(Debug)]
pub(super) enum Work {
    /// The control plane answers it.
    Elsewhere,
    /// A request that names topics which the control plane looks for; it is begun once it has.
    LookingUp(Vec<u8>),
    /// A refusal that comes after its time (R5).
    Late {
        head: Head,
        code: i16,
        timer: TimerId,
    },
    /// ShareFetch or ShareAcknowledge.
    Share(Box<ShareRequest>),
}

/// Values of a header that the answer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub version: i16,
    pub correlation_id: i32,
}

/// A ShareFetch or ShareAcknowledge request that was admitted.
#[derive(Debug)]
pub(super) struct ShareRequest {
    pub connection: ConnectionId,
    pub request: RequestId,
    pub head: Head,
    pub group: Arc<str>,
    pub member: Arc<str>,
    /// The acknowledged partitions in their order, each with its code once that is known.
    pub outcomes: Vec<(TopicIdPartition, i16)>,
    /// Outcomes that are not known yet.
    pub outstanding: usize,
    /// Mark of the last request of a session.
    pub is_final: bool,
    /// The rest of a ShareFetch request; a ShareAcknowledge request has none.
    pub fetch: Option<Fetch>,
}

/// The part of a ShareFetch request that acquires records.
#[derive(Debug)]
pub(super) struct Fetch {
    /// Place of the request in its session.
    pub context: ShareFetchContext,
    /// Limits of the request.
    pub limits: FetchLimits,
    /// Time of its beginning.
    pub began: LockTime,
    /// Share partitions in the order in which they get their share.
    pub partitions: Vec<ServedId>,
    /// Partitions that could give records when the fetch was last tried. Kafka lists no others.
    pub fetched: Vec<TopicIdPartition>,
    pub deliveries: Vec<(TopicIdPartition, Delivery)>,
    /// Bytes of them, which count as held until the answer is sent.
    pub reserved: usize,
    /// Codes of share partitions that were tried and failed, as clients get them.
    pub failed: Vec<(TopicIdPartition, i16)>,
    /// Codes of partitions, as clients get them; those that failed once it is over.
    pub errors: Vec<(TopicIdPartition, i16)>,
    /// Mark of one that acquires nothing more.
    pub is_over: bool,
    /// Time since which upstream has to be heard of a log; none while no start of a log is asked for.
    pub heard_since: Option<LockTime>,
    /// Mark of one whose time is over, and which waits only for the starts of logs.
    pub is_due: bool,
    /// Mark of one that has waited for all of its own time.
    pub has_expired: bool,
    /// Its time; set while it waits at its share partitions, and only then.
    pub timer: Option<TimerId>,
}

/// Limits of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FetchLimits {
    pub max_records: i32,
    pub max_bytes: usize,
    pub min_bytes: i32,
    pub batch_size: i32,
    pub mode: AcquireMode,
}

impl ShareRequest {
    /// A request of which nothing is begun.
    pub fn new(
        request: RequestId,
        connection: ConnectionId,
        head: Head,
        (group, member): (Arc<str>, Arc<str>),
        is_final: bool,
        fetch: Option<Fetch>,
    ) -> Box<Self> {
        Box::new(Self {
            connection,
            request,
            head,
            group,
            member,
            outcomes: Vec::new(),
            outstanding: 0,
            is_final,
            fetch,
        })
    }

    /// Returns `true` if it can be answered.
    pub fn is_done(&self) -> bool {
        self.outstanding == 0 && self.fetch.as_ref().is_none_or(|fetch| fetch.is_over)
    }

    /// Returns `true` if it waits at its share partitions for records.
    pub fn is_waiting(&self) -> bool {
        self.fetch.as_ref().is_some_and(Fetch::is_waiting)
    }
}

impl Fetch {
    /// A fetch that has not been tried.
    pub const fn new(context: ShareFetchContext, limits: FetchLimits, began: LockTime) -> Self {
        Self {
            context,
            limits,
            began,
            partitions: Vec::new(),
            fetched: Vec::new(),
            deliveries: Vec::new(),
            reserved: 0,
            failed: Vec::new(),
            errors: Vec::new(),
            is_over: false,
            heard_since: None,
            is_due: false,
            has_expired: false,
            timer: None,
        }
    }

    /// Returns `true` if it waits at its share partitions.
    pub const fn is_waiting(&self) -> bool {
        self.timer.is_some()
    }
}
