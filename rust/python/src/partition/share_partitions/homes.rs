//! The places of share partitions in a set.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;

use crate::locked::Locked;
use crate::partition::partition_state::PartitionState;
use crate::partition::share_partition::SharePartition;

/// Share partition that stands in the place of any that was removed.
static REMOVED: LazyLock<Arc<Locked<PartitionState>>> =
    LazyLock::new(|| Arc::new(PartitionState::removed()));

/// A share partition of the set, and the object by which Python knows it; none once it was removed.
pub struct Home {
    pub state: Arc<Locked<PartitionState>>,
    pub object: Option<Py<SharePartition>>,
}

impl Home {
    pub const fn new(state: Arc<Locked<PartitionState>>, object: Py<SharePartition>) -> Self {
        Self {
            state,
            object: Some(object),
        }
    }
}

/// All of them by index. A place is not given again: who still holds its index would mean another share partition.
#[derive(Default)]
pub struct Homes {
    all: Vec<Home>,
    removed: usize,
}

impl Homes {
    /// Index of the next one; `None` when a column could not hold it.
    pub fn next_index(&self) -> Option<u32> {
        let index = u32::try_from(self.all.len()).ok()?;
        i32::try_from(index).is_ok().then_some(index)
    }

    pub fn push(&mut self, home: Home) {
        self.all.push(home);
    }

    /// Empties a place.
    pub fn remove(&mut self, index: usize) -> Option<Py<SharePartition>> {
        let home = self.all.get_mut(index)?;
        let object = home.object.take()?;
        home.state = Arc::clone(&REMOVED);
        self.removed += 1;
        Some(object)
    }

    /// Number of places that are not empty.
    pub fn present(&self) -> usize {
        self.all.len() - self.removed
    }

    /// Returns true if the place is not empty.
    pub fn has(&self, index: usize) -> bool {
        // As long as nothing was removed, the places need not be looked at.
        match self.removed {
            0 => index < self.all.len(),
            _ => self
                .all
                .get(index)
                .is_some_and(|home| home.object.is_some()),
        }
    }
}

impl Deref for Homes {
    type Target = [Home];

    fn deref(&self) -> &[Home] {
        &self.all
    }
}
