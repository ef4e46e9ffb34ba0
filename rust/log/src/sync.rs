//! The locks of what threads share. Under the feature `schedules` they are shuttle's, whose scheduler decides at each one which
//! thread goes on, so that a test can try many orders and repeat one.

#[cfg(not(feature = "schedules"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "schedules")]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, PoisonError};
