//! Arguments and settings that cannot be used: which one, its value, and what is expected.

use pyo3::prelude::*;
use share_state_core::limits::ConfigError;
use share_state_core::limits::properties::PropertyError;

use super::raise::{Raise, cut};

/// Stands in a text where the name of the argument is to be, see `add_note` of `share_state.errors`.
pub const UNNAMED: &str = "a value";

/// A number that its argument cannot hold. Whoever takes the argument says its name, see [`crate::args::named`].
#[cold]
pub fn out_of_range(value: &Bound<'_, PyAny>, least: i128, greatest: i128) -> PyErr {
    let message = format!(
        "{UNNAMED} is {}; expected {least} to {greatest}",
        shown(value)
    );
    Raise::new(value.py(), "ArgumentRangeError", message)
        .fact("value", value)
        .fact("minimum", least)
        .fact("maximum", greatest)
        .done()
}

/// A value that its argument cannot have; its name is said as for [`out_of_range`].
#[cold]
pub fn wrong_value(value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let message = format!("{UNNAMED} is {}; expected {expected}", shown(value));
    Raise::new(value.py(), "ArgumentValueError", message)
        .fact("value", value)
        .done()
}

/// A word that an argument does not have.
#[cold]
pub fn wrong_word(py: Python<'_>, field: &str, word: &str, expected: &str) -> PyErr {
    let message = format!("{field} is {:?}; expected {expected}", cut(word));
    Raise::new(py, "ArgumentValueError", message)
        .fact("field", field)
        .fact("value", word)
        .done()
}

/// A field of a message that is missing, unknown or none.
#[cold]
pub fn wrong_field(py: Python<'_>, field: &str, message: String) -> PyErr {
    Raise::new(py, "ArgumentValueError", message)
        .fact("field", field)
        .done()
}

/// A number that an argument does not have.
#[cold]
pub fn wrong_number(py: Python<'_>, field: &str, number: i64, expected: &str) -> PyErr {
    Raise::new(
        py,
        "ArgumentValueError",
        format!("{field} is {number}; expected {expected}"),
    )
    .fact("field", field)
    .fact("value", number)
    .done()
}

/// A value of a type that its argument cannot have; its name is said as for [`out_of_range`].
#[cold]
pub fn wrong_type(value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let message = format!("{UNNAMED} is {}; expected {expected}", kind(value));
    Raise::new(value.py(), "ArgumentTypeError", message)
        .fact("value", value)
        .done()
}

/// Kind of a value: the dtype and the shape of an array, the class of all else.
fn kind(value: &Bound<'_, PyAny>) -> String {
    let array = value.getattr("dtype").and_then(|dtype| {
        let shape = value.getattr("shape")?;
        Ok(format!("{dtype} of shape {shape}"))
    });
    array.unwrap_or_else(|_| {
        let class = value.get_type();
        format!(
            "of type {}",
            class
                .name()
                .map_or_else(|_| "unknown".into(), |name| name.to_string())
        )
    })
}

/// A value as Python shows it, cut where it is long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value
        .repr()
        .map_or_else(|_| kind(value), |text| text.to_string());
    cut(&text)
}

pub fn config(py: Python<'_>, error: &ConfigError) -> PyErr {
    config_called(py, error, error.name.to_owned())
}

/// As [`config`], of an argument, which is called as the property is: `delivery_count_limit` for `share.delivery.count.limit`.
pub fn config_argument(py: Python<'_>, error: &ConfigError) -> PyErr {
    let name = error.name.trim_start_matches("share.");
    let name = name.trim_start_matches("coordinator.").replace('.', "_");
    config_called(py, error, name)
}

fn config_called(py: Python<'_>, error: &ConfigError, name: String) -> PyErr {
    let ConfigError {
        value, min, max, ..
    } = error;
    Raise::new(
        py,
        "ConfigError",
        format!("{name} is {value}; expected {min} to {max}"),
    )
    .fact("field", name)
    .fact("value", *value)
    .fact("minimum", *min)
    .fact("maximum", *max)
    .done()
}

/// A property that cannot be used, in our words; those of a broker's answers are the error's own.
pub fn property(py: Python<'_>, error: &PropertyError) -> PyErr {
    let (name, value, expected) = (error.name(), error.value(), error.expected());
    let message = match &value {
        Some(value) => format!("{name} is {:?}; expected {expected}", cut(value)),
        None => format!("{name} is not known; expected {expected}"),
    };
    let (minimum, maximum) = error.bounds();
    let raise = Raise::new(py, "ConfigError", message)
        .fact("field", name)
        .fact("minimum", minimum)
        .fact("maximum", maximum);
    match (value, minimum) {
        // A number that breaks its bounds is given as one.
        (Some(value), Some(_)) => match value.parse::<i64>() {
            Ok(number) => raise.fact("value", number),
            Err(_) => raise.fact("value", value),
        },
        (value, _) => raise.fact("value", value),
    }
    .done()
}

/// A text that a setting cannot have; `field` is what the caller calls the setting.
pub fn config_word(py: Python<'_>, field: &str, text: &str, expected: &str) -> PyErr {
    let message = format!("{field} is {:?}; expected {expected}", cut(text));
    Raise::new(py, "ConfigError", message)
        .fact("field", field)
        .fact("value", text)
        .done()
}
