//! Loading ahead, for callers with commands for many share partitions.

use core::hint::black_box;

use crate::partition::in_flight::InFlightStore;
use crate::partition::share_partition::SharePartition;

impl<S: InFlightStore> SharePartition<S> {
    /// Loads what a command on few records looks at first, and changes nothing.
    ///
    /// A share partition that rests lies in no cache, and a command follows its pointers one after the other. Whoever has commands
    /// for many share partitions calls this for some of them before the first command: the loads do not wait for each other, so the
    /// memory of all is on its way at once.
    #[inline]
    pub fn preload(&self) {
        let members = self.activity.get().map_or(0, |a| a.members.preload());
        let config = self.config.delivery_count_limit;
        black_box((self.status, self.start_offset, self.now, config));
        black_box(members ^ self.store.preload());
    }
}
