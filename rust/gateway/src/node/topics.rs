//! Topics that clients may name by id: a snapshot that the control plane swaps whole.

use std::collections::HashMap;
use std::sync::Arc;

use share_state_core::ids::{QuickHash, TopicId};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::TopicIdPartition;
use share_state_wire::messages::share::TopicAcknowledgements;

use super::access::{Access, Resource};
use super::places::Places;

/// A topic upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, by which access is granted.
    pub name: Arc<str>,
    /// Number of its partitions.
    pub partitions: i32,
    /// Topics of Kafka's own are not given out.
    pub is_internal: bool,
}

/// The topics by id.
#[derive(Clone, Debug, Default)]
pub struct Topics(HashMap<TopicId, Topic, QuickHash>);

impl Topics {
    /// Returns `true` if there is a topic of this id.
    pub(crate) fn has(&self, topic_id: TopicId) -> bool {
        self.0.contains_key(&topic_id)
    }

    /// The name of a topic.
    pub(crate) fn name(&self, topic_id: TopicId) -> Option<Arc<str>> {
        self.0.get(&topic_id).map(|topic| Arc::clone(&topic.name))
    }

    /// The topics of a request that there are not, each once.
    pub(crate) fn unknown(&self, named: &[TopicAcknowledgements<'_>]) -> Vec<TopicId> {
        let mut unknown: Vec<TopicId> = Vec::new();
        let mut places = Places::default();
        for topic in named.iter().filter(|topic| !self.has(topic.topic_id)) {
            if places
                .place(topic.topic_id, unknown.iter().copied())
                .is_none()
            {
                unknown.push(topic.topic_id);
            }
        }
        unknown
    }

    /// The code for a client that names a partition by the topic's id; `None` if it may have records of it.
    pub(crate) fn refusal(
        &self,
        access: &Access,
        principal: &str,
        id: TopicIdPartition,
    ) -> Option<KafkaCode> {
        let Some(topic) = self.0.get(&id.topic_id) else {
            return Some(KafkaCode::UnknownTopicId);
        };
        if !access.may_read(principal, Resource::Topic, &topic.name) {
            return Some(KafkaCode::TopicAuthorizationFailed);
        }
        let exists = (0..topic.partitions).contains(&id.partition);
        (topic.is_internal || !exists).then_some(KafkaCode::UnknownTopicOrPartition)
    }
}

impl FromIterator<(TopicId, Topic)> for Topics {
    fn from_iter<I: IntoIterator<Item = (TopicId, Topic)>>(topics: I) -> Self {
        Self(topics.into_iter().collect())
    }
}
