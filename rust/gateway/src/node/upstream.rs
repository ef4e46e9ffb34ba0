//! Records and offsets of the cluster upstream, as the control plane reads them.

use share_state_core::limits::IsolationLevel;
use share_state_core::time::LockTime;

use super::Node;
use super::events::Need;
use super::names::{ServedId, SourceKey};
use crate::{AppendError, Appended, Read};

/// Bytes that are read ahead of the fastest group. A fetch that waits for more is not worth it.
pub(super) const READ_AHEAD: usize = 2 << 20;
/// Time for which batches may be given out after upstream was heard, ms: others may have been deleted since.
const FRESH_MS: i64 = 200;

/// Time since which upstream has to be heard of a log before its batches are given out.
pub(super) fn heard_since(now: LockTime) -> LockTime {
    now.plus(-FRESH_MS)
}

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
        mut read: Read<'_>,
        now: LockTime,
    ) -> Result<Option<Appended>, AppendError> {
        let keep = self.limits.ring;
        let source = self.sources.get_mut(key);
        let Some(source) = source.filter(|source| source.life == life) else {
            return Ok(None);
        };
        if key.isolation == IsolationLevel::ReadUncommitted {
            // Whatever upstream says of transactions, it is no matter here.
            read.aborted = &[];
        }
        let asked = read.asked_offset;
        let bytes = read.end.saturating_sub(read.start);
        let appended = source.ring.append(read)?;
        if bytes > 0 && appended.next_offset == asked && appended.bytes == 0 {
            // The same read would be asked for at once, and come back the same, at the speed of upstream.
            return Err(AppendError::NoWholeBatch {
                asked_offset: asked,
            });
        }
        let was_wanted = source.wanted.remove(&asked);
        source
            .wanted
            .retain(|offset| !(asked..appended.next_offset).contains(offset));
        source.heard_at = Some(now);
        // Batches that have just come are kept whatever their size: somebody wants them, and would have them read again.
        source.ring.evict(keep.max(appended.bytes));
        source.is_unavailable = false;
        if appended.bytes > 0 {
            self.bound_rings(key, bytes);
            self.wake_source(key);
            self.read_ahead(key, now);
        } else if was_wanted {
            self.want_again(key, asked, now);
        }
        self.run(now);
        Ok(Some(appended))
    }

    /// Takes note of the start of a log. That of an answer is told before its batches are: they count as heard.
    pub fn log_start_moved(&mut self, key: SourceKey, log_start_offset: i64, now: LockTime) {
        self.move_log_start(key, log_start_offset);
        self.run(now);
    }

    fn move_log_start(&mut self, key: SourceKey, log_start_offset: i64) {
        let Some(source) = self.sources.get_mut(key) else {
            return;
        };
        source.log_start_offset = source.log_start_offset.max(log_start_offset);
        for id in self.readers(key) {
            let served = self
                .partitions
                .get_mut(id)
                .filter(|served| served.is_ready());
            if served.is_some_and(|served| served.engine.move_log_start_offset(log_start_offset)) {
                self.changed(id);
            }
        }
    }

    /// Takes the starts of logs that were asked for; `None` where upstream has not told one in time, and what is at hand is given
    /// out. Fetches try again once all of them are taken.
    pub fn log_starts_told(&mut self, told: &[(SourceKey, Option<i64>)], now: LockTime) {
        for (key, log_start_offset) in told {
            if let Some(source) = self.sources.get_mut(*key) {
                source.is_asked = false;
                source.heard_at = Some(now);
            }
            if let Some(log_start_offset) = log_start_offset {
                self.move_log_start(*key, *log_start_offset);
            }
        }
        for (key, _) in told {
            self.wake_source(*key);
        }
        self.run(now);
        // Those who were not tried, since others found nothing before them.
        for (key, _) in told {
            for served in self.readers(*key) {
                self.end_due(served, now);
            }
        }
        self.run(now);
    }

    /// Returns `true` if the batches that a share partition wants next are not at hand, or are in the log still, as far as upstream
    /// was heard since a time. It is asked otherwise.
    pub(super) fn is_fresh(&mut self, id: ServedId, since: LockTime) -> bool {
        let Some(served) = self.partitions.get(id) else {
            return false;
        };
        let (key, offset) = (served.source, served.engine.next_fetch_offset());
        let Some(source) = self.sources.get_mut(key) else {
            return false;
        };
        if source.heard_at >= Some(since) || !source.ring.holds(offset) {
            return true;
        }
        if !source.is_asked {
            source.is_asked = true;
            self.needs.push_back(Need::LogStart { source: key });
        }
        false
    }

    /// Asks for the batches after the end of a ring, as long as somebody has asked for records lately and what is at hand does not
    /// last long.
    pub(super) fn read_ahead(&mut self, key: SourceKey, now: LockTime) {
        let Some(source) = self.sources.get(key).filter(|source| source.is_used(now)) else {
            return;
        };
        let Some(end) = source.ring.end_offset() else {
            return;
        };
        let at_hand = source.ring.bytes_from(source.front, READ_AHEAD);
        // Where the ring does not hold what the fastest group wants, that is read, and not what would take its room.
        if source.front == end || (1..READ_AHEAD).contains(&at_hand) {
            self.want(key, end);
        }
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

    /// Asks for a read that has brought nothing, as long as a fetch waits that could have what comes, or one has come lately.
    fn want_again(&mut self, key: SourceKey, offset: i64, now: LockTime) {
        let Some(source) = self.sources.get(key) else {
            return;
        };
        let is_waiting = |id: &ServedId| {
            let served = self.partitions.get(*id);
            served.is_some_and(|served| !served.waiting.is_empty() && served.can_acquire())
        };
        let is_used = source.is_used(now) || source.served.iter().any(is_waiting);
        if is_used && !source.ring.holds(offset) {
            self.want(key, offset);
        }
    }

    /// The share partitions that read from a ring.
    fn readers(&self, key: SourceKey) -> Vec<ServedId> {
        let source = self.sources.get(key);
        source.map_or_else(Vec::new, |source| source.served.iter().copied().collect())
    }

    pub(super) fn wake_source(&mut self, key: SourceKey) {
        for id in self.readers(key) {
            self.wake_later(id);
        }
    }
}
