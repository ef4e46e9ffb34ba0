//! Answers to ShareFetch and ShareAcknowledge, as frames.

use std::borrow::Cow;
use std::collections::HashMap;

use share_state_core::ids::QuickHash;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::{ConnectionId, Outcome, TopicIdPartition};
use share_state_core::time::LockTime;
use share_state_wire::messages::data::{ShareFetchAnswer, ShareFetchPartition};
use share_state_wire::messages::protocol::apis::{SHARE_ACKNOWLEDGE, SHARE_FETCH};
use share_state_wire::messages::share::{
    AcknowledgedPartition, LeaderHint, NodeEndpoint, ShareAcknowledgeAnswer, TopicAcknowledged,
};

use super::places::Places;
use super::requests::{Fetch, Head, ShareRequest};
use super::slots::{Leader, Slots};
use super::{Node, codes};
use crate::Delivery;

/// Hint that says nothing (R9).
const NO_LEADER: (i32, i32) = (-1, -1);

/// Content of an answer for one partition.
#[derive(Default)]
struct Row<'a> {
    error: i16,
    acknowledged: Option<i16>,
    is_told: bool,
    delivery: Option<&'a Delivery>,
}

impl Node {
    /// Answers a request that is done. A final one ends the session first, once its acknowledgements are settled.
    pub(super) fn answer(
        &mut self,
        connection: ConnectionId,
        request: &ShareRequest,
        now: LockTime,
    ) {
        if request.is_final {
            self.end_session(&request.group, &request.member, now);
        }
        for (id, code) in &request.outcomes {
            if self.topics.has(id.topic_id) {
                self.counts.acknowledged(id.topic_id, *code);
            }
        }
        let frame = match &request.fetch {
            None => self.acknowledged(request),
            Some(fetch) => {
                let frame = self.fetched(request, fetch);
                self.answers.give_back(fetch.reserved);
                frame
            }
        };
        self.send(connection, frame);
    }

    /// Refuses a ShareFetch request as a whole.
    pub(super) fn refuse_fetch(&mut self, connection: ConnectionId, head: Head, code: i16) {
        self.counts.refused(SHARE_FETCH.key, code);
        self.send(connection, refused(head, code));
    }

    /// Refuses a ShareAcknowledge request as a whole.
    pub(super) fn refuse_acknowledge(&mut self, connection: ConnectionId, head: Head, code: i16) {
        self.counts.refused(SHARE_ACKNOWLEDGE.key, code);
        let answer = ShareAcknowledgeAnswer {
            throttle_time_ms: 0,
            error_code: code,
            error_message: None,
            acquisition_lock_timeout_ms: 0,
            responses: Vec::new(),
            node_endpoints: Vec::new(),
        };
        self.send(
            connection,
            answer.frame(head.version, head.correlation_id).ok(),
        );
    }

    fn lock_timeout_ms(&self, request: &ShareRequest) -> i32 {
        let config = self.partitions.config(&request.group);
        i32::try_from(config.record_lock_duration_ms).unwrap_or(i32::MAX)
    }

    fn acknowledged(&self, request: &ShareRequest) -> Option<Vec<u8>> {
        let mut hints = Hints::new(&self.slots);
        let mut responses: Vec<TopicAcknowledged<'_>> = Vec::new();
        let mut places = Places::default();
        for (id, code) in &request.outcomes {
            let code = codes::acknowledge(*code);
            let (leader_id, leader_epoch) = hints.of(*id, code);
            let row = AcknowledgedPartition {
                partition: id.partition,
                error_code: code,
                error_message: codes::acknowledge_text(code).map(Cow::Borrowed),
                current_leader: LeaderHint {
                    leader_id,
                    leader_epoch,
                },
            };
            let known = places.place(id.topic_id, responses.iter().map(|topic| topic.topic_id));
            match known.and_then(|place| responses.get_mut(place)) {
                Some(topic) => topic.partitions.push(row),
                None => responses.push(TopicAcknowledged {
                    topic_id: id.topic_id,
                    partitions: vec![row],
                }),
            }
        }
        let answer = ShareAcknowledgeAnswer {
            throttle_time_ms: 0,
            error_code: KafkaCode::None.code(),
            error_message: None,
            acquisition_lock_timeout_ms: self.lock_timeout_ms(request),
            responses,
            node_endpoints: hints.endpoints(),
        };
        answer
            .frame(request.head.version, request.head.correlation_id)
            .ok()
    }

    fn fetched(&mut self, request: &ShareRequest, fetch: &Fetch) -> Option<Vec<u8>> {
        let context = &fetch.context;
        let mut rows: HashMap<TopicIdPartition, Row<'_>, QuickHash> = HashMap::default();
        for id in &fetch.fetched {
            rows.entry(*id).or_default().is_told = true;
        }
        for (id, code) in &fetch.errors {
            let row = rows.entry(*id).or_default();
            (row.error, row.is_told) = (*code, true);
        }
        for (id, delivery) in &fetch.deliveries {
            rows.entry(*id).or_default().delivery = Some(delivery);
        }
        // In the session's order, then what was acknowledged besides.
        let in_session = context
            .partitions()
            .filter(|id| rows.get(id).is_some_and(|row| row.is_told));
        let mut order: Vec<_> = in_session.collect();
        for (id, code) in &request.outcomes {
            let row = rows.entry(*id).or_default();
            row.acknowledged = Some(*code);
            if !row.is_told {
                order.push(*id);
            }
        }
        let outcomes: Vec<_> = order
            .iter()
            .filter_map(|id| {
                let row = rows.get(id)?;
                Some(Outcome {
                    id: *id,
                    has_records: row.delivery.is_some(),
                    has_error: row.error != 0,
                    acknowledged: row.acknowledged.is_some(),
                })
            })
            .collect();
        let Some(listed) = self.sessions.answer(context, &outcomes) else {
            // A later request of the same member has overtaken this one: nobody waits for the answer.
            let code = KafkaCode::InvalidShareSessionEpoch.code();
            self.counts.refused(SHARE_FETCH.key, code);
            return refused(request.head, code);
        };
        let mut hints = Hints::new(&self.slots);
        let mut partitions = Vec::with_capacity(order.len());
        for (id, _) in order.iter().zip(listed).filter(|(_, is_listed)| *is_listed) {
            let Some(row) = rows.get(id) else { continue };
            let acknowledged = codes::acknowledge(row.acknowledged.unwrap_or(0));
            let not_here = KafkaCode::NotLeaderOrFollower.code();
            let hinted = if row.error == not_here {
                row.error
            } else {
                acknowledged
            };
            partitions.push(ShareFetchPartition {
                topic_id: id.topic_id,
                partition: id.partition,
                error_code: row.error,
                acknowledge_error_code: acknowledged,
                current_leader: hints.of(*id, hinted),
                records: row
                    .delivery
                    .map_or_else(Vec::new, |delivery| delivery.pieces().collect()),
                acquired: row.delivery.map_or(&[], |delivery| &delivery.acquired),
            });
        }
        let answer = ShareFetchAnswer {
            correlation_id: request.head.correlation_id,
            throttle_time_ms: 0,
            error_code: KafkaCode::None.code(),
            error_message: None,
            acquisition_lock_timeout_ms: self.lock_timeout_ms(request),
            partitions,
            node_endpoints: hints.endpoints(),
        };
        written(answer, request.head)
    }
}

/// The answer to a ShareFetch request that is refused as a whole.
fn refused(head: Head, code: i16) -> Option<Vec<u8>> {
    let answer = ShareFetchAnswer {
        correlation_id: head.correlation_id,
        throttle_time_ms: 0,
        error_code: code,
        error_message: None,
        acquisition_lock_timeout_ms: 0,
        partitions: Vec::new(),
        node_endpoints: Vec::new(),
    };
    written(answer, head)
}

fn written(answer: ShareFetchAnswer<'_>, head: Head) -> Option<Vec<u8>> {
    let frame = answer.frame(head.version).ok()?;
    let mut out = vec![0; frame.size()];
    frame.write(&mut out);
    Some(out)
}

/// Leaders that an answer names, each once.
struct Hints<'a> {
    slots: &'a Slots,
    leaders: Vec<&'a Leader>,
}

impl<'a> Hints<'a> {
    const fn new(slots: &'a Slots) -> Self {
        Self {
            slots,
            leaders: Vec::new(),
        }
    }

    /// The leader for a partition that is not here, as far as this node knows; nothing for any other code.
    fn of(&mut self, id: TopicIdPartition, code: i16) -> (i32, i32) {
        if code != KafkaCode::NotLeaderOrFollower.code() {
            return NO_LEADER;
        }
        let slot = self.slots.of(id);
        let Some(leader) = slot.leader() else {
            return NO_LEADER;
        };
        if !self
            .leaders
            .iter()
            .any(|known| known.node_id == leader.node_id)
        {
            self.leaders.push(leader);
        }
        (leader.node_id, slot.leader_epoch)
    }

    /// The addresses of the leaders.
    fn endpoints(&self) -> Vec<NodeEndpoint<'a>> {
        let leaders = self.leaders.iter().map(|leader| NodeEndpoint {
            node_id: leader.node_id,
            host: Cow::Borrowed(&*leader.host),
            port: leader.port,
            rack: None,
        });
        leaders.collect()
    }
}
