//! A connection: bytes that came, the request under way, bytes that its client has not taken.

use std::sync::Arc;

use super::inlet::Inlet;
use super::limits::Limits;
use super::requests::Work;

/// A connection of a client.
///
/// Invariant (R7): no frame is taken while a request is under way.
#[derive(Debug)]
pub(super) struct Connection {
    /// Principal of the client; `None` while it has not logged in.
    pub principal: Option<Arc<str>>,
    pub inlet: Inlet,
    pub work: Option<Work>,
    /// Bytes of answers that the operating system has not taken.
    pub unread: usize,
    /// Mark of one that was told to be closed; nothing more is taken or sent.
    pub is_closing: bool,
}

impl Connection {
    pub fn new(principal: Option<Arc<str>>) -> Self {
        Self {
            principal,
            inlet: Inlet::default(),
            work: None,
            unread: 0,
            is_closing: false,
        }
    }

    /// Returns `true` if its next request may begin.
    pub const fn may_begin(&self, limits: &Limits) -> bool {
        self.work.is_none() && !self.is_closing && self.unread < limits.unread
    }

    /// Returns `true` if more bytes of it are welcome: what has come is not yet a lot that waits.
    pub const fn may_read(&self, limits: &Limits) -> bool {
        !self.is_closing && (self.may_begin(limits) || self.inlet.waiting() < limits.waiting)
    }
}
