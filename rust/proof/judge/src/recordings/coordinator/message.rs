//! Requests and answers as Kafka's converter spells them in JSON, as the types of our codec.

use serde_json::Value;
use share_state_core::ids::TopicId;
use share_state_core::records::ShareSnapshot;
use share_state_core::state_batch::StateBatch;
use share_state_wire::messages::schema::{
    DeletePartition, InitializePartition, PartitionResult, ReadPartition, ReadPartitionResult,
    SummaryPartition, SummaryPartitionResult, TopicPartitions, WritePartition,
};
use share_state_wire::messages::{Api, Request, Response};

use super::super::fields::{Unknown, known, list, number, text, topic_id};

/// Content of the JSON of a message.
pub trait FromJson: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// It is something else.
    fn from_json(value: &Value) -> Result<Self, Unknown>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl FromJson for $number {
            fn from_json(value: &Value) -> Result<Self, Unknown> {
                number(value)
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 }

impl FromJson for String {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        text(value).map(str::to_owned)
    }
}

impl FromJson for TopicId {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        topic_id(value)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        list(value)?.iter().map(T::from_json).collect()
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        match value {
            Value::Null => Ok(None),
            value => T::from_json(value).map(Some),
        }
    }
}

/// A field; `otherwise` is what its absence means.
fn field<T: FromJson>(value: &Value, name: &str, otherwise: Option<T>) -> Result<T, Unknown> {
    match (value.get(name), otherwise) {
        (Some(value), _) => T::from_json(value),
        (None, Some(otherwise)) => Ok(otherwise),
        (None, None) => Err(Unknown(format!("{name} is missing"))),
    }
}

macro_rules! from_json {
    ($($type:ty { $($field:ident: $name:literal $(or $default:expr)?,)* })*) => {$(
        impl FromJson for $type {
            fn from_json(value: &Value) -> Result<Self, Unknown> {
                known(value, &[$($name,)*], stringify!($type))?;
                Ok(Self { $($field: field(value, $name, None $(.or(Some($default)))?)?,)* })
            }
        }
    )*};
}

from_json! {
    StateBatch {
        first_offset: "firstOffset",
        last_offset: "lastOffset",
        delivery_state: "deliveryState",
        delivery_count: "deliveryCount",
    }
    InitializePartition {
        partition: "partition",
        state_epoch: "stateEpoch",
        start_offset: "startOffset",
    }
    ReadPartition {
        partition: "partition",
        leader_epoch: "leaderEpoch",
    }
    ReadPartitionResult {
        partition: "partition",
        error_code: "errorCode",
        error_message: "errorMessage" or None,
        state_epoch: "stateEpoch",
        start_offset: "startOffset",
        state_batches: "stateBatches",
    }
    WritePartition {
        partition: "partition",
        state_epoch: "stateEpoch",
        leader_epoch: "leaderEpoch",
        start_offset: "startOffset",
        delivery_complete_count: "deliveryCompleteCount" or -1,
        state_batches: "stateBatches",
    }
    DeletePartition {
        partition: "partition",
    }
    PartitionResult {
        partition: "partition",
        error_code: "errorCode",
        error_message: "errorMessage" or None,
    }
    SummaryPartition {
        partition: "partition",
        leader_epoch: "leaderEpoch",
    }
    SummaryPartitionResult {
        partition: "partition",
        error_code: "errorCode",
        error_message: "errorMessage" or None,
        state_epoch: "stateEpoch",
        leader_epoch: "leaderEpoch",
        start_offset: "startOffset",
        delivery_complete_count: "deliveryCompleteCount" or -1,
    }
}

/// Reads the message of an update too, which has fewer fields.
impl FromJson for ShareSnapshot {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        let names = [
            "snapshotEpoch",
            "stateEpoch",
            "leaderEpoch",
            "startOffset",
            "deliveryCompleteCount",
            "createTimestamp",
            "writeTimestamp",
            "stateBatches",
        ];
        known(value, &names, "a message")?;
        Ok(Self {
            snapshot_epoch: field(value, "snapshotEpoch", None)?,
            state_epoch: field(value, "stateEpoch", Some(-1))?,
            leader_epoch: field(value, "leaderEpoch", None)?,
            start_offset: field(value, "startOffset", None)?,
            delivery_complete_count: field(value, "deliveryCompleteCount", Some(-1))?,
            create_timestamp: field(value, "createTimestamp", Some(-1))?,
            write_timestamp: field(value, "writeTimestamp", Some(-1))?,
            state_batches: field(value, "stateBatches", None)?,
            unknown_tagged_fields: Vec::new(),
        })
    }
}

impl<P: FromJson> FromJson for TopicPartitions<P> {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        known(value, &["topicId", "partitions"], "a topic")?;
        Ok(Self {
            topic_id: field(value, "topicId", None)?,
            partitions: field(value, "partitions", None)?,
        })
    }
}

impl<A: Api<Asked: FromJson>> FromJson for Request<A> {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        known(value, &["groupId", "topics"], "the request")?;
        Ok(Self {
            group_id: field(value, "groupId", None)?,
            topics: field(value, "topics", None)?,
        })
    }
}

impl<A: Api<Answered: FromJson>> FromJson for Response<A> {
    fn from_json(value: &Value) -> Result<Self, Unknown> {
        known(value, &["results"], "the answer")?;
        Ok(Self {
            results: field(value, "results", None)?,
        })
    }
}
