//! ShareAcknowledge (RPC 79): acknowledgements outside of a fetch (`KafkaApis.handleShareAcknowledgeRequest`).

use share_state_core::ids::TopicId;
use share_state_core::share_session::{ConnectionId, FINAL_EPOCH};
use share_state_core::time::LockTime;
use share_state_wire::WireError;
use share_state_wire::messages::share::ShareAcknowledgeRequest;

use super::Node;
use super::batches::Merged;
use super::requests::{Head, ShareRequest};

impl Node {
    /// Begins a request. Returns the topics that have to be looked for before; then nothing has changed.
    ///
    /// # Errors
    /// It is malformed; nothing has changed.
    pub(super) fn share_acknowledge(
        &mut self,
        connection: ConnectionId,
        head: Head,
        body: &[u8],
        is_looked_up: bool,
        now: LockTime,
    ) -> Result<Vec<TopicId>, WireError> {
        let asked = ShareAcknowledgeRequest::decode(body, head.version, self.limits.elements)?;
        let (group, member, epoch) = (
            asked.group_id.as_deref(),
            asked.member_id.as_deref(),
            asked.share_session_epoch,
        );
        let (group, member) = match self.member(connection, group, member) {
            Ok(member) => member,
            Err(code) => {
                self.refuse_acknowledge(connection, head, code);
                return Ok(Vec::new());
            }
        };
        let unknown = self.topics.unknown(&asked.topics);
        if !is_looked_up && !unknown.is_empty() {
            return Ok(unknown);
        }
        if let Err(refused) = self.sessions.acknowledge(&group, &member, epoch) {
            self.refuse_acknowledge(connection, head, refused.kafka_code().code());
            return Ok(Vec::new());
        }
        self.give_up(&group, &member);
        let (number, is_final) = (self.next_request(), epoch == FINAL_EPOCH);
        let by = (group, member);
        let mut request = ShareRequest::new(number, connection, head, by, is_final, None);
        let acknowledged = Merged::of(&asked.topics).acknowledged;
        self.begin_acknowledgements(&mut request, acknowledged, asked.is_renew_ack, now);
        self.put_request(request);
        Ok(Vec::new())
    }
}
