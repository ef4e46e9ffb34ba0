//! A heartbeat and its answer.

use crate::groups::assignment::Assignment;

/// Member epoch of a heartbeat that joins the group.
pub const JOIN_EPOCH: i32 = 0;
/// Member epoch of a heartbeat that leaves the group.
pub const LEAVE_EPOCH: i32 = -1;

/// Heartbeat of a member (`ShareGroupHeartbeatRequestData`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat<'a> {
    /// Id of the group.
    pub group: &'a str,
    /// Id of the member, which the client chooses.
    pub member: &'a str,
    /// The epoch that it was told last; [`JOIN_EPOCH`] and [`LEAVE_EPOCH`].
    pub member_epoch: i32,
    /// Its rack; `None` when that has not changed.
    pub rack: Option<&'a str>,
    /// The topics that it subscribes to; `None` when they have not changed.
    pub topics: Option<&'a [&'a str]>,
    /// `client.id` of the client.
    pub client_id: &'a str,
    /// Address of the client.
    pub client_host: &'a str,
}

/// The answer to a [`Heartbeat`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatAnswer {
    /// The member's epoch from now on.
    pub member_epoch: i32,
    /// Time until the member is to be heard again, ms; 0 for a member that has left.
    pub heartbeat_interval_ms: i64,
    /// Assignment to consume; `None` when it has not changed since the member was told.
    pub assignment: Option<Assignment>,
}
