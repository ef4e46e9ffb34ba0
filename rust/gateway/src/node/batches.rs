//! Acknowledgements of a request by partition, in memory of their own: they may have to wait for the state of their share
//! partition.

use std::ops::Range;

use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::AcknowledgeBatch;
use share_state_core::share_session::TopicIdPartition;
use share_state_wire::messages::share::{AcknowledgementBatch, TopicAcknowledgements};

use super::places::Places;

/// Acknowledged ranges of one partition, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batches {
    spans: Vec<(i64, i64, Range<usize>)>,
    types: Vec<i8>,
}

impl Batches {
    fn add(&mut self, batches: &[AcknowledgementBatch<'_>]) {
        for batch in batches {
            let start = self.types.len();
            let types = batch.types.iter().map(|kind| kind.cast_signed());
            self.types.extend(types);
            let types = start..self.types.len();
            self.spans
                .push((batch.first_offset, batch.last_offset, types));
        }
    }

    /// Returns `true` if a record is to be renewed.
    pub fn renews(&self) -> bool {
        self.types.contains(&(AcknowledgeType::Renew as i8))
    }

    /// The ranges as the engine takes them.
    pub fn list(&self) -> Vec<AcknowledgeBatch<'_>> {
        let spans = self.spans.iter();
        spans
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types: self.types.get(types.clone()).unwrap_or_default(),
            })
            .collect()
    }
}

/// Partitions that a request names, each once: librdkafka names a topic, and a partition, several times.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// The acknowledgements, in the order in which their partitions are first acknowledged.
    pub acknowledged: Vec<(TopicIdPartition, Batches)>,
    /// Every partition, in the order in which it is first named.
    pub named: Vec<TopicIdPartition>,
}

impl Merged {
    /// Takes the partitions of a request apart.
    pub fn of(topics: &[TopicAcknowledgements<'_>]) -> Self {
        let mut merged = Self::default();
        let (mut named, mut acknowledged) = (Places::default(), Places::default());
        for topic in topics {
            for row in &topic.partitions {
                let id = TopicIdPartition {
                    topic_id: topic.topic_id,
                    partition: row.partition,
                };
                if named.place(id, merged.named.iter().copied()).is_none() {
                    merged.named.push(id);
                }
                if row.batches.is_empty() {
                    continue;
                }
                let known = merged.acknowledged.iter().map(|(id, _)| *id);
                match acknowledged.place(id, known) {
                    Some(place) => {
                        if let Some((_, batches)) = merged.acknowledged.get_mut(place) {
                            batches.add(&row.batches);
                        }
                    }
                    None => {
                        let mut batches = Batches::default();
                        batches.add(&row.batches);
                        merged.acknowledged.push((id, batches));
                    }
                }
            }
        }
        merged
    }
}
