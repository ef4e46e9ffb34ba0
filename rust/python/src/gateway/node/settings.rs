//! Snapshots that the control plane of a gateway swaps in its node: topics, access, configurations.

use std::sync::Arc;

use pyo3::prelude::*;
use share_state_core::ids::TopicId;
use share_state_gateway::node as data_plane;
use share_state_gateway::node::{Access, Resource, Rule, Topics};

use super::Node;
use crate::args::{self, Int, LockMs, Topic, flag, named, one, text, text_or_none};
use crate::errors;
use crate::groups::config::GroupConfig;

/// A part of a tuple, before it is looked at.
type Part<'py> = Bound<'py, PyAny>;

#[pymethods]
impl Node {
    /// Swap the topics. The share partitions of one that is not among them stay: the broker that was asked may have just started.
    ///
    /// Args:
    ///     topics: `(topic_id, name, partitions, is_internal)` of each. Topics of Kafka's own are not given out.
    fn set_topics(&self, py: Python<'_>, topics: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut given = Vec::new();
        for topic in args::items("topics", topics)? {
            given.push(topic_in(given.len(), &topic?)?);
        }
        let topics: Topics = given.into_iter().collect();
        self.0.attached(py, |node| node.set_topics(topics))
    }

    /// Carry on with the request of a connection whose topics were looked for. Those that are not in the snapshot by now do not
    /// exist.
    #[pyo3(signature = (connection, *, now_ms))]
    fn looked_up(&self, py: Python<'_>, connection: Int<u64>, now_ms: LockMs) -> PyResult<()> {
        self.0
            .detached(py, |node| node.looked_up(connection.0, now_ms.0))
    }

    /// Drop the share partitions of a topic that was deleted, and tell those that wait for them so.
    #[pyo3(signature = (topic_id, *, now_ms))]
    fn topic_deleted(&self, py: Python<'_>, topic_id: Topic, now_ms: LockMs) -> PyResult<()> {
        self.0
            .detached(py, |node| node.topic_deleted(topic_id.0, now_ms.0))
    }

    /// Swap the rules of access to read groups and topics.
    ///
    /// Args:
    ///     rules: `(principal, resource, name, prefixed, allow)` of each rule on READ or on ALL, with `"TOPIC"` or `"GROUP"` as the
    ///         resource; `None` where everybody who is let in may do everything.
    ///     super_users: principals that may do everything.
    fn set_access(
        &self,
        py: Python<'_>,
        rules: Option<&Bound<'_, PyAny>>,
        super_users: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut users: Vec<Arc<str>> = Vec::new();
        for user in args::items("super_users", super_users)? {
            let part = format!("super_users[{}]", users.len());
            users.push(Arc::from(named(py, text(&user?), part)?));
        }
        let access = match rules {
            None => Access::default(),
            Some(rules) => {
                let mut given = Vec::new();
                for rule in args::items("rules", rules)? {
                    given.push(rule_in(given.len(), &rule?)?);
                }
                Access::new(given, users)
            }
        };
        self.0.attached(py, |node| node.set_access(access))
    }

    /// Change the configuration of a group. It counts from the next use on.
    #[pyo3(signature = (group, config, *, now_ms))]
    fn configure(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = one)] config: &Bound<'_, GroupConfig>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let config = Arc::clone(&config.get().inner);
        self.0
            .detached(py, |node| node.configure(group, config, now_ms.0))?
            .map_err(|error| errors::config_argument(py, &error))
    }

    /// Forget the configuration of a group, which uses that of groups that have none. It counts from the next use on.
    #[pyo3(signature = (group, *, now_ms))]
    fn forget_config(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        now_ms: LockMs,
    ) -> PyResult<()> {
        self.0
            .detached(py, |node| node.forget_config(group, now_ms.0))
    }

    /// Drop the share partitions of a group on a topic, or of all groups on it: their states were changed elsewhere.
    #[pyo3(signature = (group, topic_id, *, now_ms))]
    fn state_changed(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text_or_none)] group: Option<&str>,
        topic_id: Topic,
        now_ms: LockMs,
    ) -> PyResult<()> {
        self.0
            .detached(py, |node| node.state_changed(group, topic_id.0, now_ms.0))
    }

    /// Acquire nothing more: the store takes no writes until it is opened again, and records given out could never be settled.
    fn store_closed(&self, py: Python<'_>) -> PyResult<()> {
        self.0.attached(py, data_plane::Node::store_closed)
    }

    /// Forget share partitions that no request has named since a time, and that hold nothing.
    #[pyo3(signature = (silent_since_ms, *, now_ms))]
    fn sweep(&self, py: Python<'_>, silent_since_ms: LockMs, now_ms: LockMs) -> PyResult<()> {
        self.0
            .detached(py, |node| node.sweep(silent_since_ms.0, now_ms.0))
    }
}

fn topic_in(index: usize, topic: &Bound<'_, PyAny>) -> PyResult<(TopicId, data_plane::Topic)> {
    let py = topic.py();
    let part = |name: &str| format!("topics[{index}]{name}");
    let Ok((topic_id, name, partitions, is_internal)) =
        topic.extract::<(Part<'_>, Part<'_>, Part<'_>, Part<'_>)>()
    else {
        let expected = "(topic_id, name, partitions, is_internal)";
        return named(py, Err(errors::wrong_type(topic, expected)), part(""));
    };
    let topic_id: Topic = named(py, topic_id.extract(), part(".topic_id"))?;
    let partitions: Int<i32> = named(py, partitions.extract(), part(".partitions"))?;
    let topic = data_plane::Topic {
        name: Arc::from(named(py, text(&name), part(".name"))?),
        partitions: partitions.0,
        is_internal: named(py, flag(&is_internal), part(".is_internal"))?,
    };
    Ok((topic_id.0, topic))
}

fn rule_in(index: usize, rule: &Bound<'_, PyAny>) -> PyResult<Rule> {
    let py = rule.py();
    let part = |name: &str| format!("rules[{index}]{name}");
    let Ok((principal, resource, name, prefixed, allow)) =
        rule.extract::<(Part<'_>, Part<'_>, Part<'_>, Part<'_>, Part<'_>)>()
    else {
        let expected = "(principal, resource, name, prefixed, allow)";
        return named(py, Err(errors::wrong_type(rule, expected)), part(""));
    };
    let kind = match named(py, text(&resource), part(".resource"))? {
        "TOPIC" => Ok(Resource::Topic),
        "GROUP" => Ok(Resource::Group),
        _ => Err(errors::wrong_value(&resource, "TOPIC or GROUP")),
    };
    Ok(Rule {
        principal: Arc::from(named(py, text(&principal), part(".principal"))?),
        resource: named(py, kind, part(".resource"))?,
        name: Arc::from(named(py, text(&name), part(".name"))?),
        prefixed: named(py, flag(&prefixed), part(".prefixed"))?,
        allow: named(py, flag(&allow), part(".allow"))?,
    })
}
