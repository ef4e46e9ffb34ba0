//! Every property of share groups as its text: name, type, default, bounds, documentation.
//!
//! A *broker property* is set for all groups (`GroupCoordinatorConfig`, `ShareGroupConfig`, `ShareGroupDLQConfig` of Kafka); a
//! *group property* is set for one, dynamically (`GroupConfig`). Most group properties fall back on a broker property, and many
//! are bounded by two more (KIP-1240). Texts and messages are those of Kafka 4.4.0's answers, as tools show them to people; the
//! documentation of each property is our own.

mod alter;
mod broker;
mod entries;
mod error;
mod group;
mod share_partition;

use std::collections::HashMap;

pub use alter::{AlterOperation, Alteration, alter_group};
pub use broker::{BROKER_PROPERTIES, check_broker, read_broker};
pub use entries::{ConfigEntry, ConfigSource, broker_entries, group_entries};
pub use error::PropertyError;
pub use group::{Fallback, GROUP_PROPERTIES, GroupProperty, Value, check_group};
pub use share_partition::share_group_config;

use crate::settings::limits::{AutoOffsetReset, IntConfig};

/// Properties by name.
pub type Properties = HashMap<String, String>;

/// Rule for the values of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A whole number within bounds.
    Int {
        /// Smallest legal value.
        min: i64,
        /// Greatest legal value.
        max: i64,
    },
    /// `true` or `false`.
    Boolean,
    /// Any text.
    Text,
    /// Any of these words.
    OneOf(&'static [&'static str]),
    /// Every text that [`AutoOffsetReset::parse`] takes.
    OffsetReset,
    /// Name of a dead-letter topic (KIP-1191): empty for none, and no internal topic.
    DeadLetterTopic,
    /// Names of assignors; `simple` is the only one there is.
    Assignors,
}

/// Property of a group or of the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    /// Kafka's name.
    pub name: &'static str,
    /// Rule for its values.
    pub rule: Rule,
    /// Its value when nothing is set. That of a whole number is in `int_default`.
    default: Default,
    /// Set if it is shown only where it is set (Kafka: `defineInternal`).
    pub internal: bool,
    /// Effect of the property, in a line.
    pub documentation: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Default {
    Int(i64),
    Text(&'static str),
}

impl Rule {
    /// Form that a value has to have, for people.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Int { min, max } => format!("a whole number, {min} to {max}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::OneOf(words) => words.join(" or "),
            Self::OffsetReset => "latest, earliest or by_duration:PnDTnHnMn.nS".to_owned(),
            Self::DeadLetterTopic => {
                "a topic whose name does not begin with __, or nothing".to_owned()
            }
            Self::Assignors => "simple".to_owned(),
        }
    }
}

impl Property {
    /// The property of this name, of a group or of a broker.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        GROUP_PROPERTIES
            .iter()
            .map(|group| &group.property)
            .chain(&BROKER_PROPERTIES)
            .find(|known| known.name == name)
    }

    const fn int(config: IntConfig, documentation: &'static str) -> Self {
        Self {
            name: config.name,
            rule: Rule::Int {
                min: config.min,
                max: config.max,
            },
            default: Default::Int(config.default),
            internal: false,
            documentation,
        }
    }

    const fn text(
        name: &'static str,
        rule: Rule,
        default: &'static str,
        documentation: &'static str,
    ) -> Self {
        Self {
            name,
            rule,
            default: Default::Text(default),
            internal: false,
            documentation,
        }
    }

    const fn internal(self) -> Self {
        Self {
            internal: true,
            ..self
        }
    }

    /// Its value when nothing is set.
    #[must_use]
    pub fn default(&self) -> String {
        match self.default {
            Default::Int(value) => value.to_string(),
            Default::Text(value) => value.to_owned(),
        }
    }

    /// Number of its type in an answer to DescribeConfigs (`DescribeConfigsResponse.ConfigType`).
    #[must_use]
    pub const fn config_type(&self) -> i8 {
        match self.rule {
            Rule::Boolean => 1,
            Rule::Text | Rule::OneOf(_) | Rule::OffsetReset | Rule::DeadLetterTopic => 2,
            Rule::Int { .. } => 3,
            Rule::Assignors => 7,
        }
    }

    /// Reads a value and returns it as Kafka shows it: without spaces around it, a number without sign and leading zeros, a truth
    /// value in small letters.
    ///
    /// # Errors
    /// The value is none of this property.
    pub fn parse(&self, text: &str) -> Result<String, PropertyError> {
        let (name, value) = (self.name, text);
        // As `String.trim`: everything up to the space, control characters too.
        let trimmed = text.trim_matches(|c| c <= ' ');
        match self.rule {
            Rule::Int { min, max } => {
                let value = trimmed
                    .parse::<i32>()
                    .map(i64::from)
                    .map_err(|_| PropertyError::not_a_number(name, value))?;
                if value < min || value > max {
                    return Err(PropertyError::OutOfBounds {
                        name,
                        value,
                        min,
                        max,
                    });
                }
                Ok(value.to_string())
            }
            Rule::Boolean => ["true", "false"]
                .into_iter()
                .find(|word| trimmed.eq_ignore_ascii_case(word))
                .map(str::to_owned)
                .ok_or_else(|| PropertyError::not_a_truth_value(name, value)),
            Rule::OneOf(words) if !words.contains(&trimmed) => {
                Err(PropertyError::not_one_of(name, trimmed, words))
            }
            Rule::OffsetReset if AutoOffsetReset::parse(trimmed).is_none() => {
                Err(PropertyError::no_offset_reset(name, trimmed))
            }
            Rule::DeadLetterTopic if trimmed.starts_with("__") => {
                Err(PropertyError::InternalTopic {
                    name,
                    value: trimmed.to_owned(),
                })
            }
            Rule::Assignors => assignors(name, trimmed),
            Rule::Text | Rule::OneOf(_) | Rule::OffsetReset | Rule::DeadLetterTopic => {
                Ok(trimmed.to_owned())
            }
        }
    }
}

/// Refuses the first name, in order, that is not known.
fn first_unknown(
    properties: &Properties,
    is_known: impl Fn(&str) -> bool,
) -> Result<(), PropertyError> {
    let unknown = properties.keys().filter(|name| !is_known(name)).min();
    unknown.map_or(Ok(()), |name| {
        Err(PropertyError::Unknown { name: name.clone() })
    })
}

/// A number of a property, by the one reading of its text.
pub(crate) fn number(config: IntConfig, text: &str) -> Result<i64, PropertyError> {
    let shown = Property::int(config, "").parse(text)?;
    shown
        .parse()
        .map_err(|_| PropertyError::not_a_number(config.name, text))
}

/// A list of assignors, each named once.
fn assignors(name: &'static str, text: &str) -> Result<String, PropertyError> {
    if text.is_empty() {
        return Err(PropertyError::EmptyList { name });
    }
    for word in text.split(',').map(str::trim) {
        match word {
            "simple" => {}
            "" => return Err(PropertyError::EmptyWord { name }),
            other => return Err(PropertyError::no_assignor(name, other)),
        }
    }
    Ok("simple".to_owned())
}

#[cfg(test)]
mod tests;
