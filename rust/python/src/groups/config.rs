//! Configuration of a share group.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple};
use share_state_core::limits::properties::{Properties, share_group_config};
use share_state_core::limits::{AutoOffsetReset, IsolationLevel, ShareGroupConfig};

use crate::args::{Int, flag, named, text};
use crate::errors;

/// Configuration of a share group, as far as a share partition needs it (Kafka: `GroupConfig`), with Kafka's defaults.
///
/// The constructor takes any value that the engine can work with; `from_kafka` holds to Kafka's bounds.
///
/// Args:
///     partition_max_record_locks: `share.partition.max.record.locks`, offsets from the start offset to the end of the window.
///     delivery_count_limit: `share.delivery.count.limit`, 1 to 32,767 deliveries of a record.
///     record_lock_duration_ms: `share.record.lock.duration.ms`, 1 to 2**31 - 1 ms.
///     renew_acknowledge_enable: `share.renew.acknowledge.enable` (KIP-1222).
///     auto_offset_reset: `share.auto.offset.reset`: `"latest"`, `"earliest"`, or `"by_duration:"` with an ISO-8601 duration.
///     isolation_level: `share.isolation.level`: `"read_uncommitted"` or `"read_committed"`.
///     dead_letter_queue_topic: `errors.deadletterqueue.topic.name` (KIP-1191); none when empty.
///     max_lock_timeouts_per_call: the most acquisition locks that run out in one call, of whichever method, 1 to 2**32 - 1; `None`
///         for all that are due. It bounds the time of a call where many locks end together: some 100 ns a lock. Those left over
///         hold until the next call, and can be acknowledged until then. Kafka has no such setting: its timer ends each lock by itself.
///
/// Raises:
///     ConfigError: a number is out of its range, or a text is not one of these; `field` is the argument.
#[pyclass(frozen, module = "share_state")]
#[derive(Clone)]
pub struct GroupConfig {
    /// Shared by all share partitions that it is given to.
    pub inner: Arc<ShareGroupConfig>,
    dead_letter_queue_topic: String,
}

#[pymethods]
impl GroupConfig {
    #[new]
    #[pyo3(signature = (*, partition_max_record_locks = Int(2000), delivery_count_limit = Int(5),
        record_lock_duration_ms = Int(30_000), renew_acknowledge_enable = true, auto_offset_reset = "latest",
        isolation_level = "read_uncommitted", dead_letter_queue_topic = "", max_lock_timeouts_per_call = None),
        text_signature = "(*, partition_max_record_locks=2000, delivery_count_limit=5, record_lock_duration_ms=30000, \
        renew_acknowledge_enable=True, auto_offset_reset='latest', isolation_level='read_uncommitted', \
        dead_letter_queue_topic='', max_lock_timeouts_per_call=None)")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        partition_max_record_locks: Int<u32>,
        delivery_count_limit: Int<i16>,
        record_lock_duration_ms: Int<i64>,
        #[pyo3(from_py_with = flag)] renew_acknowledge_enable: bool,
        #[pyo3(from_py_with = text)] auto_offset_reset: &str,
        #[pyo3(from_py_with = text)] isolation_level: &str,
        #[pyo3(from_py_with = text)] dead_letter_queue_topic: &str,
        max_lock_timeouts_per_call: Option<Int<u32>>,
    ) -> PyResult<Self> {
        let inner = ShareGroupConfig {
            partition_max_record_locks: partition_max_record_locks.0,
            delivery_count_limit: delivery_count_limit.0,
            record_lock_duration_ms: record_lock_duration_ms.0,
            renew_acknowledge_enable,
            auto_offset_reset: auto_offset_reset_in(py, "auto_offset_reset", auto_offset_reset)?,
            isolation_level: isolation_level_in(py, "isolation_level", isolation_level)?,
            dead_letter_queue: !dead_letter_queue_topic.is_empty(),
            max_lock_timeouts_per_call: max_lock_timeouts_per_call.map_or(u32::MAX, |most| most.0),
        };
        inner
            .check()
            .map_err(|error| errors::config_argument(py, &error))?;
        Ok(Self {
            inner: Arc::new(inner),
            dead_letter_queue_topic: dead_letter_queue_topic.to_owned(),
        })
    }

    /// Read Kafka's properties, hold them to Kafka's bounds, and clamp the group's to what the broker allows (KIP-1240).
    ///
    /// Values are read as a broker reads them: blanks around them do not count, and `TRUE` is `true`.
    ///
    /// Args:
    ///     group: what the group sets, text by Kafka's property name. Names of other kinds of groups are passed over.
    ///     broker: the broker's properties (`group.share.…`); what it lacks has Kafka's default. Names of other parts of a broker
    ///         are passed over.
    ///
    /// Raises:
    ///     ConfigError: a `share.…`, `errors.deadletterqueue.…` or `group.share.…` name that does not exist there, a value that its
    ///         property cannot have, or values of the broker that contradict each other; `field` is the property.
    #[staticmethod]
    #[pyo3(signature = (group, broker = None))]
    fn from_kafka(py: Python<'_>, group: Texts, broker: Option<Texts>) -> PyResult<Self> {
        let broker = broker.map(|texts| texts.0).unwrap_or_default();
        let (inner, dead_letter_queue_topic) =
            share_group_config(&group.0, &broker).map_err(|error| errors::property(py, &error))?;
        Ok(Self {
            inner: Arc::new(inner),
            dead_letter_queue_topic,
        })
    }

    /// The same configuration with some parts changed; the arguments are those of the constructor.
    ///
    /// Raises:
    ///     ConfigError: a number is out of its range, or a text is not one of its words; `field` is the argument.
    ///     TypeError: the constructor has no such argument.
    #[pyo3(signature = (**changes))]
    fn replace<'py>(
        &self,
        py: Python<'py>,
        changes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = self.arguments(py)?;
        if let Some(changes) = changes {
            arguments.update(changes.as_mapping())?;
        }
        py.get_type::<Self>().call((), Some(&arguments))
    }

    /// As `replace`, for `copy.replace`.
    #[pyo3(signature = (**changes))]
    fn __replace__<'py>(
        &self,
        py: Python<'py>,
        changes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.replace(py, changes)
    }

    /// `share.partition.max.record.locks`, in offsets.
    #[getter]
    fn partition_max_record_locks(&self) -> u32 {
        self.inner.partition_max_record_locks
    }

    /// `share.delivery.count.limit`.
    #[getter]
    fn delivery_count_limit(&self) -> i16 {
        self.inner.delivery_count_limit
    }

    /// `share.record.lock.duration.ms`.
    #[getter]
    fn record_lock_duration_ms(&self) -> i64 {
        self.inner.record_lock_duration_ms
    }

    /// `share.renew.acknowledge.enable` (KIP-1222).
    #[getter]
    fn renew_acknowledge_enable(&self) -> bool {
        self.inner.renew_acknowledge_enable
    }

    /// `share.auto.offset.reset`.
    #[getter]
    fn auto_offset_reset(&self) -> String {
        auto_offset_reset_out(self.inner.auto_offset_reset)
    }

    /// `share.isolation.level`.
    #[getter]
    fn isolation_level(&self) -> &'static str {
        match self.inner.isolation_level {
            IsolationLevel::ReadUncommitted => "read_uncommitted",
            IsolationLevel::ReadCommitted => "read_committed",
        }
    }

    /// `errors.deadletterqueue.topic.name` (KIP-1191); empty when there is none.
    #[getter]
    fn dead_letter_queue_topic(&self) -> &str {
        &self.dead_letter_queue_topic
    }

    /// The most acquisition locks that run out in one call; `None` for all that are due.
    #[getter]
    fn max_lock_timeouts_per_call(&self) -> Option<u32> {
        let most = self.inner.max_lock_timeouts_per_call;
        (most < u32::MAX).then_some(most)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner && self.dead_letter_queue_topic == other.dead_letter_queue_topic
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyTuple::new(py, self.arguments(py)?.values())?.hash()
    }

    /// Its parts, as the keyword arguments of the constructor.
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.arguments(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        for (name, value) in self.arguments(py)? {
            parts.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("GroupConfig({})", parts.join(", ")))
    }
}

impl GroupConfig {
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item(
            "partition_max_record_locks",
            self.partition_max_record_locks(),
        )?;
        dict.set_item("delivery_count_limit", self.delivery_count_limit())?;
        dict.set_item("record_lock_duration_ms", self.record_lock_duration_ms())?;
        dict.set_item("renew_acknowledge_enable", self.renew_acknowledge_enable())?;
        dict.set_item("auto_offset_reset", self.auto_offset_reset())?;
        dict.set_item("isolation_level", self.isolation_level())?;
        dict.set_item("dead_letter_queue_topic", &self.dead_letter_queue_topic)?;
        dict.set_item(
            "max_lock_timeouts_per_call",
            self.max_lock_timeouts_per_call(),
        )?;
        Ok(dict)
    }
}

/// Texts by name: any mapping.
pub struct Texts(pub Properties);

impl<'a, 'py> FromPyObject<'a, 'py> for Texts {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let Ok(mapping) = value.cast::<PyMapping>() else {
            return Err(errors::wrong_type(&value, "a mapping of text by name"));
        };
        let items = py.get_type::<PyDict>().call1((mapping,))?;
        let mut texts = Properties::new();
        for (name, text) in items.cast_into::<PyDict>()? {
            let name = text_in(&name)?;
            let text = named(py, text_in(&text), &name)?;
            texts.insert(name, text);
        }
        Ok(Self(texts))
    }
}

/// A text that UTF-8 can hold.
fn text_in(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => match text.to_str() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(errors::wrong_value(value, "text without lone surrogates")),
        },
        Err(_) => Err(errors::wrong_type(value, "text")),
    }
}

/// `field` is what the caller calls it.
fn isolation_level_in(py: Python<'_>, field: &str, text: &str) -> PyResult<IsolationLevel> {
    match text {
        "read_uncommitted" => Ok(IsolationLevel::ReadUncommitted),
        "read_committed" => Ok(IsolationLevel::ReadCommitted),
        _ => {
            let expected = "read_uncommitted or read_committed";
            Err(errors::config_word(py, field, text, expected))
        }
    }
}

/// `field` is what the caller calls it.
fn auto_offset_reset_in(py: Python<'_>, field: &str, text: &str) -> PyResult<AutoOffsetReset> {
    AutoOffsetReset::parse(text).ok_or_else(|| {
        let expected = "latest, earliest or by_duration:PnDTnHnMn.nS";
        errors::config_word(py, field, text, expected)
    })
}

/// Return the time that `share.auto.offset.reset` goes back, in ms; `None` for `latest` and `earliest`.
///
/// Raises:
///     ConfigError: the text is none of the values of the property.
#[pyfunction]
pub fn offset_reset_duration_ms(
    py: Python<'_>,
    #[pyo3(from_py_with = text)] strategy: &str,
) -> PyResult<Option<i64>> {
    Ok(
        match auto_offset_reset_in(py, "share.auto.offset.reset", strategy)? {
            AutoOffsetReset::ByDuration(ms) => Some(ms),
            AutoOffsetReset::Latest | AutoOffsetReset::Earliest => None,
        },
    )
}

pub fn auto_offset_reset_out(strategy: AutoOffsetReset) -> String {
    strategy.to_string()
}
