//! Requests and answers: those between a share-partition leader and its share coordinator (RPC 83 to 87) as types, those that
//! take records and give them back too ([`share`]), the answers that carry records in place ([`data`]), all others by table
//! ([`protocol`]).
//!
//! The five are flexible in every version, have no tagged fields, no throttle time and no error above the partition. Each
//! request is a group and partitions by topic, each answer is results by topic; [`schema`] has what differs.

mod any;
mod borrowed;
pub mod data;
mod field;
mod header;
pub mod protocol;
pub mod schema;
pub mod share;

use core::fmt::Debug;

pub use any::{AnyRequest, AnyResponse};
pub use borrowed::encode_write_request;
pub use header::RequestHeader;

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::skip_tags;
use field::Field;
use schema::{
    DeletePartition, InitializePartition, PartitionResult, ReadPartition, ReadPartitionResult,
    SummaryPartition, SummaryPartitionResult, TopicPartitions, WritePartition,
};

/// RPC of the persister: its key, its versions, and what its request and answer hold for a partition.
pub trait Api: Clone + Copy + Debug + PartialEq + Eq + 'static {
    /// The API key.
    const KEY: i16;
    /// The newest version; the oldest is 0.
    const MAX_VERSION: i16;
    /// The request for one partition.
    type Asked: for<'a> Field<'a> + Clone + Debug + PartialEq + Eq;
    /// The answer for one partition.
    type Answered: for<'a> Field<'a> + Clone + Debug + PartialEq + Eq;
}

macro_rules! apis {
    ($($(#[$doc:meta])* $name:ident = $key:literal, to version $max:literal: $asked:ident -> $answered:ident;
       $request:ident, $response:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}

        impl Api for $name {
            const KEY: i16 = $key;
            const MAX_VERSION: i16 = $max;
            type Asked = $asked;
            type Answered = $answered;
        }

        #[doc = concat!("Request of RPC ", stringify!($key), ".")]
        pub type $request = Request<$name>;
        #[doc = concat!("Answer of RPC ", stringify!($key), ".")]
        pub type $response = Response<$name>;
    )*};
}

apis! {
    /// InitializeShareGroupState.
    Initialize = 83, to version 0: InitializePartition -> PartitionResult;
    InitializeRequest, InitializeResponse;
    /// ReadShareGroupState.
    Read = 84, to version 0: ReadPartition -> ReadPartitionResult;
    ReadRequest, ReadResponse;
    /// WriteShareGroupState.
    Write = 85, to version 1: WritePartition -> PartitionResult;
    WriteRequest, WriteResponse;
    /// DeleteShareGroupState.
    Delete = 86, to version 0: DeletePartition -> PartitionResult;
    DeleteRequest, DeleteResponse;
    /// ReadShareGroupStateSummary.
    ReadSummary = 87, to version 1: SummaryPartition -> SummaryPartitionResult;
    ReadSummaryRequest, ReadSummaryResponse;
}

/// A request of the RPC `A`. An empty group is read as it stands: the coordinator answers it with nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<A: Api> {
    /// Id of the share group.
    pub group_id: String,
    /// The partitions, by topic.
    pub topics: Vec<TopicPartitions<A::Asked>>,
}

/// An answer of the RPC `A`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response<A: Api> {
    /// The results, by topic.
    pub results: Vec<TopicPartitions<A::Answered>>,
}

impl<A: Api> Request<A> {
    /// The bytes of the request, without its header.
    ///
    /// # Errors
    /// The version is unknown, or a string is longer than 32,767 bytes.
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, WireError> {
        check_version::<A>(version)?;
        let size = self.group_id.size(version)? + self.topics.size(version)? + 1;
        let mut out = Vec::with_capacity(size);
        self.group_id.write(&mut out, version);
        self.topics.write(&mut out, version);
        out.push(0);
        Ok(out)
    }

    /// Reads a request, without its header, that fills `buf`.
    ///
    /// # Errors
    /// The version is unknown, or the bytes do not follow the format.
    pub fn decode(buf: &[u8], version: i16) -> Result<Self, WireError> {
        Self::decode_within(buf, version, usize::MAX)
    }

    /// Reads a request as [`Self::decode`] does. Its arrays have at most `elements` elements altogether.
    ///
    /// # Errors
    /// The version is unknown, the bytes do not follow the format, or there are more elements.
    pub fn decode_within(buf: &[u8], version: i16, elements: usize) -> Result<Self, WireError> {
        check_version::<A>(version)?;
        let mut r = Reader::new(buf).within(elements);
        let group_id = Field::read(&mut r, version)?;
        let topics = Field::read(&mut r, version)?;
        end(r)?;
        Ok(Self { group_id, topics })
    }
}

impl<A: Api> Response<A> {
    /// The bytes of the answer, without its header.
    ///
    /// # Errors
    /// The version is unknown, or a string is longer than 32,767 bytes.
    pub fn encode(&self, version: i16) -> Result<Vec<u8>, WireError> {
        check_version::<A>(version)?;
        let mut out = Vec::with_capacity(self.results.size(version)? + 1);
        self.results.write(&mut out, version);
        out.push(0);
        Ok(out)
    }

    /// Reads an answer, without its header, that fills `buf`.
    ///
    /// # Errors
    /// The version is unknown, or the bytes do not follow the format.
    pub fn decode(buf: &[u8], version: i16) -> Result<Self, WireError> {
        Self::decode_within(buf, version, usize::MAX)
    }

    /// Reads an answer as [`Self::decode`] does. Its arrays have at most `elements` elements altogether.
    ///
    /// # Errors
    /// The version is unknown, the bytes do not follow the format, or there are more elements.
    pub fn decode_within(buf: &[u8], version: i16, elements: usize) -> Result<Self, WireError> {
        check_version::<A>(version)?;
        let mut r = Reader::new(buf).within(elements);
        let results = Field::read(&mut r, version)?;
        end(r)?;
        Ok(Self { results })
    }
}

fn check_version<A: Api>(version: i16) -> Result<(), WireError> {
    if (0..=A::MAX_VERSION).contains(&version) {
        return Ok(());
    }
    Err(WireError::new(
        0,
        WireErrorKind::UnsupportedVersion { version },
    ))
}

/// Position after the tagged fields of a header, which begin at `position` of `frame`. Each is skipped: no header of Kafka's
/// has one that matters here.
///
/// # Errors
/// They end too late, or there are more than 64.
pub fn header_end(frame: &[u8], position: usize) -> Result<usize, WireError> {
    let mut r = Reader::new(frame);
    r.take(position)?;
    skip_tags(&mut r)?;
    Ok(r.position())
}

/// The end of a message: tagged fields, of which none is known, and nothing after them.
fn end(mut r: Reader<'_>) -> Result<(), WireError> {
    skip_tags(&mut r)?;
    r.finish()
}

#[cfg(test)]
mod tests;
