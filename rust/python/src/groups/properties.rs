//! Properties of share groups as texts, for DescribeConfigs, IncrementalAlterConfigs and property files.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::properties::{
    Alteration, ConfigEntry, GROUP_PROPERTIES, GroupProperty, Properties, PropertyError, Value,
    alter_group, broker_entries, check_broker, group_entries, read_broker,
};

use crate::args::{Int, flag, text};
use crate::errors::Raise;
use crate::groups::config::Texts;

/// List the properties of a share group as DescribeConfigs answers them (`Configs` of a resource of type 32).
///
/// A group that has set nothing has them too. A value is the one that the group has set, in Kafka's spelling; what is in force may
/// be clamped (`effective_group_config`).
///
/// Args:
///     group: what the group has set, text by name.
///     broker: the broker's properties; what it lacks has Kafka's default.
///     defaults: what this server has for groups that set nothing, by the names of a group's properties, instead of both.
///
/// Returns:
///     A dict for each: `name`, `value`, `readOnly`, `configSource` (8 group, 4 broker, 5 default), `isSensitive`, `synonyms`
///     (`name`, `value`, `source`), `configType`, `documentation`.
#[pyfunction]
#[pyo3(signature = (group, broker, defaults = None))]
pub fn group_config_entries<'py>(
    py: Python<'py>,
    group: Texts,
    broker: Texts,
    defaults: Option<Texts>,
) -> PyResult<Bound<'py, PyList>> {
    let defaults = defaults.map(|texts| texts.0).unwrap_or_default();
    let entries = group_entries(&group.0, &broker.0, &defaults);
    entries_out(py, &entries, false)
}

/// List the broker's properties of share groups as DescribeConfigs answers them (resource type 4); as `group_config_entries`, and
/// read-only.
#[pyfunction]
pub fn broker_config_entries<'py>(py: Python<'py>, broker: Texts) -> PyResult<Bound<'py, PyList>> {
    entries_out(py, &broker_entries(&broker.0), true)
}

/// Check whether a group may set this value now.
///
/// Raises:
///     ConfigError: there is no such property, or the value is none of it, or outside what the broker allows; the text is that of
///         Kafka's answer, `field` the property, `kafka_code` 40.
#[pyfunction]
pub fn check_group_config(
    py: Python<'_>,
    #[pyo3(from_py_with = text)] name: &str,
    #[pyo3(from_py_with = text)] value: &str,
    broker: Texts,
) -> PyResult<()> {
    GroupProperty::find(name)
        .and_then(|known| known.check(value, &broker.0))
        .map_err(|error| raised(py, &error))
}

/// Carry out an IncrementalAlterConfigs request on a share group: all of its alterations or none.
///
/// As in Kafka, every property of the group must be allowed afterwards, and a property that there is not may be deleted.
///
/// Args:
///     group: what the group has set.
///     alterations: `(name, operation, value)`; operations are 0 set, 1 delete, 2 append, 3 subtract.
///     broker: the broker's properties.
///     name: the group; one without a name is refused.
///
/// Returns:
///     What the group has set then.
///
/// Raises:
///     ConfigError: an alteration is refused; the text is that of Kafka's answer, `kafka_code` 40, or 42 for a request out of form.
#[pyfunction]
#[pyo3(signature = (group, alterations, broker, *, name))]
pub fn alter_group_config(
    py: Python<'_>,
    group: Texts,
    alterations: Vec<(String, Int<i8>, Option<String>)>,
    broker: Texts,
    #[pyo3(from_py_with = text)] name: &str,
) -> PyResult<Properties> {
    let alterations: Vec<_> = alterations
        .into_iter()
        .map(|(name, operation, value)| Alteration {
            name,
            operation: operation.0.into(),
            value,
        })
        .collect();
    alter_group(name, &group.0, &alterations, &broker.0).map_err(|error| raised(py, &error))
}

/// Tell what is in force for a share group: what it has set, clamped to what the broker allows now, or else what the broker has.
///
/// Returns:
///     An int, a bool or a text by name, for every property of a group.
///
/// Raises:
///     ConfigError: a text is no value of its property.
#[pyfunction]
pub fn effective_group_config<'py>(
    py: Python<'py>,
    group: Texts,
    broker: Texts,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for known in &GROUP_PROPERTIES {
        let value = known
            .effective(&group.0, &broker.0)
            .map_err(|error| raised(py, &error))?;
        let name = known.property.name;
        match value {
            Value::Int(number) => dict.set_item(name, number)?,
            Value::Boolean(truth) => dict.set_item(name, truth)?,
            Value::Text(text) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}

/// Check a broker's properties, each by itself and those that bound each other.
///
/// Args:
///     broker: text by name.
///     together: whether to check also what a broker demands of several before it starts, such as a heartbeat interval below the
///         session timeout.
///
/// Returns:
///     The names that are no properties of share groups, in order. Kafka passes over such.
///
/// Raises:
///     ConfigError: a value cannot be used; the text is Kafka's, `field` the property.
#[pyfunction]
#[pyo3(signature = (broker, *, together = true))]
pub fn check_broker_config(
    py: Python<'_>,
    broker: Texts,
    #[pyo3(from_py_with = flag)] together: bool,
) -> PyResult<Vec<String>> {
    let check = if together { check_broker } else { read_broker };
    let unknown = check(&broker.0).map_err(|error| raised(py, &error))?;
    Ok(unknown.into_iter().map(str::to_owned).collect())
}

fn entries_out<'py>(
    py: Python<'py>,
    entries: &[ConfigEntry],
    read_only: bool,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for entry in entries {
        let synonyms = PyList::empty(py);
        for (name, value, source) in &entry.synonyms {
            let synonym = PyDict::new(py);
            synonym.set_item("name", name)?;
            synonym.set_item("value", value)?;
            synonym.set_item("source", source.code())?;
            synonyms.append(synonym)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("name", entry.property.name)?;
        dict.set_item("value", &entry.value)?;
        dict.set_item("readOnly", read_only)?;
        dict.set_item("configSource", entry.source.code())?;
        dict.set_item("isSensitive", false)?;
        dict.set_item("synonyms", synonyms)?;
        dict.set_item("configType", entry.property.config_type())?;
        dict.set_item("documentation", entry.property.documentation)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn raised(py: Python<'_>, error: &PropertyError) -> PyErr {
    let (minimum, maximum) = error.bounds();
    let raise = Raise::new(py, "ConfigError", error)
        .fact("field", error.name())
        .fact("value", error.value())
        .fact("minimum", minimum)
        .fact("maximum", maximum);
    let code: KafkaCode = error.kafka_code();
    raise.code(code).done()
}
