//! An exception of `share_state.errors` on its way from the core's facts to Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;

use crate::named_tuples;

/// Characters of a value in the text of an error; the attribute has all of it.
const LONGEST_SHOWN: usize = 80;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An exception of `share_state.errors` being put together.
pub struct Raise<'py> {
    py: Python<'py>,
    class: &'static str,
    message: String,
    facts: Bound<'py, PyDict>,
    /// The share partition that it is about.
    key: Option<SharePartitionKey>,
}

impl<'py> Raise<'py> {
    pub fn new(py: Python<'py>, class: &'static str, message: impl ToString) -> Self {
        Self {
            py,
            class,
            message: message.to_string(),
            facts: PyDict::new(py),
            key: None,
        }
    }

    /// Adds an attribute.
    pub fn fact(self, name: &str, value: impl IntoPyObject<'py>) -> Self {
        // Setting an item of a fresh dict can only fail for want of memory; then the fact is missing, not the error.
        let _ = self.facts.set_item(name, value);
        self
    }

    /// Says which share partition it is about, in the text and as the attribute `key`.
    pub fn of(mut self, key: &SharePartitionKey) -> Self {
        self.key = Some(key.clone());
        self
    }

    pub fn code(self, code: KafkaCode) -> Self {
        self.fact("kafka_code", code.code())
    }

    pub fn done(self) -> PyErr {
        self.made().unwrap_or_else(|error| error)
    }

    fn made(self) -> PyResult<PyErr> {
        let module = MODULE.get_or_try_init(self.py, || {
            self.py.import("share_state.errors").map(Bound::unbind)
        })?;
        let message = match &self.key {
            Some(SharePartitionKey {
                group,
                topic_id,
                partition,
            }) => format!(
                "{} (share partition {:?}, {topic_id}, {partition})",
                self.message,
                cut(group)
            ),
            None => self.message,
        };
        let class = module.bind(self.py).getattr(self.class)?;
        let error = class.call((message,), Some(&self.facts))?;
        if let Some(key) = &self.key {
            error.setattr("key", named_tuples::key_out(self.py, key)?)?;
        }
        Ok(PyErr::from_value(error))
    }
}

/// Start of a text that may be long.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
