//! Connections: bytes to requests, requests to answers, in their order.

use std::sync::Arc;

use share_state_core::share_session::ConnectionId;
use share_state_core::time::LockTime;
use share_state_wire::messages::RequestHeader;
use share_state_wire::messages::protocol::apis::{SHARE_ACKNOWLEDGE, SHARE_FETCH};

use super::Node;
use super::connection::Connection;
use super::events::{Closing, Event, Need};
use super::names::Waiter;
use super::requests::{Head, ShareRequest, Work};

impl Node {
    /// Takes a connection. Its number is not used twice: share sessions live on it. Without a principal its client has yet to log
    /// in, and all its requests go to the control plane.
    pub fn opened(&mut self, connection: ConnectionId, principal: Option<Arc<str>>) {
        let was = self
            .connections
            .insert(connection, Connection::new(principal));
        debug_assert!(was.is_none(), "connection {connection} is open already");
    }

    /// Lets the client of a connection in, which has logged in.
    pub fn let_in(&mut self, connection: ConnectionId, principal: Arc<str>) {
        if let Some(found) = self.connections.get_mut(&connection) {
            found.principal = Some(principal);
        }
    }

    /// Takes the end of a connection: its request is answered to nobody, and the sessions that it opened end.
    pub fn closed(&mut self, connection: ConnectionId, now: LockTime) {
        let Some(found) = self.connections.remove(&connection) else {
            return;
        };
        self.answers.give_back(found.unread);
        self.queued -= found.inlet.waiting();
        match found.work {
            Some(Work::Share(mut request)) => self.abandon(&mut request),
            Some(Work::Late { timer, .. }) => self.timers.take_back(timer),
            Some(Work::Elsewhere | Work::LookingUp(_)) | None => {}
        }
        for key in self.sessions.connection_closed(connection) {
            self.release(&key.group, &key.member, now);
        }
        self.feed_starved(now);
        self.run(now);
    }

    /// Takes bytes of a client, cut anywhere.
    pub fn feed(&mut self, connection: ConnectionId, bytes: &[u8], now: LockTime) {
        let Some(found) = self.connections.get_mut(&connection) else {
            return;
        };
        if found.is_closing {
            return;
        }
        found.inlet.push(bytes);
        self.queued += bytes.len();
        self.done.push_back(connection);
        self.run(now);
        while self.queued > self.limits.queued && self.cut_off_largest() {}
    }

    /// Returns `true` if more bytes of a client are welcome.
    #[must_use]
    pub fn may_read(&self, connection: ConnectionId) -> bool {
        let found = self.connections.get(&connection);
        found.is_some_and(|found| found.may_read(&self.limits))
    }

    /// Takes note that the operating system has taken bytes of the answers of a connection.
    pub fn sent(&mut self, connection: ConnectionId, bytes: usize, now: LockTime) {
        let Some(found) = self.connections.get_mut(&connection) else {
            return;
        };
        let taken = bytes.min(found.unread);
        found.unread -= taken;
        self.answers.give_back(taken);
        self.done.push_back(connection);
        self.feed_starved(now);
        self.run(now);
    }

    /// Takes the answer to an [`Event::Request`] of a connection: a whole frame, empty where the request has no answer. `None`
    /// closes the connection.
    pub fn answered(&mut self, connection: ConnectionId, frame: Option<Vec<u8>>, now: LockTime) {
        let Some(found) = self.connections.get_mut(&connection) else {
            return;
        };
        if found
            .work
            .take_if(|work| matches!(work, Work::Elsewhere))
            .is_none()
        {
            return;
        }
        match frame {
            Some(frame) if frame.is_empty() => {}
            Some(frame) => self.send(connection, Some(frame)),
            None => self.close(connection, Closing::Asked),
        }
        self.done.push_back(connection);
        self.run(now);
    }

    /// Answers the request of a connection if it is done, and begins those that have come after it.
    pub(super) fn go_on(&mut self, connection: ConnectionId, now: LockTime) {
        let Some(found) = self.connections.get_mut(&connection) else {
            return;
        };
        let is_done = |work: &mut Work| matches!(work, Work::Share(request) if request.is_done());
        if let Some(Work::Share(request)) = found.work.take_if(is_done) {
            self.answer(connection, &request, now);
        }
        self.begin(connection, now);
    }

    /// Begins requests until one waits or no whole frame is left.
    fn begin(&mut self, connection: ConnectionId, now: LockTime) {
        while let Some(found) = self.connections.get_mut(&connection)
            && found.may_begin(&self.limits)
        {
            let is_stranger = found.principal.is_none();
            let mut inlet = std::mem::take(&mut found.inlet);
            self.queued -= inlet.waiting();
            let limits = self.limits;
            let taken = match inlet.next(|key| limits.longest(is_stranger, key)) {
                Ok(Some(frame)) => Some(self.request(connection, is_stranger, frame, false, now)),
                Ok(None) => None,
                Err(error) => Some(Err(Closing::Frame(error))),
            };
            // What follows the last request of a connection is not looked at.
            if let Some(found) = self.connections.get_mut(&connection)
                && !found.is_closing
            {
                inlet.shrink();
                self.queued += inlet.waiting();
                found.inlet = inlet;
            }
            match taken {
                Some(Ok(())) => {}
                Some(Err(cause)) => self.close(connection, cause),
                None => return,
            }
            // It may be answered already.
            let found = self.connections.get_mut(&connection);
            let is_done = |work: &mut Work| matches!(work, Work::Share(one) if one.is_done());
            if let Some(Work::Share(request)) = found.and_then(|found| found.work.take_if(is_done))
            {
                self.answer(connection, &request, now);
            }
        }
    }

    fn request(
        &mut self,
        connection: ConnectionId,
        is_stranger: bool,
        frame: &[u8],
        is_looked_up: bool,
        now: LockTime,
    ) -> Result<(), Closing> {
        let (api_key, version) = head_of(frame);
        let served = [&SHARE_FETCH, &SHARE_ACKNOWLEDGE];
        let served = served.into_iter().find(|api| api.key == api_key);
        let Some(api) = served.filter(|_| !is_stranger) else {
            self.put_work(connection, Work::Elsewhere);
            self.events.push_back(Event::Request {
                connection,
                frame: frame.to_vec(),
            });
            return Ok(());
        };
        let malformed = |error| Closing::Malformed {
            api_key,
            version,
            error,
        };
        let (header, body) = RequestHeader::decode(frame).map_err(malformed)?;
        if !api.versions.contains(&version) {
            return Err(Closing::Version { api_key, version });
        }
        let head = Head {
            version,
            correlation_id: header.correlation_id,
        };
        let begun = if api_key == SHARE_FETCH.key {
            self.share_fetch(connection, head, body, is_looked_up, now)
        } else {
            self.share_acknowledge(connection, head, body, is_looked_up, now)
        };
        let topic_ids = begun.map_err(malformed)?;
        if !topic_ids.is_empty() {
            self.put_work(connection, Work::LookingUp(frame.to_vec()));
            self.needs.push_back(Need::Topics {
                connection,
                topic_ids,
            });
        }
        Ok(())
    }

    /// Begins the request of a connection whose topics were looked for. Those that are not in the snapshot by now do not exist.
    pub fn looked_up(&mut self, connection: ConnectionId, now: LockTime) {
        let found = self.connections.get_mut(&connection);
        let is_it = |work: &mut Work| matches!(work, Work::LookingUp(_));
        let found = found.filter(|found| !found.is_closing);
        let Some(Work::LookingUp(frame)) = found.and_then(|found| found.work.take_if(is_it)) else {
            return;
        };
        if let Err(cause) = self.request(connection, false, &frame, true, now) {
            self.close(connection, cause);
        }
        self.done.push_back(connection);
        self.run(now);
    }

    /// Sends a frame. One that cannot be written is a fault of ours, and ends the connection.
    pub(super) fn send(&mut self, connection: ConnectionId, frame: Option<Vec<u8>>) {
        let Some(bytes) = frame else {
            self.close(connection, Closing::Asked);
            return;
        };
        if let Some(found) = self.connections.get_mut(&connection)
            && !found.is_closing
        {
            found.unread += bytes.len();
            self.answers.hold(bytes.len());
            self.events.push_back(Event::Send { connection, bytes });
        }
    }

    fn close(&mut self, connection: ConnectionId, cause: Closing) {
        if let Some(found) = self.connections.get_mut(&connection)
            && !found.is_closing
        {
            found.is_closing = true;
            self.counts.malformed += u64::from(matches!(cause, Closing::Malformed { .. }));
            self.queued -= std::mem::take(&mut found.inlet).waiting();
            self.events.push_back(Event::Close { connection, cause });
        }
    }

    /// Ends the connection with most bytes of requests that wait. Returns `false` if no connection has any.
    fn cut_off_largest(&mut self) -> bool {
        let waiting = |(connection, found): (&ConnectionId, &Connection)| {
            (found.inlet.waiting(), *connection)
        };
        let open = self
            .connections
            .iter()
            .filter(|(_, found)| !found.is_closing);
        let largest = open.map(waiting).max();
        let Some((bytes, connection)) = largest.filter(|(bytes, _)| *bytes > 0) else {
            return false;
        };
        let limit = self.limits.queued;
        self.close(connection, Closing::Queued { bytes, limit });
        true
    }

    pub(super) fn put_work(&mut self, connection: ConnectionId, work: Work) {
        if let Some(found) = self.connections.get_mut(&connection) {
            debug_assert!(found.work.is_none(), "one request at a time");
            found.work = Some(work);
        }
    }

    /// Takes the request of a waiter out of its connection; `None` if it is there no more.
    pub(super) fn take_request(&mut self, waiter: Waiter) -> Option<Box<ShareRequest>> {
        let is_it = |work: &mut Work| matches!(work, Work::Share(request) if request.request == waiter.request);
        match self
            .connections
            .get_mut(&waiter.connection)?
            .work
            .take_if(is_it)?
        {
            Work::Share(request) => Some(request),
            Work::Elsewhere | Work::LookingUp(_) | Work::Late { .. } => None,
        }
    }

    /// Puts a request back, which is answered before the call ends if it is done.
    pub(super) fn put_request(&mut self, request: Box<ShareRequest>) {
        let connection = request.connection;
        if request.is_done() {
            self.done.push_back(connection);
        }
        self.put_work(connection, Work::Share(request));
    }

    /// Forgets a request whose connection is gone.
    fn abandon(&mut self, request: &mut ShareRequest) {
        self.leave(request);
        if let Some(fetch) = &mut request.fetch {
            self.answers.give_back(fetch.reserved);
            for served in std::mem::take(&mut fetch.partitions) {
                self.partitions.forget(served);
            }
        }
    }
}

/// The API key and the version with which a frame begins; no frame is shorter.
fn head_of(frame: &[u8]) -> (i16, i16) {
    let [a, b, c, d] = frame.first_chunk().copied().unwrap_or([0xff; 4]);
    (i16::from_be_bytes([a, b]), i16::from_be_bytes([c, d]))
}
