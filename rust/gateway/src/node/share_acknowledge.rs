//! ShareAcknowledge (RPC 79): acknowledgements outside of a fetch (`KafkaApis.handleShareAcknowledgeRequest`).

use share_state_core::share_session::{ConnectionId, FINAL_EPOCH};
use share_state_core::time::LockTime;
use share_state_wire::WireError;
use share_state_wire::messages::share::ShareAcknowledgeRequest;

use super::Node;
use super::batches::Merged;
use super::requests::{Head, ShareRequest};

impl Node {
    /// Begins a request.
    ///
    /// # Errors
    /// It is malformed; nothing has changed.
    pub(super) fn share_acknowledge(
        &mut self,
        connection: ConnectionId,
        head: Head,
        body: &[u8],
        now: LockTime,
    ) -> Result<(), WireError> {
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
                return Ok(());
            }
        };
        if let Err(refused) = self.sessions.acknowledge(&group, &member, epoch) {
            self.refuse_acknowledge(connection, head, refused.kafka_code().code());
            return Ok(());
        }
        self.give_up(&group, &member);
        let (number, is_final) = (self.next_request(), epoch == FINAL_EPOCH);
        let by = (group, member);
        let mut request = ShareRequest::new(number, connection, head, by, is_final, None);
        let acknowledged = Merged::of(&asked.topics).acknowledged;
        self.begin_acknowledgements(&mut request, acknowledged, asked.is_renew_ack, now);
        self.put_request(request);
        Ok(())
    }
}
