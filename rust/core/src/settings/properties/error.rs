//! Errors of properties and their values, in the words of a broker's answers.

use core::fmt;

use super::Property;
use crate::kafka_code::KafkaCode;

/// Reason for which a property or its value cannot be used. Its text is that of Kafka's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyError {
    /// A group has no such property.
    Unknown {
        /// The name given.
        name: String,
    },
    /// The value is no text of this property.
    Invalid {
        /// Kafka's name of the property.
        name: &'static str,
        /// The value given.
        value: String,
        /// Fault of the value.
        reason: String,
    },
    /// The number is one that the property never has.
    OutOfBounds {
        /// Kafka's name of the property.
        name: &'static str,
        /// The value given.
        value: i64,
        /// Smallest legal value.
        min: i64,
        /// Greatest legal value.
        max: i64,
    },
    /// The number of a group is outside what the broker allows now.
    OutOfRange {
        /// Kafka's name of the property.
        name: &'static str,
        /// The value given.
        value: i64,
        /// Smallest value that the broker allows.
        min: i64,
        /// Greatest value that the broker allows.
        max: i64,
    },
    /// The dead-letter topic would be an internal one.
    InternalTopic {
        /// Kafka's name of the property.
        name: &'static str,
        /// The value given.
        value: String,
    },
    /// A list without words.
    EmptyList {
        /// Kafka's name of the property.
        name: &'static str,
    },
    /// A list with an empty word.
    EmptyWord {
        /// Kafka's name of the property.
        name: &'static str,
    },
    /// Two broker properties contradict each other.
    Order {
        /// Kafka's name of the property at fault.
        name: &'static str,
        /// Its value.
        value: i64,
        /// Relation in which it must stand to the other.
        relation: Relation,
        /// The other property.
        other: &'static str,
    },
    /// A property is named twice in one alteration.
    Repeated {
        /// The name given.
        name: String,
    },
    /// A property is set to nothing.
    Null {
        /// The name given.
        name: String,
    },
    /// A value is to be appended to a property that is no list, or subtracted from it.
    NoList {
        /// The name given.
        name: String,
        /// Kafka's name of the operation.
        operation: &'static str,
    },
    /// The alterations are for a group without a name, which would be for all groups.
    NoGroupName,
    /// There is no such operation.
    UnknownOperation {
        /// The name given.
        name: String,
        /// Number of the operation.
        operation: i8,
    },
}

/// Relation in which one value must stand to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>=`.
    AtLeast,
    /// `<=`.
    AtMost,
    /// `<`.
    Below,
}

impl Relation {
    const fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "greater than or equal to",
            Self::AtMost => "less than or equal to",
            Self::Below => "less than",
        }
    }
}

impl PropertyError {
    pub(super) fn invalid(name: &'static str, value: &str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            name,
            value: value.to_owned(),
            reason: reason.into(),
        }
    }

    pub(super) fn not_a_number(name: &'static str, value: &str) -> Self {
        Self::invalid(name, value, "Not a number of type INT")
    }

    pub(super) fn not_a_truth_value(name: &'static str, value: &str) -> Self {
        Self::invalid(name, value, "Expected value to be either true or false")
    }

    pub(super) fn not_one_of(name: &'static str, value: &str, words: &[&str]) -> Self {
        let words = words.join(", ");
        Self::invalid(name, value, format!("String must be one of: {words}"))
    }

    pub(super) fn no_offset_reset(name: &'static str, value: &str) -> Self {
        let reason = format!(
            "Invalid value `{value}` for configuration {name}. The value must be either 'earliest', 'latest' or of the \
             format 'by_duration:<PnDTnHnMn.nS>'."
        );
        Self::invalid(name, value, reason)
    }

    pub(super) fn no_assignor(name: &'static str, value: &str) -> Self {
        Self::invalid(name, value, "Class cannot be found")
    }

    /// Name of the property at fault; empty where none is.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown { name }
            | Self::Repeated { name }
            | Self::Null { name }
            | Self::NoList { name, .. }
            | Self::UnknownOperation { name, .. } => name,
            Self::Invalid { name, .. }
            | Self::OutOfBounds { name, .. }
            | Self::OutOfRange { name, .. }
            | Self::InternalTopic { name, .. }
            | Self::EmptyList { name }
            | Self::EmptyWord { name }
            | Self::Order { name, .. } => name,
            Self::NoGroupName => "",
        }
    }

    /// The value at fault, where there is one.
    #[must_use]
    pub fn value(&self) -> Option<String> {
        match self {
            Self::Invalid { value, .. } | Self::InternalTopic { value, .. } => Some(value.clone()),
            Self::OutOfBounds { value, .. }
            | Self::OutOfRange { value, .. }
            | Self::Order { value, .. } => Some(value.to_string()),
            Self::EmptyList { .. } | Self::EmptyWord { .. } => Some(String::new()),
            Self::Unknown { .. }
            | Self::Repeated { .. }
            | Self::Null { .. }
            | Self::NoList { .. }
            | Self::NoGroupName
            | Self::UnknownOperation { .. } => None,
        }
    }

    /// Smallest and greatest legal value, where the value breaks one.
    #[must_use]
    pub const fn bounds(&self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::OutOfBounds { min, max, .. } | Self::OutOfRange { min, max, .. } => {
                (Some(*min), Some(*max))
            }
            _ => (None, None),
        }
    }

    /// Expectation in words, for people who write files and programs; empty where the text of the error says all.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::OutOfBounds { min, max, .. } | Self::OutOfRange { min, max, .. } => {
                format!("{min} to {max}")
            }
            Self::Invalid { name, .. }
            | Self::InternalTopic { name, .. }
            | Self::EmptyList { name }
            | Self::EmptyWord { name } => {
                Property::find(name).map_or_else(String::new, |property| property.rule.expected())
            }
            Self::Order {
                relation, other, ..
            } => format!("a value {} {other}", relation.words()),
            Self::Unknown { .. } => "a property of share groups".to_owned(),
            Self::Repeated { .. }
            | Self::Null { .. }
            | Self::NoList { .. }
            | Self::NoGroupName
            | Self::UnknownOperation { .. } => String::new(),
        }
    }

    /// The code to answer with.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::Repeated { .. }
            | Self::Null { .. }
            | Self::NoGroupName
            | Self::UnknownOperation { .. } => KafkaCode::InvalidRequest,
            _ => KafkaCode::InvalidConfig,
        }
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let invalid = |f: &mut fmt::Formatter<'_>, name, value: &dyn fmt::Display| {
            write!(f, "Invalid value {value} for configuration {name}: ")
        };
        match self {
            Self::Unknown { name } => write!(f, "Unknown group config name: {name}"),
            Self::Invalid {
                name,
                value,
                reason,
            } => {
                invalid(f, *name, value)?;
                f.write_str(reason)
            }
            Self::OutOfBounds {
                name,
                value,
                min,
                max,
            } => {
                invalid(f, name, value)?;
                if value < min {
                    write!(f, "Value must be at least {min}")
                } else {
                    write!(f, "Value must be no more than {max}")
                }
            }
            Self::OutOfRange { name, min, max, .. } => {
                write!(f, "{name} must be in the range {min} to {max} inclusive.")
            }
            Self::InternalTopic { name, .. } => {
                write!(f, "{name}: DLQ topic name must not start with '__'")
            }
            Self::EmptyList { name } => write!(
                f,
                "Configuration '{name}' must not be empty. Valid values include: any non-empty value"
            ),
            Self::EmptyWord { name } => {
                write!(f, "Configuration '{name}' values must not be empty.")
            }
            Self::Order {
                name,
                relation,
                other,
                ..
            } => write!(f, "{name} must be {} {other}", relation.words()),
            Self::Repeated { .. } => f.write_str("Error due to duplicate config keys"),
            Self::NoGroupName => f.write_str("Default group resources are not allowed."),
            Self::Null { name } => write!(f, "Null value not supported for : {name}"),
            Self::NoList { name, operation } => write!(
                f,
                "Can't {operation} to key {name} because its type is not LIST."
            ),
            Self::UnknownOperation { name, operation } => {
                write!(f, "There is no operation {operation}, asked for {name}")
            }
        }
    }
}

impl core::error::Error for PropertyError {}
