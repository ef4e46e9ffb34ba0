//! Admitting a request: the table of session epochs.

use std::sync::Arc;

use super::context::Kind;
use super::partitions::SessionPartitions;
use super::session::{Session, next_epoch};
use super::{
    ConnectionId, FINAL_EPOCH, INITIAL_EPOCH, ShareFetchContext, ShareSessionError,
    ShareSessionKey, ShareSessions, TopicIdPartition,
};

/// Session part of a ShareFetch request. Repeated partitions count once: librdkafka repeats topics.
#[derive(Clone, Copy, Debug)]
pub struct ShareFetchRequest<'a> {
    /// Id of the share group.
    pub group: &'a str,
    /// Id of the member.
    pub member: &'a str,
    /// Epoch of the session: 0 opens, −1 ends.
    pub epoch: i32,
    /// The connection over which the request came.
    pub connection: ConnectionId,
    /// Partitions to fetch from now on (`Topics`).
    pub added: &'a [TopicIdPartition],
    /// Partitions not to fetch any more (`ForgottenTopicsData`).
    pub forgotten: &'a [TopicIdPartition],
    /// Set if the request brings acknowledgements.
    pub acknowledges: bool,
}

impl ShareSessions {
    /// Admits a ShareFetch request (`SharePartitionManager.newContext`).
    ///
    /// Epoch 0 opens the session or replaces it, also from another connection. Epoch −1 takes any session, and its partitions
    /// are not looked at. Another epoch must be the expected one; partitions are added, then forgotten.
    ///
    /// # Errors
    /// Why the request is refused; nothing has changed.
    pub fn fetch(
        &mut self,
        request: &ShareFetchRequest<'_>,
    ) -> Result<ShareFetchContext, ShareSessionError> {
        match request.epoch {
            INITIAL_EPOCH => self.open(request),
            FINAL_EPOCH => self
                .session(request.group, request.member)
                .map(|_| request.context(Kind::Final, Arc::default(), 0))
                .ok_or(ShareSessionError::NotFound),
            _ => self.go_on(request),
        }
    }

    /// Admits a ShareAcknowledge request (`SharePartitionManager.acknowledgeSessionUpdate`). Epoch −1 ends the session, once the
    /// acknowledgements are answered, by [`Self::close`].
    ///
    /// # Errors
    /// Why the request is refused; nothing has changed. Epoch 0 opens no session here.
    pub fn acknowledge(
        &mut self,
        group: &str,
        member: &str,
        epoch: i32,
    ) -> Result<(), ShareSessionError> {
        if epoch == INITIAL_EPOCH {
            return Err(ShareSessionError::Epoch {
                expected: None,
                actual: epoch,
            });
        }
        let session = self
            .session_mut(group, member)
            .ok_or(ShareSessionError::NotFound)?;
        if epoch == FINAL_EPOCH {
            return Ok(());
        }
        session.expect(epoch)?;
        session.advance();
        Ok(())
    }

    fn open(
        &mut self,
        request: &ShareFetchRequest<'_>,
    ) -> Result<ShareFetchContext, ShareSessionError> {
        if request.acknowledges {
            return Err(ShareSessionError::AcknowledgementsAtOpening);
        }
        let replaces = self.session(request.group, request.member).is_some();
        if !replaces && self.len() >= self.max_sessions {
            return Err(ShareSessionError::LimitReached {
                max_sessions: self.max_sessions,
            });
        }
        self.remove(request.group, request.member);
        let mut partitions = SessionPartitions::default();
        for id in request.added {
            // Without a mark: the answer to this request lists every partition anyway.
            partitions.add(*id, false);
        }
        let context = request.context(Kind::Full, partitions.list(), 0);
        let session = Session {
            serial: self.opened,
            connection: request.connection,
            next_epoch: next_epoch(INITIAL_EPOCH),
            partitions,
        };
        self.opened += 1;
        self.put(context.key.clone(), session);
        Ok(context)
    }

    fn go_on(
        &mut self,
        request: &ShareFetchRequest<'_>,
    ) -> Result<ShareFetchContext, ShareSessionError> {
        let session = self
            .session_mut(request.group, request.member)
            .ok_or(ShareSessionError::NotFound)?;
        session.expect(request.epoch)?;
        session.advance();
        for id in request.added {
            session.partitions.add(*id, true);
        }
        for id in request.forgotten {
            session.partitions.remove(*id);
        }
        let partitions = session.partitions.list();
        let kind = Kind::Incremental {
            serial: session.serial,
            next_epoch: session.next_epoch,
        };
        let first = request.epoch as usize % partitions.len().max(1);
        Ok(request.context(kind, partitions, first))
    }
}

impl Session {
    fn expect(&self, epoch: i32) -> Result<(), ShareSessionError> {
        if epoch == self.next_epoch {
            return Ok(());
        }
        Err(ShareSessionError::Epoch {
            expected: Some(self.next_epoch),
            actual: epoch,
        })
    }
}

impl ShareFetchRequest<'_> {
    fn context(
        &self,
        kind: Kind,
        partitions: Arc<[TopicIdPartition]>,
        first: usize,
    ) -> ShareFetchContext {
        ShareFetchContext {
            key: ShareSessionKey {
                group: Arc::from(self.group),
                member: Arc::from(self.member),
            },
            kind,
            partitions,
            first,
        }
    }
}
