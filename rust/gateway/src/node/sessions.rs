//! Members: checks that come before any other, and the end of their share sessions.

use std::sync::Arc;

use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::MAX_MEMBER_ID_LENGTH;
use share_state_core::share_session::{ConnectionId, TopicIdPartition};
use share_state_core::time::LockTime;

use super::Node;
use super::access::Resource;
use super::events::Event;

impl Node {
    /// The group and member of a request for records.
    ///
    /// # Errors
    /// The code of the whole request (`KafkaApis.handleShareFetchRequest`): no group, no right to read it, or no member id.
    pub(super) fn member(
        &mut self,
        connection: ConnectionId,
        group: Option<&str>,
        member: Option<&str>,
    ) -> Result<(Arc<str>, Arc<str>), i16> {
        let group = group.filter(|group| !group.is_empty());
        let group = group.ok_or(KafkaCode::InvalidRequest.code())?;
        let principal = self.principal(connection);
        if !self.access.may_read(principal, Resource::Group, group) {
            self.deny(connection, Resource::Group, Arc::from(group));
            return Err(KafkaCode::GroupAuthorizationFailed.code());
        }
        let is_id = |id: &&str| (1..=MAX_MEMBER_ID_LENGTH).contains(&id.chars().count());
        let member = member.filter(is_id);
        let member = member.ok_or(KafkaCode::InvalidRequest.code())?;
        Ok((Arc::from(group), Arc::from(member)))
    }

    /// The code for a client that names a partition: no such topic, no right to read it, no such partition, or another home.
    pub(super) fn refusal(
        &mut self,
        connection: ConnectionId,
        id: TopicIdPartition,
    ) -> Option<i16> {
        let principal = self.principal(connection);
        if let Some(code) = self.topics.refusal(&self.access, principal, id) {
            let name = self.topics.name(id.topic_id);
            if let Some(name) = name.filter(|_| code == KafkaCode::TopicAuthorizationFailed) {
                self.deny(connection, Resource::Topic, name);
            }
            return Some(code.code());
        }
        let is_here = self.slots.of(id).is_here();
        (!is_here).then_some(KafkaCode::NotLeaderOrFollower.code())
    }

    /// Ends the session of a member, whose records become available again.
    pub(super) fn end_session(&mut self, group: &str, member: &str, now: LockTime) {
        self.sessions.close(group, member);
        self.release(group, member, now);
    }

    /// Makes everything that a member holds available again: its session has ended (R11, `releaseSession`). A fetch of it that
    /// waits acquires nothing more.
    pub(super) fn release(&mut self, group: &str, member: &str, now: LockTime) {
        self.give_up(group, member);
        for id in self.partitions.take_held(group, member) {
            let Some(served) = self
                .partitions
                .get_mut(id)
                .filter(|served| served.is_ready())
            else {
                continue;
            };
            served.engine.release(member, now);
            self.changed(id);
        }
    }

    /// Tells that a client may not read something; once for the partitions of a topic that follow each other.
    fn deny(&mut self, connection: ConnectionId, resource: Resource, name: Arc<str>) {
        let denied = Event::Denied {
            connection,
            resource,
            name,
        };
        if self.events.back() != Some(&denied) {
            self.events.push_back(denied);
        }
    }

    fn principal(&self, connection: ConnectionId) -> &str {
        let connection = self.connections.get(&connection);
        connection
            .and_then(|one| one.principal.as_deref())
            .unwrap_or_default()
    }
}
