//! Outputs of a node: for the driver that moves bytes, and for the control plane.

use std::sync::Arc;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::limits::AutoOffsetReset;
use share_state_core::persister::WriteState;
use share_state_core::share_partition::InitializeError;
use share_state_core::share_session::ConnectionId;
use share_state_wire::WireError;

use super::access::Resource;
use super::inlet::FrameError;
use super::names::{KeepTicket, ServedId, SourceKey};

/// Output about a connection, or about a start offset that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes for the client. The driver tells with [`Node::sent`](super::Node::sent) when the operating system has taken them.
    Send {
        /// The connection.
        connection: ConnectionId,
        /// Frames, none of them cut.
        bytes: Vec<u8>,
    },
    /// The load of a share partition is over.
    Loaded {
        /// Number of the share partition, as [`Need::State`] had it.
        served: ServedId,
        /// Its key.
        key: SharePartitionKey,
        /// 0 if it serves from now on or was dropped to be loaded again, otherwise the code for those that wait for it.
        code: i16,
        /// The fault, for the log, where it has one of its own.
        cause: Option<InitializeError>,
    },
    /// A client asked for what it may not read, for the log.
    Denied {
        /// Its connection.
        connection: ConnectionId,
        /// Type of the resource.
        resource: Resource,
        /// Name of the resource.
        name: Arc<str>,
    },
    /// A request that the node does not serve. The connection waits for [`Node::answered`](super::Node::answered).
    Request {
        /// The connection.
        connection: ConnectionId,
        /// The request, header included, without its length.
        frame: Vec<u8>,
    },
    /// The connection is to be closed once what was sent before is taken. The driver calls
    /// [`Node::closed`](super::Node::closed) then.
    Close {
        /// The connection.
        connection: ConnectionId,
        /// The cause, for the log.
        cause: Closing,
    },
    /// The outcome of [`Node::keep_start`](super::Node::keep_start).
    StartKept {
        /// Number of the request.
        ticket: KeepTicket,
        /// State that is kept; `None` where it is not, or a change of the share partition was written instead.
        kept: Option<WriteState>,
    },
}

/// Cause for which a node ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The length of a frame is none.
    Frame(FrameError),
    /// A request is malformed.
    Malformed {
        /// Key of the RPC.
        api_key: i16,
        /// The version.
        version: i16,
        /// Fault.
        error: WireError,
    },
    /// The version of a request is not served, and its client was told which are.
    Version {
        /// Key of the RPC.
        api_key: i16,
        /// The version.
        version: i16,
    },
    /// The requests of all clients that wait have too many bytes, and those of this one have most.
    Queued {
        /// Bytes of its requests.
        bytes: usize,
        /// Bytes that those of all clients may have.
        limit: usize,
    },
    /// The control plane has ended it.
    Asked,
}

/// Something that a node needs of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The state of a share partition, read in a leader epoch; for [`Node::state_read`](super::Node::state_read).
    State {
        /// Number of the share partition, to answer with.
        served: ServedId,
        /// Key of the state.
        key: SharePartitionKey,
        /// Epoch of the leader that reads.
        leader_epoch: i32,
    },
    /// The start offset of a share partition that has none; for [`Node::start_found`](super::Node::start_found).
    Start {
        /// Number of the share partition, to answer with.
        served: ServedId,
        /// Ring, whose partition and isolation level say which log is meant.
        source: SourceKey,
        /// Strategy by which it is found.
        strategy: AutoOffsetReset,
    },
    /// Topics that are not in the snapshot, which a request of a connection names; for
    /// [`Node::looked_up`](super::Node::looked_up), after a new snapshot if any of them exists.
    Topics {
        /// The connection, to answer with.
        connection: ConnectionId,
        /// Ids of the topics, each once.
        topic_ids: Vec<TopicId>,
    },
    /// The start of a log: batches that came a while ago may have been deleted since. For
    /// [`Node::log_starts_told`](super::Node::log_starts_told). Asked for once, until it was told.
    LogStart {
        /// Ring that has the batches.
        source: SourceKey,
    },
    /// Batches from an offset on; for [`Node::records_read`](super::Node::records_read). Asked for once, until they have come.
    Records {
        /// Ring that is to have them.
        source: SourceKey,
        /// Life of the ring, to answer with: it begins another when the log upstream is not the one that it was.
        life: u64,
        /// The first offset.
        offset: i64,
    },
}

/// Writes that are made durable together. Those of one share partition stand in the order in which it has made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Number of the round, to answer with.
    pub number: u64,
    /// The writes.
    pub writes: Vec<(SharePartitionKey, WriteState)>,
}
