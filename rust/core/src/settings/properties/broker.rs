//! Properties of the broker, which hold for all groups.

use super::error::Relation;
use super::{Properties, Property, PropertyError, Rule};
use crate::settings::limits::{
    ASSIGNMENT_INTERVAL_MS, DELIVERY_COUNT_LIMIT, GROUP_INT_CONFIGS, HEARTBEAT_INTERVAL_MS,
    IntConfig, MAX_SIZE, PARTITION_MAX_RECORD_LOCKS, RECORD_LOCK_DURATION_MS, SESSION_TIMEOUT_MS,
    int,
};

pub(super) const ASSIGNOR_OFFLOAD_ENABLE: &str = "group.share.assignor.offload.enable";

const MAX_SHARE_SESSIONS: IntConfig =
    int("group.share.max.share.sessions", 2_000, 1, i32::MAX as i64);
const INITIALIZE_RETRY_INTERVAL_MS: IntConfig = int(
    "group.share.initialize.retry.interval.ms",
    30_000,
    1,
    i32::MAX as i64,
);
const PURGE_INTERVAL_REQUESTS: IntConfig = int(
    "share.fetch.purgatory.purge.interval.requests",
    1_000,
    i32::MIN as i64,
    i32::MAX as i64,
);

/// Every property of share groups that a broker has; what names one of Kafka's own classes is left out.
pub static BROKER_PROPERTIES: [Property; 26] = [
    Property::int(
        SESSION_TIMEOUT_MS.broker,
        "How long a member may be silent before its group goes on without it, in ms.",
    ),
    Property::int(
        SESSION_TIMEOUT_MS.broker_min,
        "The shortest session timeout that a group may set, in ms.",
    ),
    Property::int(
        SESSION_TIMEOUT_MS.broker_max,
        "The longest session timeout that a group may set, in ms.",
    ),
    Property::int(
        HEARTBEAT_INTERVAL_MS.broker,
        "How often members are told to send a heartbeat, in ms.",
    ),
    Property::int(
        HEARTBEAT_INTERVAL_MS.broker_min,
        "The shortest heartbeat interval that a group may set, in ms.",
    ),
    Property::int(
        HEARTBEAT_INTERVAL_MS.broker_max,
        "The longest heartbeat interval that a group may set, in ms.",
    ),
    Property::int(
        RECORD_LOCK_DURATION_MS.broker,
        "How long a member may hold a record that it has neither acknowledged nor renewed, in ms.",
    ),
    Property::int(
        RECORD_LOCK_DURATION_MS.broker_min,
        "The shortest lock duration that a group may set, in ms.",
    ),
    Property::int(
        RECORD_LOCK_DURATION_MS.broker_max,
        "The longest lock duration that a group may set, in ms.",
    ),
    Property::int(
        DELIVERY_COUNT_LIMIT.broker,
        "How often a record is delivered before it is given up.",
    ),
    Property::int(
        DELIVERY_COUNT_LIMIT.broker_min,
        "The least delivery count limit that a group may set.",
    ),
    Property::int(
        DELIVERY_COUNT_LIMIT.broker_max,
        "The greatest delivery count limit that a group may set.",
    ),
    Property::int(
        PARTITION_MAX_RECORD_LOCKS.broker,
        "How far deliveries may run ahead of the first outstanding record of a share partition, in offsets.",
    ),
    Property::int(
        PARTITION_MAX_RECORD_LOCKS.broker_min,
        "The least limit of record locks that a group may set.",
    ),
    Property::int(
        PARTITION_MAX_RECORD_LOCKS.broker_max,
        "The greatest limit of record locks that a group may set.",
    ),
    Property::int(
        ASSIGNMENT_INTERVAL_MS.broker,
        "How much time passes at least between two assignments of a group, in ms.",
    ),
    Property::int(
        ASSIGNMENT_INTERVAL_MS.broker_min,
        "The shortest assignment interval that a group may set, in ms.",
    ),
    Property::int(
        ASSIGNMENT_INTERVAL_MS.broker_max,
        "The longest assignment interval that a group may set, in ms.",
    ),
    Property::int(MAX_SIZE, "How many members a group may have."),
    Property::int(
        MAX_SHARE_SESSIONS,
        "How many share sessions there may be at once.",
    ),
    Property::text(
        "group.share.assignors",
        Rule::Assignors,
        "simple",
        "The assignor of all groups; simple is the only one.",
    ),
    Property::int(
        PURGE_INTERVAL_REQUESTS,
        "After how many completed requests the waiting share fetches are cleared of them.",
    ),
    Property::text(
        "errors.deadletterqueue.auto.create.topics.enable",
        Rule::Boolean,
        "false",
        "Whether the dead-letter topic of a group is created when it does not exist.",
    ),
    Property::text(
        "errors.deadletterqueue.topic.name.prefix",
        Rule::Text,
        "dlq.",
        "How the name of a dead-letter topic has to begin; empty for any name.",
    ),
    Property::int(
        INITIALIZE_RETRY_INTERVAL_MS,
        "How long the initialisation of a share partition that got no answer is waited for, in ms.",
    )
    .internal(),
    Property::text(
        ASSIGNOR_OFFLOAD_ENABLE,
        Rule::Boolean,
        "true",
        "Whether assignments are computed apart from the handling of requests.",
    )
    .internal(),
];

/// Checks a broker's properties: each by itself, and that no least value is above the greatest. Returns the names that are no
/// properties of share groups, in order; Kafka passes over such.
///
/// # Errors
/// The first property at fault.
pub fn read_broker(broker: &Properties) -> Result<Vec<&str>, PropertyError> {
    for property in &BROKER_PROPERTIES {
        if let Some(text) = broker.get(property.name) {
            property.parse(text)?;
        }
    }
    for config in GROUP_INT_CONFIGS {
        at_least(config.broker_max, config.broker_min, broker)?;
    }
    let known = |name: &str| BROKER_PROPERTIES.iter().any(|known| known.name == name);
    let mut unknown: Vec<&str> = broker
        .keys()
        .map(String::as_str)
        .filter(|name| !known(name))
        .collect();
    unknown.sort_unstable();
    Ok(unknown)
}

/// As [`read_broker`], and holds the properties to what a broker demands of them together before it starts
/// (`GroupCoordinatorConfig.validate`, `ShareGroupConfig.validate`).
///
/// # Errors
/// The first property at fault.
pub fn check_broker(broker: &Properties) -> Result<Vec<&str>, PropertyError> {
    let unknown = read_broker(broker)?;
    for config in GROUP_INT_CONFIGS {
        at_least(config.broker, config.broker_min, broker)?;
        if config.broker.max < i64::from(i32::MAX) {
            at_least(config.broker_max, config.broker, broker)?;
        } else {
            order(config.broker, Relation::AtMost, config.broker_max, broker)?;
        }
    }
    order(
        HEARTBEAT_INTERVAL_MS.broker,
        Relation::Below,
        SESSION_TIMEOUT_MS.broker,
        broker,
    )?;
    at_least(MAX_SHARE_SESSIONS, MAX_SIZE, broker)?;
    Ok(unknown)
}

fn at_least(config: IntConfig, other: IntConfig, broker: &Properties) -> Result<(), PropertyError> {
    order(config, Relation::AtLeast, other, broker)
}

fn order(
    config: IntConfig,
    relation: Relation,
    other: IntConfig,
    broker: &Properties,
) -> Result<(), PropertyError> {
    let (value, bound) = (number(config, broker)?, number(other, broker)?);
    let holds = match relation {
        Relation::AtLeast => value >= bound,
        Relation::AtMost => value <= bound,
        Relation::Below => value < bound,
    };
    if holds {
        return Ok(());
    }
    Err(PropertyError::Order {
        name: config.name,
        value,
        relation,
        other: other.name,
    })
}

/// A broker's number: what it sets, or Kafka's default.
pub(super) fn number(config: IntConfig, broker: &Properties) -> Result<i64, PropertyError> {
    broker
        .get(config.name)
        .map_or(Ok(config.default), |text| super::number(config, text))
}

/// A broker's value as Kafka shows it: what it sets, or the default.
pub(super) fn value(name: &'static str, broker: &Properties) -> Result<String, PropertyError> {
    let Some(property) = BROKER_PROPERTIES.iter().find(|known| known.name == name) else {
        return Ok(String::new());
    };
    match broker.get(name) {
        Some(text) => property.parse(text),
        None => Ok(property.default()),
    }
}
