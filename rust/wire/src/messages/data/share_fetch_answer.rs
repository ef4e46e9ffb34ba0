//! ShareFetch (78), the answer, versions 1 and 2, as a whole frame (`ShareFetchResponseData`).
//!
//! This module decides what the schema leaves open: records are never null; the leader is -1/-1 unless there is a hint, for the
//! schema has no default and clients read 0/0 as "moved to node 0"; a topic stands in the answer once.

use share_state_core::ids::TopicId;
use share_state_core::share_partition::AcquiredRange;

use super::sink::{Count, Fill, Sink};
use crate::error::{WireError, WireErrorKind};
use crate::messages::share::{NodeEndpoint, check_version};
use crate::primitives::check_string;

/// Bytes of the length before a frame, which it does not count.
const LENGTH_SIZE: usize = 4;

/// An answer to ShareFetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareFetchAnswer<'a> {
    /// That of the request.
    pub correlation_id: i32,
    /// Time that the client must wait before its next request, ms.
    pub throttle_time_ms: i32,
    /// Error of the whole request; 0 for none.
    pub error_code: i16,
    /// Its text, if any.
    pub error_message: Option<&'a str>,
    /// The group's lock duration, ms.
    pub acquisition_lock_timeout_ms: i32,
    /// The partitions. Topics come in the order in which they are first named.
    pub partitions: Vec<ShareFetchPartition<'a>>,
    /// Addresses of the leaders that the partitions name.
    pub node_endpoints: Vec<NodeEndpoint<'a>>,
}

/// The answer for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareFetchPartition<'a> {
    /// Its topic.
    pub topic_id: TopicId,
    /// Its number.
    pub partition: i32,
    /// Kafka's error code for the fetch; 0 for none.
    pub error_code: i16,
    /// Kafka's error code for the acknowledgements of the request; 0 for none.
    pub acknowledge_error_code: i16,
    /// Id and epoch of the leader as a hint; -1 and -1 for none.
    pub current_leader: (i32, i32),
    /// The record batches, in pieces.
    pub records: Vec<&'a [u8]>,
    /// Ranges of records that the member now holds.
    pub acquired: &'a [AcquiredRange],
}

impl<'a> ShareFetchAnswer<'a> {
    /// Makes the answer ready to be written.
    ///
    /// # Errors
    /// The version is neither 1 nor 2, a text is longer than 32,767 bytes, or the frame would be longer than its 32-bit length
    /// can say.
    pub fn frame(self, version: i16) -> Result<ShareFetchFrame<'a>, WireError> {
        check_version(version).map_err(WireError::unwritable)?;
        let endpoints = self.node_endpoints.iter();
        let texts = endpoints.flat_map(|node| [Some(&*node.host), node.rack.as_deref()]);
        for text in texts.chain([self.error_message]).flatten() {
            check_string(text.len())?;
        }
        let mut frame = ShareFetchFrame {
            topics: by_topic(&self.partitions),
            answer: self,
            length: 0,
        };
        let mut count = Count::default();
        frame.emit(&mut count);
        frame.length = i32::try_from(count.0 - LENGTH_SIZE).map_err(|_| {
            WireError::unwritable(WireErrorKind::Limit {
                allowed: i32::MAX as usize,
            })
        })?;
        Ok(frame)
    }
}

/// An answer whose size is known.
#[derive(Clone, Debug)]
pub struct ShareFetchFrame<'a> {
    answer: ShareFetchAnswer<'a>,
    /// Indexes of the partitions of each topic.
    topics: Vec<(TopicId, Vec<usize>)>,
    length: i32,
}

/// The partitions of each topic, which need not stand together.
fn by_topic(partitions: &[ShareFetchPartition<'_>]) -> Vec<(TopicId, Vec<usize>)> {
    let mut topics: Vec<(TopicId, Vec<usize>)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for (index, partition) in partitions.iter().enumerate() {
        let id = partition.topic_id;
        let at = match topics.last() {
            Some((last, _)) if *last == id => topics.len() - 1,
            _ => *known.entry(id).or_insert_with(|| {
                topics.push((id, Vec::new()));
                topics.len() - 1
            }),
        };
        if let Some((_, indexes)) = topics.get_mut(at) {
            indexes.push(index);
        }
    }
    topics
}

impl ShareFetchFrame<'_> {
    /// Bytes of the frame, the 4 of its length included.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.length as usize + LENGTH_SIZE
    }

    /// Writes the frame into `out`, which has [`Self::size`] bytes. Here, and nowhere else, the records are copied.
    pub fn write(&self, out: &mut [u8]) {
        self.emit(&mut Fill(out));
    }

    fn emit(&self, out: &mut impl Sink) {
        let answer = &self.answer;
        out.i32(self.length);
        out.i32(answer.correlation_id);
        out.no_tags();
        out.i32(answer.throttle_time_ms);
        out.i16(answer.error_code);
        out.string(answer.error_message);
        out.i32(answer.acquisition_lock_timeout_ms);
        out.array_len(self.topics.len());
        for (topic_id, indexes) in &self.topics {
            out.put(&topic_id.0);
            out.array_len(indexes.len());
            for partition in indexes.iter().filter_map(|i| answer.partitions.get(*i)) {
                partition.emit(out);
            }
            out.no_tags();
        }
        out.array_len(answer.node_endpoints.len());
        for node in &answer.node_endpoints {
            out.i32(node.node_id);
            out.string(Some(&node.host));
            out.i32(node.port);
            out.string(node.rack.as_deref());
            out.no_tags();
        }
        out.no_tags();
    }
}

impl ShareFetchPartition<'_> {
    fn emit(&self, out: &mut impl Sink) {
        out.i32(self.partition);
        out.i16(self.error_code);
        // Kafka's broker sends the codes without their texts.
        out.string(None);
        out.i16(self.acknowledge_error_code);
        out.string(None);
        out.i32(self.current_leader.0);
        out.i32(self.current_leader.1);
        out.no_tags();
        let size: usize = self.records.iter().map(|piece| piece.len()).sum();
        out.unsigned(size as u64 + 1);
        for piece in &self.records {
            out.put(piece);
        }
        out.array_len(self.acquired.len());
        for acquired in self.acquired {
            out.i64(acquired.range.first);
            out.i64(acquired.range.last);
            out.i16(acquired.delivery_count);
            out.no_tags();
        }
        out.no_tags();
    }
}
