//! The stores on a simulated disk, for the tests of whatever is built on them. Only with the feature `sim`.
//!
//! A [`SimDisk`] is a file system in memory that loses power, fails and is looked at. A store on it is the store itself: only
//! the disk is another.
//!
//! ```
//! use std::path::Path;
//! use share_state_log::{StoreConfig, sim};
//!
//! let (disk, root) = (sim::SimDisk::default(), Path::new("/store"));
//! let store = sim::open(&disk, root, &StoreConfig::default())?;
//! // The process is killed while the power is lost; only what was synced is there.
//! let found = disk.after_crash(sim::Loss::Everything);
//! drop(store);
//! assert!(sim::open(&found, root, &StoreConfig::default())?.states().is_ok());
//! # Ok::<(), share_state_log::OpenError>(())
//! ```

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::config::StoreConfig;
pub use crate::disk::sim::{Fault, Loss, SimDisk};
use crate::error::OpenError;
use crate::store::StateStore;

/// [`StateStore::open`] on a simulated disk.
///
/// # Errors
/// As there.
pub fn open(disk: &SimDisk, root: &Path, config: &StoreConfig) -> Result<StateStore, OpenError> {
    StateStore::open_on(Arc::new(disk.clone()), root, config, &mut |_| {
        ControlFlow::Continue(())
    })
}
