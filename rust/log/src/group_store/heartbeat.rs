//! The heartbeat, and what is to be initialised before it.

use share_state_core::ids::TopicId;
use share_state_core::share_group::{Heartbeat, HeartbeatAnswer, LEAVE_EPOCH, Uninitialized};
use share_state_core::time::{LockTime, WallTime};

use super::{GroupAnswer, ShareGroupStore};
use crate::error::StoreError;

impl ShareGroupStore {
    /// The share partitions whose state the caller initialises before this heartbeat.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn to_initialize(&self, request: &Heartbeat<'_>) -> Result<Vec<Uninitialized>, StoreError> {
        let seen = self.look(|groups| groups.to_initialize(request))?;
        Ok(seen.answer)
    }

    /// ShareGroupHeartbeat (RPC 76). A member that is let in has a full session timeout from `now` on.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn heartbeat(
        &self,
        request: &Heartbeat<'_>,
        initialized: &[(TopicId, i32)],
        now: LockTime,
        wall: WallTime,
    ) -> Result<GroupAnswer<HeartbeatAnswer>, StoreError> {
        self.check_process()?;
        let mut shared = self.inner.journal.enter()?;
        let answer = self.take(&mut shared, wall, |groups| {
            groups.decide_heartbeat(request, initialized, wall)
        })?;
        if answer.is_ok() && request.member_epoch != LEAVE_EPOCH {
            shared.machine.heard(request.group, request.member, now);
        }
        Ok(self.accepted(&shared, answer))
    }
}
