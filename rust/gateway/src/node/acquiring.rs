//! Acquisition of records for a fetch, as far as their bytes are at hand.
//!
//! A record is acquired only when its bytes are at hand, so no lock runs for a record that cannot be sent. The partitions of a
//! session come in an order that rotates with each request, and each gets an equal share of the bytes.

use share_state_core::offset::after_saturating;
use share_state_core::time::LockTime;

use super::names::ServedId;
use super::requests::ShareRequest;
use super::served::Served;
use super::upstream::{READ_AHEAD, heard_since};
use super::{Node, codes};
use crate::{Delivery, Wanted, deliver};

/// Bytes that an answer may have beyond its limit in all, for small batches that are not worth another one.
const MORE: usize = 64 << 10;

impl Node {
    /// Acquires what is there. Returns `true` if the fetch is complete: it has records, every partition has failed and the client is told
    /// why, or one is gone, which the next request has loaded again (KAFKA-19567).
    pub(super) fn attempt(&mut self, request: &mut ShareRequest, now: LockTime) -> bool {
        let Some(fetch) = &mut request.fetch else {
            return true;
        };
        let is_gone = |id: &ServedId| self.partitions.get(*id).is_some_and(Served::is_gone);
        let must_end = fetch.partitions.iter().any(is_gone);
        if self.is_closed {
            // Records given out now could never be settled.
            return must_end;
        }
        let mut acquirable = fetch.partitions.clone();
        acquirable.retain(|id| {
            let served = self.partitions.get(*id);
            served.is_some_and(Served::can_acquire)
        });
        fetch.fetched = acquirable
            .iter()
            .filter_map(|id| Some(self.partitions.get(*id)?.id))
            .collect();
        if acquirable.is_empty() {
            let served = || {
                fetch
                    .partitions
                    .iter()
                    .filter_map(|id| self.partitions.get(*id))
            };
            // A client that is told of no error tries again at once, and would have the load fail at its own speed.
            let is_told = served().any(|served| codes::fetch(served.error()) != 0);
            return must_end || (is_told && served().all(Served::is_over));
        }
        self.acquire(request, &acquirable, now) || must_end
    }

    fn acquire(
        &mut self,
        request: &mut ShareRequest,
        acquirable: &[ServedId],
        now: LockTime,
    ) -> bool {
        let allowed = self.answers.allowed(&self.limits);
        if allowed == 0 {
            // Clients have to take what they were given first.
            self.starved.insert(request.request, request.connection);
            return false;
        }
        let Some(fetch) = &mut request.fetch else {
            return true;
        };
        let limit = fetch.limits.max_bytes.min(allowed);
        let share = (limit / acquirable.len()).max(1);
        let min_bytes = fetch.limits.min_bytes;
        if min_bytes > 1 && !self.has_enough(acquirable, share, min_bytes, now) {
            return false;
        }
        // Upstream is asked for the starts of all logs that were not heard, and the fetch waits for all: each partition has its turn.
        // What was told since it first asked counts, so it asks once for each, however slow upstream is.
        let since = *fetch.heard_since.get_or_insert(heard_since(now));
        let stale = acquirable.iter().filter(|id| !self.is_fresh(**id, since));
        if stale.count() > 0 {
            return false;
        }
        fetch.heard_since = None;
        let mut records = fetch.limits.max_records;
        let mut bytes = 0_usize;
        for id in acquirable {
            // One batch is delivered whatever its size (KIP-74). Clients could not take an answer with several of them.
            let most = limit.saturating_add(MORE).saturating_sub(bytes);
            let wanted = Wanted {
                member: &request.member,
                mode: fetch.limits.mode,
                batch_size: fetch.limits.batch_size,
                max_records: records,
                max_bytes: share.min(limit.saturating_sub(bytes).max(1)),
                first_bytes: (!fetch.deliveries.is_empty()).then_some(most),
            };
            let place = self.partitions.get(*id).map(|served| served.id);
            let Some((place, taken)) = place.zip(self.take(*id, &wanted, now)) else {
                continue;
            };
            match taken {
                Ok(delivery) => {
                    let count = i32::try_from(delivery.record_count()).unwrap_or(i32::MAX);
                    records = records.saturating_sub(count);
                    bytes += delivery.nbytes();
                    fetch.deliveries.push((place, delivery));
                    self.partitions.holds(&request.group, &request.member, *id);
                }
                Err(code) => fetch.failed.push((place, code)),
            }
            if records <= 0 {
                break;
            }
        }
        // Those who are tried before this answer is sent leave room for it.
        self.answers.hold(bytes);
        fetch.reserved += bytes;
        if !fetch.deliveries.is_empty() {
            let partitions = fetch.deliveries.len();
            self.counts
                .acquired(&request.group, partitions, fetch.began, now);
        }
        !fetch.deliveries.is_empty() || !fetch.failed.is_empty()
    }

    /// Acquires records of one share partition; `None` where there are none yet. An error is that of the partition.
    fn take(
        &mut self,
        id: ServedId,
        wanted: &Wanted<'_>,
        now: LockTime,
    ) -> Option<Result<Delivery, i16>> {
        let served = self.partitions.get_mut(id)?;
        let key = served.source;
        let source = self.sources.get_mut(key)?;
        source.asked_at = Some(now);
        let taken = loop {
            match deliver(&mut source.ring, &mut served.engine, wanted, now) {
                Ok(Some(delivery)) if !delivery.acquired.is_empty() => {
                    let last = delivery.acquired.last().map(|given| given.range.last);
                    source.front = source.front.max(last.map_or(0, after_saturating));
                    self.read_ahead(key, now);
                    break Some(Ok(delivery));
                }
                // All that was there is of no use to members: holes, markers, aborted transactions. Or it is too large.
                Ok(Some(delivery)) => {
                    let moved = served.engine.next_fetch_offset() > delivery.fetch_offset;
                    if !moved || !served.engine.can_acquire() {
                        break None;
                    }
                }
                Ok(None) => {
                    let offset = served.engine.next_fetch_offset();
                    source.front = source.front.max(offset);
                    self.want(key, offset);
                    break None;
                }
                Err(refused) => break Some(Err(codes::fetch(refused.kafka_code().code()))),
            }
        };
        // Locks that were due have run out, and records of aborted transactions were archived on the way.
        self.noted(id);
        taken
    }

    /// Returns `true` if there are as many bytes as the client wants at least, or as are read ahead.
    fn has_enough(
        &mut self,
        acquirable: &[ServedId],
        share: usize,
        min_bytes: i32,
        now: LockTime,
    ) -> bool {
        let least = usize::try_from(min_bytes).unwrap_or(0).min(READ_AHEAD);
        // An answer has no more than that, however long it waits.
        let least = least.min(share.saturating_mul(acquirable.len()));
        let mut there = 0;
        for id in acquirable {
            let Some(served) = self.partitions.get(*id) else {
                continue;
            };
            let (key, offset) = (served.source, served.engine.next_fetch_offset());
            let Some(source) = self.sources.get_mut(key) else {
                continue;
            };
            source.asked_at = Some(now);
            if !source.ring.holds(offset) {
                self.want(key, offset);
                continue;
            }
            let bytes = source.ring.bytes_from(offset, share);
            there += bytes;
            if there >= least {
                return true;
            }
            if bytes < share && !source.ring.is_in_tail(offset) {
                // After it comes a gap. The fetch takes what there is, and the next one has the gap read.
                return true;
            }
            // More is read where the ring ends.
            if let Some(end) = source.ring.end_offset().filter(|_| bytes < share) {
                self.want(key, end);
            }
        }
        false
    }

    /// Returns `true` if a share partition serves and has nothing at hand for another fetch.
    pub(super) fn has_no_more(&self, id: ServedId) -> bool {
        let served = self.partitions.get(id).filter(|served| served.is_ready());
        let found = served.and_then(|served| Some((served, self.sources.get(served.source)?)));
        found.is_some_and(|(served, source)| {
            !served.engine.can_acquire() || !source.ring.holds(served.engine.next_fetch_offset())
        })
    }
}
