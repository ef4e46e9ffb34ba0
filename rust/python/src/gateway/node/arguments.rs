//! Arguments that name a part of a node.

use pyo3::prelude::*;
use share_state_core::limits::IsolationLevel;
use share_state_core::share_session::TopicIdPartition;
use share_state_gateway::node::SourceKey;

use crate::args::{Int, Topic};
use crate::errors;

/// An isolation level, by its number in Fetch and ListOffsets.
pub struct Isolation(IsolationLevel);

impl<'a, 'py> FromPyObject<'a, 'py> for Isolation {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Int<i64>>()?.0 {
            0 => Ok(Self(IsolationLevel::ReadUncommitted)),
            1 => Ok(Self(IsolationLevel::ReadCommitted)),
            _ => Err(errors::wrong_value(
                &value,
                "0 (read_uncommitted) or 1 (read_committed)",
            )),
        }
    }
}

/// Number of an isolation level.
pub const fn isolation_out(isolation: IsolationLevel) -> i8 {
    match isolation {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
    }
}

/// The ring of a partition at an isolation level.
pub const fn source(topic_id: Topic, partition: Int<i32>, isolation: Isolation) -> SourceKey {
    SourceKey {
        id: place(topic_id, partition),
        isolation: isolation.0,
    }
}

/// A partition of a topic.
pub const fn place(topic_id: Topic, partition: Int<i32>) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: topic_id.0,
        partition: partition.0,
    }
}
