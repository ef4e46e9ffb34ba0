//! Settings of the groups (Kafka: `GroupCoordinatorConfig`, `GroupConfig`).

use std::collections::BTreeMap;

use crate::settings::limits::{
    ASSIGNMENT_INTERVAL_MS, ConfigError, GroupIntConfig, HEARTBEAT_INTERVAL_MS, MAX_SIZE,
    SESSION_TIMEOUT_MS,
};
use crate::settings::properties::{Properties, PropertyError, number};

/// Whole numbers by Kafka's name of the property; names that nobody asks for are passed over.
pub type Numbers = BTreeMap<String, i64>;

/// The properties that groups can set and that matter here.
const GROUP_PROPERTIES: [GroupIntConfig; 3] = [
    SESSION_TIMEOUT_MS,
    HEARTBEAT_INTERVAL_MS,
    ASSIGNMENT_INTERVAL_MS,
];

/// The numbers of properties, of a group or of the broker, that matter here; the others are passed over.
///
/// # Errors
/// The first text that is no number of its property.
pub fn numbers(texts: &Properties) -> Result<Numbers, PropertyError> {
    let known = GROUP_PROPERTIES.iter().flat_map(|config| {
        [
            config.group,
            config.broker,
            config.broker_min,
            config.broker_max,
        ]
    });
    let set = known
        .chain([MAX_SIZE])
        .filter_map(|config| Some((config, texts.get(config.name)?)));
    set.map(|(config, text)| Ok((config.name.to_owned(), number(config, text)?)))
        .collect()
}

/// The broker's properties, from which those of a group follow.
#[derive(Clone, Debug, Default)]
pub(super) struct BrokerConfig {
    numbers: Numbers,
}

/// Settings in force for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// `share.session.timeout.ms`.
    pub session_timeout_ms: i64,
    /// `share.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i64,
    /// `share.assignment.interval.ms`.
    pub assignment_interval_ms: i64,
}

impl BrokerConfig {
    pub const fn new(numbers: Numbers) -> Self {
        Self { numbers }
    }

    /// `group.share.max.size`.
    pub fn max_size(&self) -> Result<i64, ConfigError> {
        MAX_SIZE.check(self.get(MAX_SIZE.name).unwrap_or(MAX_SIZE.default))
    }

    /// Returns the settings in force for a group that sets `group`, clamped to what the broker allows.
    pub fn settings(&self, group: &Numbers) -> Result<GroupSettings, ConfigError> {
        let resolve = |config: GroupIntConfig| {
            config.resolve(group.get(config.group.name).copied(), |name| self.get(name))
        };
        Ok(GroupSettings {
            session_timeout_ms: resolve(SESSION_TIMEOUT_MS)?,
            heartbeat_interval_ms: resolve(HEARTBEAT_INTERVAL_MS)?,
            assignment_interval_ms: resolve(ASSIGNMENT_INTERVAL_MS)?,
        })
    }

    fn get(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).copied()
    }
}
