//! Fetch (1), the answer, versions 4 to 17: what an upstream says, and where the records lie in its frame.

use core::ops::Range;

use share_state_core::ids::TopicId;
use share_state_core::share_partition::AbortedTransaction;

use super::super::end;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{
    read_array_len, read_compact_len, read_legacy_string, read_nullable_string, read_string,
    read_tags, read_topic_id, skip_tags,
};

/// The most elements reserved before the first is read.
const MAX_RESERVE: usize = 256;

/// An answer to Fetch (`FetchResponseData`). Names and addresses are borrowed from the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchAnswer<'a> {
    /// Time to wait before the next request, ms.
    pub throttle_time_ms: i32,
    /// Error of the whole request, from version 7 on.
    pub error_code: i16,
    /// The fetch session (KIP-227); 0 for none.
    pub session_id: i32,
    /// The partitions, in the order of the answer.
    pub partitions: Vec<FetchedPartition<'a>>,
    /// Addresses of the leaders that the partitions name, from version 16 on.
    pub node_endpoints: Vec<FetchEndpoint<'a>>,
}

/// Topic of an answer, by name or by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicRef<'a> {
    /// Up to version 12.
    Name(&'a str),
    /// From version 13 on.
    Id(TopicId),
}

/// The answer for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPartition<'a> {
    /// Its topic.
    pub topic: TopicRef<'a>,
    /// Its number.
    pub partition: i32,
    /// Kafka's error code; 0 for none.
    pub error_code: i16,
    /// Offset after the last committed record (HWM).
    pub high_watermark: i64,
    /// Offset after the last record that no open transaction holds back (LSO).
    pub last_stable_offset: i64,
    /// First offset of the log, from version 5 on; otherwise -1.
    pub log_start_offset: i64,
    /// With read_committed: the aborted transactions in what was read; `None` is null.
    pub aborted: Option<Vec<AbortedTransaction>>,
    /// The replica to read from, from version 11 on (KIP-392); -1 for none.
    pub preferred_read_replica: i32,
    /// Epoch and end offset from which the log differs from what the reader has seen (KIP-595).
    pub diverging_epoch: Option<(i32, i64)>,
    /// Id and epoch of the leader, where it is another.
    pub current_leader: Option<(i32, i32)>,
    /// Range of the frame that holds the record batches; empty for null.
    pub records: Range<usize>,
}

/// Address of a broker. Its rack is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchEndpoint<'a> {
    /// Id of the broker.
    pub node_id: i32,
    /// Its host.
    pub host: &'a str,
    /// Its port.
    pub port: i32,
}

impl<'a> FetchAnswer<'a> {
    /// Reads the answer whose body fills `frame` from `start` on, after its header. Positions count from the start of `frame`.
    ///
    /// # Errors
    /// The version is not between 4 and 17, or the bytes do not follow the format.
    pub fn decode(frame: &'a [u8], start: usize, version: i16) -> Result<Self, WireError> {
        if !(4..=17).contains(&version) {
            let kind = WireErrorKind::UnsupportedVersion { version };
            return Err(WireError::new(0, kind));
        }
        let mut r = Reader::new(frame);
        r.take(start)?;
        let shape = Shape(version);
        let throttle_time_ms = r.i32()?;
        let (error_code, session_id) = if version >= 7 {
            (r.i16()?, r.i32()?)
        } else {
            (0, 0)
        };
        let mut partitions = Vec::new();
        for _ in 0..shape.array_len(&mut r, shape.least_topic())? {
            shape.topic(&mut r, &mut partitions)?;
        }
        let mut node_endpoints = Vec::new();
        if !shape.is_flexible() {
            r.finish()?;
        } else {
            read_tags(&mut r, |tag, field| {
                if tag == 0 && version >= 16 {
                    node_endpoints = read_endpoints(field)?;
                }
                Ok(())
            })?;
            r.finish()?;
        }
        Ok(Self {
            throttle_time_ms,
            error_code,
            session_id,
            partitions,
            node_endpoints,
        })
    }
}

/// Version of an answer, which decides how the fields that all versions have are written.
#[derive(Clone, Copy)]
struct Shape(i16);

impl Shape {
    const fn is_flexible(self) -> bool {
        self.0 >= 12
    }

    /// The least bytes of a topic.
    const fn least_topic(self) -> usize {
        match self.0 {
            13.. => 18,
            12 => 3,
            _ => 6,
        }
    }

    /// The least bytes of a partition.
    const fn least_partition(self) -> usize {
        match self.0 {
            12.. => 37,
            11 => 42,
            5.. => 38,
            _ => 30,
        }
    }

    /// The count of an array that may not be null.
    fn array_len(self, r: &mut Reader<'_>, least: usize) -> Result<usize, WireError> {
        let start = *r;
        self.nullable_array_len(r, least)?
            .ok_or(start.error(WireErrorKind::Null))
    }

    fn nullable_array_len(
        self,
        r: &mut Reader<'_>,
        least: usize,
    ) -> Result<Option<usize>, WireError> {
        let start = *r;
        let count = if self.is_flexible() {
            read_compact_len(r)?
        } else {
            legacy_len(r)?
        };
        let possible = r.remaining() / least;
        match count {
            Some(count) if count > possible => Err(start.error(WireErrorKind::Count {
                count: count as u64,
                possible,
            })),
            count => Ok(count),
        }
    }

    fn tags(self, r: &mut Reader<'_>) -> Result<(), WireError> {
        if self.is_flexible() {
            skip_tags(r)
        } else {
            Ok(())
        }
    }

    fn topic<'a>(
        self,
        r: &mut Reader<'a>,
        partitions: &mut Vec<FetchedPartition<'a>>,
    ) -> Result<(), WireError> {
        let topic = match self.0 {
            13.. => TopicRef::Id(read_topic_id(r)?),
            12 => TopicRef::Name(read_string(r)?),
            _ => {
                let start = *r;
                let name = read_legacy_string(r)?.ok_or(start.error(WireErrorKind::Null))?;
                TopicRef::Name(name)
            }
        };
        let count = self.array_len(r, self.least_partition())?;
        partitions.reserve(count.min(MAX_RESERVE));
        for _ in 0..count {
            partitions.push(self.partition(r, topic)?);
        }
        self.tags(r)
    }

    fn partition<'a>(
        self,
        r: &mut Reader<'a>,
        topic: TopicRef<'a>,
    ) -> Result<FetchedPartition<'a>, WireError> {
        let mut read = FetchedPartition {
            topic,
            partition: r.i32()?,
            error_code: r.i16()?,
            high_watermark: r.i64()?,
            last_stable_offset: r.i64()?,
            log_start_offset: if self.0 >= 5 { r.i64()? } else { -1 },
            aborted: self.aborted(r)?,
            preferred_read_replica: if self.0 >= 11 { r.i32()? } else { -1 },
            diverging_epoch: None,
            current_leader: None,
            records: self.records(r)?,
        };
        if self.is_flexible() {
            read_tags(r, |tag, mut field| {
                match tag {
                    0 => read.diverging_epoch = known((field.i32()?, field.i64()?)),
                    1 => read.current_leader = known((field.i32()?, field.i32()?)),
                    _ => return Ok(()),
                }
                end(field)
            })?;
        }
        Ok(read)
    }

    fn aborted(self, r: &mut Reader<'_>) -> Result<Option<Vec<AbortedTransaction>>, WireError> {
        let Some(count) = self.nullable_array_len(r, 16)? else {
            return Ok(None);
        };
        let mut aborted = Vec::with_capacity(count.min(MAX_RESERVE));
        for _ in 0..count {
            aborted.push(AbortedTransaction {
                producer_id: r.i64()?,
                first_offset: r.i64()?,
            });
            self.tags(r)?;
        }
        Ok(Some(aborted))
    }

    fn records(self, r: &mut Reader<'_>) -> Result<Range<usize>, WireError> {
        let length = if self.is_flexible() {
            read_compact_len(r)?
        } else {
            legacy_len(r)?
        };
        let start = r.position();
        r.take(length.unwrap_or(0))?;
        Ok(start..r.position())
    }
}

/// A struct of which a number is not -1, the default: who writes that says nothing.
fn known<A: PartialEq + From<i32>>(pair: (i32, A)) -> Option<(i32, A)> {
    Some(pair).filter(|(first, second)| *first != -1 || *second != A::from(-1))
}

/// A length or a count of 32 bits; -1 is null.
fn legacy_len(r: &mut Reader<'_>) -> Result<Option<usize>, WireError> {
    let start = *r;
    match r.i32()? {
        -1 => Ok(None),
        length => usize::try_from(length).map(Some).map_err(|_| {
            start.error(WireErrorKind::Length {
                length: i64::from(length),
                max: i64::from(i32::MAX),
            })
        }),
    }
}

fn read_endpoints(mut r: Reader<'_>) -> Result<Vec<FetchEndpoint<'_>>, WireError> {
    let count = read_array_len(&mut r, 11)?;
    let mut endpoints = Vec::with_capacity(count.min(MAX_RESERVE));
    for _ in 0..count {
        endpoints.push(FetchEndpoint {
            node_id: r.i32()?,
            host: read_string(&mut r)?,
            port: r.i32()?,
        });
        read_nullable_string(&mut r)?;
        skip_tags(&mut r)?;
    }
    r.finish()?;
    Ok(endpoints)
}
