//! The process that opened a store: a child that was forked from it has only copies of the mutexes that other threads held.

use forkguard::Guard;

use crate::error::StoreError;

/// See the module.
#[derive(Debug)]
pub(crate) struct Opener {
    pid: u32,
    /// Tells a child that C's `fork` made without a call of the system, which each write would pay for. Without it the process
    /// id tells.
    fork: Option<Guard>,
}

impl Opener {
    pub fn this_process() -> Self {
        Self {
            pid: std::process::id(),
            fork: Guard::try_new().ok(),
        }
    }

    /// Refuses a fork of the process. Call it before any mutex is taken.
    pub fn check(&self) -> Result<(), StoreError> {
        let is_fork = match &self.fork {
            Some(guard) => guard.clone().detected_fork(),
            None => std::process::id() != self.pid,
        };
        if is_fork {
            let opened_by = self.pid;
            return Err(StoreError::Forked { opened_by });
        }
        Ok(())
    }

    /// Makes the store look as it does in a fork, for tests that cannot fork: the same memory under another process id.
    #[cfg(test)]
    pub fn belongs_to(&mut self, pid: u32) {
        (self.pid, self.fork) = (pid, None);
    }
}
