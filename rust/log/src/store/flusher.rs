//! The thread that syncs under [`SyncPolicy::Interval`](crate::config::SyncPolicy::Interval).

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::disk::IoFailure;
use crate::error::{OpenError, StoreError};

/// A running thread.
#[derive(Debug)]
pub(crate) struct Flusher {
    /// Dropped to end the thread.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Flusher {
    /// Calls `flush` every `ms` for the store in `root`.
    pub fn start(
        root: &Path,
        ms: u64,
        flush: impl Fn() -> Result<(), StoreError> + Send + 'static,
    ) -> Result<Self, OpenError> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("share-state-flush".to_owned())
            .spawn(move || run(&flush, &stopped, Duration::from_millis(ms)))
            .map_err(|error| IoFailure::new("start thread for", root, &error))?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread and waits for that.
    pub fn stop(self) {
        drop(self.stop);
        // A panic in it has poisoned the store already.
        let _ = self.thread.join();
    }

    /// Forgets the thread, which exists only in the parent process.
    pub fn abandon(self) {
        std::mem::forget(self);
    }
}

fn run(flush: &impl Fn() -> Result<(), StoreError>, stopped: &Receiver<()>, interval: Duration) {
    while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        // An error has poisoned the store: every later call tells, and so does this one the next time.
        if flush().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn start(flush: impl Fn() -> Result<(), StoreError> + Send + 'static) -> Flusher {
        Flusher::start(Path::new("/store"), 1, flush).unwrap()
    }

    /// Many times, for a thread that is not waited for may have ended nevertheless.
    #[test]
    fn a_thread_that_was_stopped_has_ended() {
        for _ in 0..100 {
            let held = Arc::new(());
            let in_thread = Arc::clone(&held);
            let flusher = start(move || {
                let _ = &in_thread;
                Ok(())
            });
            flusher.stop();
            assert_eq!(Arc::strong_count(&held), 1);
        }
    }

    /// In the parent process it still has to flush.
    #[test]
    fn a_thread_that_is_forgotten_goes_on() {
        let (called, calls) = channel();
        let flusher = start(move || called.send(()).map_err(|_| StoreError::Closed));
        flusher.abandon();
        for _ in 0..3 {
            calls.recv().unwrap();
        }
    }
}
