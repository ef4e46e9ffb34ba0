//! An object of the core with a lock of its own. A call enters attached to the interpreter, detached from it, or takes the lock.
//!
//! * Two threads on one object: one after the other. A thread that must wait detaches from the interpreter first, so a thread that
//!   holds the lock and wants the interpreter back cannot meet one that holds the interpreter and wants the lock.
//! * No Python code runs while the lock is held, so a call cannot come back into the object it is in.
//! * A panic becomes an exception and poisons only this object.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;

use crate::errors;

/// The object, or what its last call panicked with.
enum Slot<T> {
    Sound(T),
    Poisoned(String),
}

pub struct Locked<T> {
    what: &'static str,
    slot: Mutex<Slot<T>>,
}

impl<T: Send> Locked<T> {
    pub const fn new(what: &'static str, value: T) -> Self {
        Self {
            what,
            slot: Mutex::new(Slot::Sound(value)),
        }
    }

    /// Runs `work` on the object, attached to the interpreter: for short calls.
    pub fn attached<R>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let slot = match self.slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // `MutexGuard` cannot be carried back through `detach`; taking and freeing the lock there is the waiting.
                py.detach(|| drop(self.wait()));
                self.wait()
            }
        };
        run(slot, work).map_err(|panic| errors::poisoned(py, self.what, &panic))
    }

    /// Runs `work` on the object, detached from the interpreter: for calls that may take longer than about 2 µs.
    pub fn detached<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| self.lock().run(work))
            .map_err(|panic| errors::poisoned(py, self.what, &panic))
    }

    /// Takes the lock, for a caller that is detached from the interpreter. If it has another lock in hand, no call that has this
    /// one may wait for that.
    pub fn lock(&self) -> Lock<'_, T> {
        Lock(self.wait())
    }

    /// As [`Self::lock`], if nobody has the lock. A caller that has one in hand waits for no other, so two callers that take
    /// several cannot wait for each other.
    pub fn try_lock(&self) -> Option<Lock<'_, T>> {
        match self.slot.try_lock() {
            Ok(slot) => Some(Lock(slot)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Lock(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Loads what lies beside the object and its lock. See `SharePartition::preload` of the core.
    pub fn preload(&self) -> u64 {
        self.what.as_ptr() as u64 ^ u64::from(self.slot.is_poisoned())
    }

    fn wait(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object whose lock is taken.
pub struct Lock<'a, T>(MutexGuard<'a, Slot<T>>);

impl<T> Lock<'_, T> {
    /// The object, unless a call of it has panicked.
    pub fn sound(&self) -> Option<&T> {
        match &*self.0 {
            Slot::Sound(value) => Some(value),
            Slot::Poisoned(_) => None,
        }
    }

    /// Runs `work` on the object and frees the lock; else what it panicked with, now or before.
    pub fn run<R>(self, work: impl FnOnce(&mut T) -> R) -> Result<R, String> {
        run(self.0, work)
    }
}

fn run<T, R>(
    mut slot: MutexGuard<'_, Slot<T>>,
    work: impl FnOnce(&mut T) -> R,
) -> Result<R, String> {
    let value = match &mut *slot {
        Slot::Sound(value) => value,
        Slot::Poisoned(panic) => return Err(panic.clone()),
    };
    // Unwind safety: after a panic nobody sees the value again.
    let done = caught(|| work(value));
    if let Err(panic) = &done {
        *slot = Slot::Poisoned(panic.clone());
    }
    done
}

/// Runs `work` and turns a panic into its text. For work that leaves nothing behind, or whose object is given up.
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message")
            .to_owned()
    })
}
