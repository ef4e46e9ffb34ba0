//! Records and offsets of the cluster upstream, as the control plane reads them.

use share_state_core::time::LockTime;

use super::Node;
use super::events::Need;
use super::names::{ServedId, SourceKey};
use crate::{AppendError, Appended, Read};

impl Node {
    /// Takes batches into a ring, and lets those try again that wait for some. A read without a batch counts as well: it is asked
    /// for again as long as somebody waits, who has nothing to try (KAFKA-20425). A read for another life of the ring is dropped.
    ///
    /// # Errors
    /// The read is malformed; the ring is as before, and the read is still wanted.
    pub fn records_read(
        &mut self,
        key: SourceKey,
        life: u64,
        read: Read<'_>,
        now: LockTime,
    ) -> Result<Option<Appended>, AppendError> {
        let keep = self.limits.ring;
        let source = self.sources.get_mut(key);
        let Some(source) = source.filter(|source| source.life == life) else {
            return Ok(None);
        };
        let asked = read.asked_offset;
        let has_bytes = read.start < read.end;
        let appended = source.ring.append(read)?;
        if has_bytes && appended.next_offset == asked && appended.bytes == 0 {
            // The same read would be asked for at once, and come back the same, at the speed of upstream.
            return Err(AppendError::NoWholeBatch {
                asked_offset: asked,
            });
        }
        source.wanted.remove(&asked);
        // Batches that have just come are kept whatever their size: somebody wants them, and would have them read again.
        source.ring.evict(keep.max(appended.bytes));
        source.is_unavailable = false;
        if appended.bytes > 0 {
            self.wake_source(key);
        } else {
            self.want_again(key, asked);
        }
        self.run(now);
        Ok(Some(appended))
    }

    /// Takes note of the start of a log.
    pub fn log_start_moved(&mut self, key: SourceKey, log_start_offset: i64, now: LockTime) {
        let Some(source) = self.sources.get_mut(key) else {
            return;
        };
        source.log_start_offset = source.log_start_offset.max(log_start_offset);
        let readers: Vec<ServedId> = source.served.iter().copied().collect();
        for id in readers {
            let served = self
                .partitions
                .get_mut(id)
                .filter(|served| served.is_ready());
            if served.is_some_and(|served| served.engine.move_log_start_offset(log_start_offset)) {
                self.changed(id);
            }
        }
        self.run(now);
    }

    /// Takes note that upstream has given no batches for so long that fetches are told so, until a read comes.
    pub fn upstream_lost(&mut self, key: SourceKey) {
        if let Some(source) = self.sources.get_mut(key) {
            source.is_unavailable = true;
        }
    }

    /// Forgets the batches of a ring: the log upstream is not the log that it was.
    pub fn history_changed(&mut self, key: SourceKey, now: LockTime) {
        self.sources.restart(key);
        self.wake_source(key);
        self.run(now);
    }

    /// Asks for batches from an offset on, unless that was done.
    pub(super) fn want(&mut self, key: SourceKey, offset: i64) {
        if let Some(source) = self.sources.get_mut(key)
            && source.wanted.insert(offset)
        {
            self.needs.push_back(Need::Records {
                source: key,
                life: source.life,
                offset,
            });
        }
    }

    /// Asks for a read that has brought nothing, as long as a fetch waits that could have what comes.
    fn want_again(&mut self, key: SourceKey, offset: i64) {
        let Some(source) = self.sources.get(key) else {
            return;
        };
        let is_waiting = |id: &ServedId| {
            let served = self.partitions.get(*id);
            served.is_some_and(|served| !served.waiting.is_empty() && served.can_acquire())
        };
        if !source.ring.holds(offset) && source.served.iter().any(is_waiting) {
            self.want(key, offset);
        }
    }

    fn wake_source(&mut self, key: SourceKey) {
        let readers = self.sources.get(key).map(|source| source.served.clone());
        for id in readers.unwrap_or_default() {
            self.wake_later(id);
        }
    }
}
