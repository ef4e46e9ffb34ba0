//! Acknowledgements of one request, whichever of the two requests they came in.
//!
//! A member may acknowledge by its locks alone: neither its assignment nor its being in the group matters (R12, R13).

use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;

use super::Node;
use super::batches::Batches;
use super::names::Waiter;
use super::requests::ShareRequest;
use super::served::{Deferred, Stage};

/// A code, or an outcome that a write or a load tells later.
enum Outcome {
    Code(i16),
    Later,
}

impl Node {
    /// Begins the acknowledgements of a request: all that can be without waiting for the disk.
    pub(super) fn begin_acknowledgements(
        &mut self,
        request: &mut ShareRequest,
        acknowledged: Vec<(TopicIdPartition, Batches)>,
        is_renewal: bool,
        now: LockTime,
    ) {
        request.outcomes.reserve_exact(acknowledged.len());
        for (outcome, (id, batches)) in acknowledged.into_iter().enumerate() {
            self.counts.acknowledge(&batches);
            let waiter = Waiter {
                connection: request.connection,
                request: request.request,
                outcome,
            };
            let code = match self.acknowledge_one(request, waiter, id, batches, is_renewal, now) {
                Outcome::Code(code) => code,
                Outcome::Later => {
                    request.outstanding += 1;
                    KafkaCode::None.code()
                }
            };
            request.outcomes.push((id, code));
        }
    }

    fn acknowledge_one(
        &mut self,
        request: &ShareRequest,
        waiter: Waiter,
        id: TopicIdPartition,
        batches: Batches,
        is_renewal: bool,
        now: LockTime,
    ) -> Outcome {
        if let Some(code) = self.refusal(waiter.connection, id) {
            return Outcome::Code(code);
        }
        if !is_renewal && batches.renews() {
            return Outcome::Code(KafkaCode::InvalidRequest.code());
        }
        let Some(served) = self.serve(&request.group, id, now) else {
            return Outcome::Code(KafkaCode::UnknownServerError.code());
        };
        let Some(found) = self.partitions.get_mut(served) else {
            return Outcome::Code(KafkaCode::UnknownServerError.code());
        };
        if found.stage != Stage::Ready {
            // Not in memory since a restart: loaded, so that the state can say that the locks are gone.
            found.deferred.push(Deferred { waiter, batches });
            return Outcome::Later;
        }
        match found
            .engine
            .acknowledge(&request.member, &batches.list(), now)
        {
            Ok(Some(token)) => {
                found.settling.insert(token, waiter);
                self.mark_dirty(served);
                Outcome::Later
            }
            // Renewals, and offsets that are over.
            Ok(None) => {
                self.changed(served);
                Outcome::Code(KafkaCode::None.code())
            }
            Err(refused) => {
                // Locks that were due have run out on the way.
                self.changed(served);
                Outcome::Code(refused.kafka_code().code())
            }
        }
    }

    /// Takes up acknowledgements that waited for their share partition, which is ready or never will be.
    pub(super) fn take_up(&mut self, deferred: Deferred, id: TopicIdPartition, now: LockTime) {
        let Deferred { waiter, batches } = deferred;
        let Some(mut request) = self.take_request(waiter) else {
            return;
        };
        // The checks before it was deferred are made again: what they look at may have changed.
        let is_renewal = batches.renews();
        match self.acknowledge_one(&request, waiter, id, batches, is_renewal, now) {
            Outcome::Later => self.put_request(request),
            Outcome::Code(code) => {
                request.outstanding -= 1;
                if let Some(outcome) = request.outcomes.get_mut(waiter.outcome) {
                    outcome.1 = code;
                }
                self.put_request(request);
            }
        }
    }

    /// Tells a request one of the outcomes that it waits for. The request of a connection that was closed meanwhile is gone.
    pub(super) fn tell(&mut self, waiter: Waiter, code: i16) {
        let Some(mut request) = self.take_request(waiter) else {
            return;
        };
        request.outstanding -= 1;
        if let Some(outcome) = request.outcomes.get_mut(waiter.outcome) {
            outcome.1 = code;
        }
        self.put_request(request);
    }
}
