//! Properties as DescribeConfigs shows them.

use super::{BROKER_PROPERTIES, GROUP_PROPERTIES, GroupProperty, Properties, Property};

/// Source of a value (`DescribeConfigsResponse.ConfigSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigSource {
    /// The broker's property file.
    StaticBroker = 4,
    /// Nothing is set.
    Default = 5,
    /// The group has set it.
    Group = 8,
}

impl ConfigSource {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> i8 {
        self as i8
    }
}

/// A property with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// The property.
    pub property: Property,
    /// Its value, which of a group's properties is the one that the group has set: what is in force may be clamped.
    pub value: String,
    /// Source of the value.
    pub source: ConfigSource,
    /// The values that it would fall back on in turn, itself first: name, value, source.
    pub synonyms: Vec<(&'static str, String, ConfigSource)>,
}

impl ConfigEntry {
    /// The first of the synonyms is what holds. `None` if there is none, or if nobody has set what is internal.
    fn of(property: Property, synonyms: Vec<(&'static str, String, ConfigSource)>) -> Option<Self> {
        let (_, value, source) = synonyms.first()?;
        if property.internal && *source == ConfigSource::Default {
            return None;
        }
        Some(Self {
            property,
            value: value.clone(),
            source: *source,
            synonyms,
        })
    }
}

/// The properties of a group, in the order of [`GROUP_PROPERTIES`]. A text that is no value is shown as it is.
///
/// `defaults` are what this server has for groups that set nothing, by the names of a group's properties: instead of the broker's
/// property, and of Kafka's default where the broker has none.
#[must_use]
pub fn group_entries(
    group: &Properties,
    broker: &Properties,
    defaults: &Properties,
) -> Vec<ConfigEntry> {
    let entry = |known: &GroupProperty| {
        let property = known.property;
        let mut synonyms = Vec::new();
        if let Some(text) = group.get(property.name) {
            synonyms.push((property.name, shown(&property, text), ConfigSource::Group));
        }
        let beyond = known
            .broker_name()
            .and_then(|name| BROKER_PROPERTIES.iter().find(|known| known.name == name));
        let own = defaults.get(property.name);
        synonyms.extend(match beyond {
            Some(beyond) => broker_synonyms(beyond, own.or_else(|| broker.get(beyond.name))),
            None => {
                let value = own.map_or_else(|| property.default(), |text| shown(&property, text));
                vec![(property.name, value, ConfigSource::Default)]
            }
        });
        ConfigEntry::of(property, synonyms)
    };
    GROUP_PROPERTIES.iter().filter_map(entry).collect()
}

/// The properties of the broker, in the order of [`BROKER_PROPERTIES`]. A text that is no value is shown as it is.
#[must_use]
pub fn broker_entries(broker: &Properties) -> Vec<ConfigEntry> {
    let entry = |property: &Property| {
        ConfigEntry::of(
            *property,
            broker_synonyms(property, broker.get(property.name)),
        )
    };
    BROKER_PROPERTIES.iter().filter_map(entry).collect()
}

fn broker_synonyms(
    property: &Property,
    set: Option<&String>,
) -> Vec<(&'static str, String, ConfigSource)> {
    let set = set.map(|text| {
        (
            property.name,
            shown(property, text),
            ConfigSource::StaticBroker,
        )
    });
    let default = (property.name, property.default(), ConfigSource::Default);
    set.into_iter().chain([default]).collect()
}

fn shown(property: &Property, text: &str) -> String {
    property.parse(text).unwrap_or_else(|_| text.to_owned())
}
