//! Members that are not heard any more.

use std::sync::Arc;

use share_state_core::share_group::ShareGroups;
use share_state_core::time::{LockTime, WallTime};

use super::{Accepted, ShareGroupStore};
use crate::error::StoreError;

/// Members as (group, member), in the order in which their sessions ended.
pub type Expired = Vec<(Arc<str>, Arc<str>)>;

impl ShareGroupStore {
    /// Latest time at which [`Self::handle_timeout`] should be called. After opening that is at once.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn poll_timeout(&self) -> Result<Option<LockTime>, StoreError> {
        self.look(ShareGroups::poll_timeout).map(|seen| seen.answer)
    }

    /// Takes out the members whose session has ended, each as one verb.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn handle_timeout(
        &self,
        now: LockTime,
        wall: WallTime,
    ) -> Result<Accepted<Expired>, StoreError> {
        self.check_process()?;
        let mut shared = self.inner.journal.enter()?;
        let mut expired = Expired::new();
        for (group, member) in shared.machine.handle_timeout(now) {
            let taken = self.take(&mut shared, wall, |groups| {
                groups.decide_expire(&group, &member)
            })?;
            match taken {
                Ok(()) => expired.push((group, member)),
                // The group epoch is at its end: the member stays, and is not looked at before another session has passed.
                Err(_) => shared.machine.heard(&group, &member, now),
            }
        }
        Ok(self.accepted(&shared, expired))
    }
}
