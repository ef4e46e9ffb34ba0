//! ShareFetch (RPC 78): take acknowledgements, acquire records, wait for some.
//!
//! The order is Kafka's (`KafkaApis.handleShareFetchRequest`): the request is checked, the session is opened or advanced, the
//! acknowledgements are begun, records are acquired, and the answer leaves when both are done.

use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::AcquireMode;
use share_state_core::share_session::{
    ConnectionId, ShareFetchRequest as Admission, ShareSessionError, TopicIdPartition,
};
use share_state_core::time::LockTime;
use share_state_wire::WireError;
use share_state_wire::messages::share::ShareFetchRequest;

use super::Node;
use super::batches::Merged;
use super::requests::{Fetch, FetchLimits, Head, ShareRequest, Work};
use super::timers::Timer;

impl Node {
    /// Begins a request. Returns the topics that have to be looked for before; then nothing has changed.
    ///
    /// # Errors
    /// It is malformed; nothing has changed.
    pub(super) fn share_fetch(
        &mut self,
        connection: ConnectionId,
        head: Head,
        body: &[u8],
        is_looked_up: bool,
        now: LockTime,
    ) -> Result<Vec<TopicId>, WireError> {
        let asked = ShareFetchRequest::decode(body, head.version, self.limits.elements)?;
        let (group, member) = (asked.group_id.as_deref(), asked.member_id.as_deref());
        let admitted = self.member(connection, group, member);
        let ((group, member), mode) = match admitted.and_then(|of| Ok((of, mode(&asked)?))) {
            Ok(admitted) => admitted,
            Err(code) => {
                self.refuse_fetch(connection, head, code);
                return Ok(Vec::new());
            }
        };
        let unknown = self.topics.unknown(&asked.topics);
        if !is_looked_up && !unknown.is_empty() {
            return Ok(unknown);
        }
        let merged = Merged::of(&asked.topics);
        let forgotten = asked.forgotten_topics_data.iter().flat_map(|topic| {
            let partitions = topic.partitions.iter();
            partitions.map(|partition| TopicIdPartition {
                topic_id: topic.topic_id,
                partition: *partition,
            })
        });
        let forgotten: Vec<_> = forgotten.collect();
        let admission = Admission {
            group: &group,
            member: &member,
            epoch: asked.share_session_epoch,
            connection,
            added: &merged.named,
            forgotten: &forgotten,
            acknowledges: !merged.acknowledged.is_empty(),
        };
        let max_wait_ms = asked.max_wait_ms.clamp(0, self.limits.max_wait_ms);
        let context = match self.sessions.fetch(&admission) {
            Ok(context) => context,
            Err(refused) => {
                self.refuse_session(connection, head, refused, max_wait_ms, now);
                return Ok(Vec::new());
            }
        };
        self.give_up(&group, &member);
        if context.partitions().len() > self.limits.elements {
            // Each request looks at all of them.
            self.end_session(&group, &member, now);
            self.refuse_fetch(connection, head, KafkaCode::InvalidRequest.code());
            return Ok(Vec::new());
        }
        let (number, is_final) = (self.next_request(), context.is_final());
        let fetch = Fetch::new(context, self.fetch_limits(&asked, mode), now);
        let by = (group, member);
        let mut request = ShareRequest::new(number, connection, head, by, is_final, Some(fetch));
        let is_renewal = asked.is_renew_ack;
        self.begin_acknowledgements(&mut request, merged.acknowledged, is_renewal, now);
        if is_renewal {
            self.end_fetch(&mut request);
        } else {
            self.look_up(&mut request, now);
            self.acquire_or_wait(&mut request, &asked, max_wait_ms, now);
        }
        self.put_request(request);
        Ok(Vec::new())
    }

    fn fetch_limits(&self, asked: &ShareFetchRequest<'_>, mode: AcquireMode) -> FetchLimits {
        let max_bytes = usize::try_from(asked.max_bytes).unwrap_or(0);
        FetchLimits {
            max_records: asked.max_records,
            max_bytes: max_bytes.min(self.limits.fetch_max_bytes),
            min_bytes: asked.min_bytes,
            batch_size: asked.batch_size.max(1),
            mode,
        }
    }

    /// Finds the share partitions of a session, and notes why the others cannot be fetched from.
    fn look_up(&mut self, request: &mut ShareRequest, now: LockTime) {
        let connection = request.connection;
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        let places: Vec<_> = fetch.context.partitions().collect();
        for id in places {
            let served = match self.refusal(connection, id) {
                Some(code) => Err(code),
                None => {
                    let served = self.serve(&request.group, id, now);
                    served.ok_or(KafkaCode::UnknownServerError.code())
                }
            };
            match served {
                Ok(served) => fetch.partitions.push(served),
                Err(code) => fetch.errors.push((id, code)),
            }
        }
    }

    fn acquire_or_wait(
        &mut self,
        request: &mut ShareRequest,
        asked: &ShareFetchRequest<'_>,
        max_wait_ms: i32,
        now: LockTime,
    ) {
        let Some(fetch) = &mut request.fetch else {
            return;
        };
        let has_partitions = !fetch.partitions.is_empty();
        if has_partitions && asked.max_records > 0 && asked.max_bytes > 0 {
            self.begin_fetch(request, max_wait_ms, now);
            return;
        }
        if has_partitions && asked.max_records != 0 && asked.max_records.min(asked.max_bytes) < 0 {
            // As Kafka: bytes below 0 are an error of each partition that has records, records below 0 are none.
            let served = fetch
                .partitions
                .iter()
                .filter_map(|id| self.partitions.get(*id));
            let acquirable = served.filter(|served| served.can_acquire());
            fetch.fetched = acquirable.map(|served| served.id).collect();
            if asked.max_bytes < 0 {
                let code = KafkaCode::UnknownServerError.code();
                let failed = fetch.fetched.iter().map(|id| (*id, code));
                fetch.failed = failed.collect();
            }
        }
        self.end_fetch(request);
    }

    fn refuse_session(
        &mut self,
        connection: ConnectionId,
        head: Head,
        refused: ShareSessionError,
        max_wait_ms: i32,
        now: LockTime,
    ) {
        let code = refused.kafka_code().code();
        let is_full = matches!(refused, ShareSessionError::LimitReached { .. });
        if is_full && max_wait_ms > 0 {
            // The client would try again at once (R5).
            let timer = self
                .timers
                .set(now.plus(max_wait_ms.into()), Timer::Request(connection));
            self.put_work(connection, Work::Late { head, code, timer });
        } else {
            self.refuse_fetch(connection, head, code);
        }
    }
}

/// The acquire mode of a request.
///
/// # Errors
/// The code for a mode that is none, or for a request that renews locks and fetches all the same (KIP-1222).
fn mode(asked: &ShareFetchRequest<'_>) -> Result<AcquireMode, i16> {
    let mode = match asked.share_acquire_mode {
        0 => AcquireMode::BatchOptimized,
        1 => AcquireMode::RecordLimit,
        // As Kafka, which fails over it.
        _ => return Err(KafkaCode::UnknownServerError.code()),
    };
    let limits = [
        asked.max_wait_ms,
        asked.min_bytes,
        asked.max_bytes,
        asked.max_records,
    ];
    if asked.is_renew_ack && limits.iter().any(|limit| *limit != 0) {
        return Err(KafkaCode::InvalidRequest.code());
    }
    Ok(mode)
}
