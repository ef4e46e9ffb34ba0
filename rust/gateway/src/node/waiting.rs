//! Fetches that wait for records, and who wakes them (`DelayedShareFetch` and its purgatory).

use std::collections::HashSet;
use std::ops::Bound;

use share_state_core::ids::QuickHash;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::ConnectionId;
use share_state_core::time::LockTime;

use super::names::ServedId;
use super::requests::{ShareRequest, Work};
use super::timers::Timer;
use super::{Node, codes};

/// Time that a fetch waits for the starts of logs beyond its own time, ms.
const PATIENCE_MS: i64 = 1_000;

impl Node {
    /// Tries a fetch for the first time, and has it wait where it finds nothing.
    pub(super) fn begin_fetch(
        &mut self,
        request: &mut ShareRequest,
        max_wait_ms: i32,
        now: LockTime,
    ) {
        if let Some(fetch) = &request.fetch {
            self.counts.asked(&request.group, fetch.partitions.len());
        }
        let is_done = self.attempt(request, now);
        let is_due = max_wait_ms <= 0;
        if is_done || (is_due && !self.waits_for_log_start(request)) {
            self.end_fetch(request);
            return;
        }
        let (connection, number) = (request.connection, request.request);
        let wait_ms = if is_due {
            PATIENCE_MS
        } else {
            max_wait_ms.into()
        };
        let until = now.plus(wait_ms);
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        fetch.is_due = is_due;
        fetch.timer = Some(self.timers.set(until, Timer::Request(connection)));
        for served in &fetch.partitions {
            if let Some(served) = self.partitions.get_mut(*served) {
                served.waiting.insert(number, connection);
            }
        }
        let (group, member) = (&request.group, &request.member);
        self.partitions.waits(group, member, connection);
    }

    /// Lets the fetches that wait at a share partition try again, the oldest first, as long as there is something for them.
    pub(super) fn wake(&mut self, served: ServedId, now: LockTime) {
        if let Some(found) = self.partitions.get_mut(served) {
            // What changes from here on is seen by those who have been tried already only if they are woken once more.
            found.is_woken = false;
        }
        let mut after = Bound::Unbounded;
        // Each may leave, and have others leave.
        while let Some(found) = self.partitions.get(served)
            && let Some((number, connection)) =
                found.waiting.range((after, Bound::Unbounded)).next()
        {
            after = Bound::Excluded(*number);
            if !self.try_again(*connection, now) && self.has_no_more(served) {
                return;
            }
        }
    }

    /// Lets the fetches of a share partition try again whose time is over: the starts of logs that they have waited for may be told.
    pub(super) fn end_due(&mut self, served: ServedId, now: LockTime) {
        let found = self.partitions.get(served);
        let waiting = found.into_iter().flat_map(|found| found.waiting.values());
        let due = waiting.filter(|connection| self.is_due(**connection));
        let due: Vec<_> = due.copied().collect();
        for connection in due {
            self.try_again(connection, now);
        }
    }

    /// Lets the fetches try again that found too many bytes unread, as long as there is room.
    pub(super) fn feed_starved(&mut self, now: LockTime) {
        while self.answers.allowed(&self.limits) > 0
            && let Some((_, connection)) = self.starved.pop_first()
        {
            self.try_again(connection, now);
        }
    }

    /// The time of a fetch is over: it takes what there is, however little.
    pub(super) fn expire(&mut self, connection: ConnectionId, now: LockTime) {
        let Some(mut request) = self.take_waiting(connection) else {
            return;
        };
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        // It has gone off.
        fetch.timer = None;
        fetch.limits.min_bytes = 0;
        let was_due = std::mem::replace(&mut fetch.is_due, true);
        fetch.has_expired |= !was_due;
        let is_done = self.attempt(&mut request, now);
        if !is_done && !was_due && self.waits_for_log_start(&request) {
            let until = now.plus(PATIENCE_MS);
            let timer = self.timers.set(until, Timer::Request(connection));
            if let Some(fetch) = &mut request.fetch {
                fetch.timer = Some(timer);
            }
        } else {
            self.end_fetch(&mut request);
        }
        self.put_request(request);
    }

    /// Returns `true` if a fetch could have records whose log start is asked for.
    fn waits_for_log_start(&self, request: &ShareRequest) -> bool {
        let fetch = request.fetch.as_ref().filter(|_| !self.is_closed);
        let partitions = fetch.into_iter().flat_map(|fetch| &fetch.partitions);
        let mut served = partitions.filter_map(|id| self.partitions.get(*id));
        served.any(|served| {
            let source = self
                .sources
                .get(served.source)
                .filter(|source| source.is_asked);
            let offset = served.engine.next_fetch_offset();
            served.can_acquire() && source.is_some_and(|source| source.ring.holds(offset))
        })
    }

    /// Ends the wait of a member's fetch, which acquires nothing: its session has gone on (R10, KAFKA-19950).
    pub(super) fn give_up(&mut self, group: &str, member: &str) {
        let waiting = self.partitions.waiting(group, member);
        let Some(mut request) = waiting.and_then(|connection| self.take_waiting(connection)) else {
            return;
        };
        self.end_fetch(&mut request);
        self.put_request(request);
    }

    /// Returns `true` if the fetch of a connection waits beyond its time, for the starts of logs alone.
    fn is_due(&self, connection: ConnectionId) -> bool {
        let work = self.connections.get(&connection).map(|found| &found.work);
        let Some(Some(Work::Share(request))) = work else {
            return false;
        };
        request.fetch.as_ref().is_some_and(|fetch| fetch.is_due)
    }

    fn try_again(&mut self, connection: ConnectionId, now: LockTime) -> bool {
        let Some(mut request) = self.take_waiting(connection) else {
            return true;
        };
        let is_due = request.fetch.as_ref().is_some_and(|fetch| fetch.is_due);
        let done =
            self.attempt(&mut request, now) || (is_due && !self.waits_for_log_start(&request));
        if done {
            self.end_fetch(&mut request);
        }
        self.put_request(request);
        done
    }

    fn take_waiting(&mut self, connection: ConnectionId) -> Option<Box<ShareRequest>> {
        let work = &mut self.connections.get_mut(&connection)?.work;
        match work.take() {
            Some(Work::Share(request)) if request.is_waiting() => Some(request),
            other => {
                *work = other;
                None
            }
        }
    }

    /// Ends the part of a request that acquires: it waits nowhere any more, and the codes of its partitions are what they are now.
    pub(super) fn end_fetch(&mut self, request: &mut ShareRequest) {
        self.leave(request);
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        fetch.is_over = true;
        self.counts.expired_fetches += u64::from(fetch.has_expired && fetch.deliveries.is_empty());
        let given = fetch.deliveries.iter().map(|(id, _)| *id);
        let tried: HashSet<_, QuickHash> = given
            .chain(fetch.failed.iter().map(|(id, _)| *id))
            .collect();
        for id in &fetch.partitions {
            let Some(served) = self.partitions.get(*id) else {
                continue;
            };
            let place = served.id;
            *self.counts.fetched.entry(place.topic_id).or_default() += 1;
            // A client drops the records of a partition that has an error, and they would be locked for nobody.
            if tried.contains(&place) {
                continue;
            }
            let source = self.sources.get(served.source);
            let is_unavailable = source.is_some_and(|source| source.is_unavailable);
            let hidden = KafkaCode::UnknownServerError.code();
            let (cause, code) = match served.error() {
                0 if is_unavailable => ("upstream_unavailable", hidden),
                code => (codes::name(code), codes::fetch(code)),
            };
            if code == hidden {
                *self.counts.hidden.entry(cause).or_default() += 1;
            }
            if code != 0 {
                fetch.errors.push((place, code));
            }
        }
        fetch.errors.append(&mut fetch.failed);
        for (id, _) in &fetch.errors {
            if self.topics.has(id.topic_id) {
                *self.counts.fetch_failed.entry(id.topic_id).or_default() += 1;
            }
        }
        for id in std::mem::take(&mut fetch.partitions) {
            self.partitions.forget(id);
        }
    }

    /// Takes a fetch out of all lists in which it waits.
    pub(super) fn leave(&mut self, request: &mut ShareRequest) {
        let number = request.request;
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        if let Some(timer) = fetch.timer.take() {
            self.timers.take_back(timer);
        }
        self.starved.remove(&number);
        for id in &fetch.partitions {
            if let Some(served) = self.partitions.get_mut(*id) {
                served.waiting.remove(&number);
            }
        }
        let (group, member) = (&request.group, &request.member);
        self.partitions
            .stops_waiting(group, member, request.connection);
    }
}
