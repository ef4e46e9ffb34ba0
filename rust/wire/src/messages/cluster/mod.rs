//! What a client of a cluster says before it can say anything to a share coordinator: which versions a broker has, who
//! the client is, which topics there are, and which broker coordinates a share partition.
//!
//! Only the newest versions, which every broker with share groups has (4.1 and later); all but SaslHandshake are
//! flexible. The answer to ApiVersions has response header version 0 whatever its version, SaslHandshake request header
//! version 1 and response header version 0; the others have the headers of [`super::header`].

mod sasl;

use core::ops::RangeInclusive;

pub use sasl::{
    Bytes, SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest,
    SaslHandshakeResponse,
};
use share_state_core::ids::TopicId;

use super::field::{Field, message_struct};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{array_len_size, read_compact_len, skip_tags, write_array_len};

/// A whole request or answer.
pub trait ClusterMessage: Field {
    /// Key of the RPC.
    const KEY: i16;
    /// The versions that are known.
    const VERSIONS: RangeInclusive<i16>;

    /// Reads the message, without its header, that fills `buf`.
    ///
    /// # Errors
    /// The version is not known, or the bytes depart from the format.
    fn decode(buf: &[u8], version: i16) -> Result<Self, WireError> {
        check_version::<Self>(version)?;
        let mut r = Reader::new(buf);
        let message = Self::read(&mut r, version)?;
        r.finish()?;
        Ok(message)
    }

    /// The bytes of the message, without its header.
    ///
    /// # Errors
    /// The version is not known, or a string is longer than 32,767 bytes.
    fn encode(&self, version: i16) -> Result<Vec<u8>, WireError> {
        check_version::<Self>(version)?;
        let mut out = Vec::with_capacity(self.size(version)?);
        self.write(&mut out, version);
        Ok(out)
    }
}

fn check_version<M: ClusterMessage>(version: i16) -> Result<(), WireError> {
    if M::VERSIONS.contains(&version) {
        return Ok(());
    }
    Err(WireError::new(
        0,
        WireErrorKind::UnsupportedVersion { version },
    ))
}

macro_rules! messages {
    ($($key:literal, $from:literal to $to:literal: $request:ident -> $response:ident;)*) => {$(
        impl ClusterMessage for $request {
            const KEY: i16 = $key;
            const VERSIONS: RangeInclusive<i16> = $from..=$to;
        }
        impl ClusterMessage for $response {
            const KEY: i16 = $key;
            const VERSIONS: RangeInclusive<i16> = $from..=$to;
        }
    )*};
}

messages! {
    3, 12 to 13: MetadataRequest -> MetadataResponse;
    10, 4 to 6: FindCoordinatorRequest -> FindCoordinatorResponse;
    17, 1 to 1: SaslHandshakeRequest -> SaslHandshakeResponse;
    18, 3 to 4: ApiVersionsRequest -> ApiVersionsResponse;
    36, 2 to 2: SaslAuthenticateRequest -> SaslAuthenticateResponse;
}

message_struct! {
    /// ApiVersions (RPC 18): which requests a broker takes.
    ApiVersionsRequest {
        /// Name of the client's software.
        client_software_name: String,
        /// Its version.
        client_software_version: String,
    }
}

message_struct! {
    /// The versions of one RPC that a broker takes.
    ApiVersion {
        /// Key of the RPC.
        api_key: i16,
        /// The oldest version.
        min_version: i16,
        /// The newest version.
        max_version: i16,
    }
}

message_struct! {
    /// Answer of ApiVersions. The features of the cluster are tagged fields that are skipped.
    ApiVersionsResponse {
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// The versions, by RPC.
        api_keys: Vec<ApiVersion>,
        /// How long the broker held the answer back, ms.
        throttle_time_ms: i32,
    }
}

message_struct! {
    /// FindCoordinator (RPC 10): which broker coordinates each key. Version 6 is the first that knows key type 2, a
    /// share partition, with `group:topicId:partition` as key (KIP-932).
    FindCoordinatorRequest {
        /// 0 a group, 1 a transaction, 2 a share partition.
        key_type: i8,
        /// The keys.
        coordinator_keys: Vec<String>,
    }
}

message_struct! {
    /// The coordinator of one key.
    Coordinator {
        /// The key.
        key: String,
        /// Id of the broker; -1 when there is none.
        node_id: i32,
        /// Its host name.
        host: String,
        /// Its port; -1 when there is none.
        port: i32,
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Text with the error, if any.
        error_message: Option<String>,
    }
}

message_struct! {
    /// Answer of FindCoordinator.
    FindCoordinatorResponse {
        /// How long the broker held the answer back, ms.
        throttle_time_ms: i32,
        /// The coordinators, by key.
        coordinators: Vec<Coordinator>,
    }
}

message_struct! {
    /// A topic that is asked for, by id or by name.
    MetadataRequestTopic {
        /// The topic; the zero id to ask by name.
        topic_id: TopicId,
        /// Its name; null to ask by id.
        name: Option<String>,
    }
}

message_struct! {
    /// Metadata (RPC 3): the brokers and topics of a cluster.
    MetadataRequest {
        /// The topics; null for all.
        topics: Option<Vec<MetadataRequestTopic>>,
        /// Whether a topic that does not exist is made.
        allow_auto_topic_creation: bool,
        /// Whether the answer says what the client may do.
        include_topic_authorized_operations: bool,
    }
}

message_struct! {
    /// A broker of the cluster.
    MetadataBroker {
        /// Its id.
        node_id: i32,
        /// Its host name.
        host: String,
        /// Its port.
        port: i32,
        /// Its rack, if it has one.
        rack: Option<String>,
    }
}

message_struct! {
    /// A partition of a topic.
    MetadataPartition {
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Number of the partition.
        partition_index: i32,
        /// Id of its leader; -1 when there is none.
        leader_id: i32,
        /// Epoch of its leader.
        leader_epoch: i32,
        /// Ids of the brokers that hold it.
        replica_nodes: Vec<i32>,
        /// Ids of those in sync.
        isr_nodes: Vec<i32>,
        /// Ids of those that are away.
        offline_replicas: Vec<i32>,
    }
}

message_struct! {
    /// A topic of the cluster.
    MetadataTopic {
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Its name; null when it was asked for by id and does not exist.
        name: Option<String>,
        /// Its id; zero when it was asked for by name and does not exist.
        topic_id: TopicId,
        /// Whether the cluster keeps it for itself.
        is_internal: bool,
        /// Its partitions.
        partitions: Vec<MetadataPartition>,
        /// What the client may do, as bits; the least i32 when not asked for.
        topic_authorized_operations: i32,
    }
}

message_struct! {
    /// Answer of Metadata.
    MetadataResponse {
        /// How long the broker held the answer back, ms.
        throttle_time_ms: i32,
        /// The brokers.
        brokers: Vec<MetadataBroker>,
        /// Id of the cluster.
        cluster_id: Option<String>,
        /// Id of the controller; -1 when unknown.
        controller_id: i32,
        /// The topics.
        topics: Vec<MetadataTopic>,
        /// Kafka's error code for the whole; 0 for none.
        error_code: i16 [since 13 else 0],
    }
}

impl Field for bool {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        Ok(r.i8()? != 0)
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(1)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        out.push(u8::from(*self));
    }
}

impl Field for i8 {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        r.i8()
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(1)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        out.extend_from_slice(&self.to_be_bytes());
    }
}

impl<T: Field> Field for Option<Vec<T>> {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, WireError> {
        let start = *r;
        if read_compact_len(r)?.is_none() {
            return Ok(None);
        }
        *r = start;
        Vec::read(r, version).map(Some)
    }
    fn size(&self, version: i16) -> Result<usize, WireError> {
        match self {
            Some(elements) => elements.size(version),
            None => array_len_size(0),
        }
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        match self {
            Some(elements) => {
                write_array_len(out, elements.len());
                elements.iter().for_each(|e| e.write(out, version));
            }
            None => out.push(0),
        }
    }
}

#[cfg(test)]
mod tests;
