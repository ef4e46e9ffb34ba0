//! The properties of a group as the configuration that its share partitions work with.

use super::{
    GROUP_PROPERTIES, GroupProperty, Properties, Property, PropertyError, Value, group, read_broker,
};
use crate::settings::limits::{
    AutoOffsetReset, DELIVERY_COUNT_LIMIT, GroupIntConfig, IsolationLevel,
    PARTITION_MAX_RECORD_LOCKS, RECORD_LOCK_DURATION_MS, ShareGroupConfig,
};

/// Names below `group.share.` that brokers have, or had, and that mean nothing here: Kafka's own classes, and what 4.0 had.
const OF_OTHER_BROKERS: [&str; 4] = [
    "group.share.dlq.manager.class.name",
    "group.share.enable",
    "group.share.max.groups",
    "group.share.persister.class.name",
];

/// The configuration in force for the share partitions of a group, and its dead-letter topic: what the group sets, clamped to what
/// the broker allows now, or else the broker's, or else the default.
///
/// # Errors
/// The first property of either that cannot be used: a name that a share group or a broker does not have, a text that is no value,
/// or a least value of the broker above the greatest. What else a broker demands before it starts is left to `check_broker`.
pub fn share_group_config(
    set: &Properties,
    broker: &Properties,
) -> Result<(ShareGroupConfig, String), PropertyError> {
    group::check_names(set)?;
    check_broker_names(broker)?;
    read_broker(broker)?;
    // Those too that matter to the group alone: what cannot be read is told here, and not where it is used.
    for known in &GROUP_PROPERTIES {
        if let Some(text) = set.get(known.property.name) {
            known.property.parse(text)?;
        }
    }
    let value = |name: &'static str| GroupProperty::find(name)?.effective(set, broker);
    let text = |name| {
        value(name).map(|value| match value {
            Value::Text(text) => text,
            Value::Int(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
        })
    };
    let reset = text("share.auto.offset.reset")?;
    let isolation = text("share.isolation.level")?;
    let dead_letters = text("errors.deadletterqueue.topic.name")?;
    let config = ShareGroupConfig {
        partition_max_record_locks: number(PARTITION_MAX_RECORD_LOCKS, value)?,
        delivery_count_limit: number(DELIVERY_COUNT_LIMIT, value)?,
        record_lock_duration_ms: number(RECORD_LOCK_DURATION_MS, value)?,
        renew_acknowledge_enable: value("share.renew.acknowledge.enable")? == Value::Boolean(true),
        auto_offset_reset: AutoOffsetReset::parse(&reset)
            .ok_or_else(|| PropertyError::no_offset_reset("share.auto.offset.reset", &reset))?,
        isolation_level: if isolation == "read_committed" {
            IsolationLevel::ReadCommitted
        } else {
            IsolationLevel::ReadUncommitted
        },
        dead_letter_queue: !dead_letters.is_empty(),
        ..ShareGroupConfig::default()
    };
    Ok((config, dead_letters))
}

/// Refuses a name that only a mistake explains: one below `group.share.` that no broker has, or that of a group's property.
fn check_broker_names(broker: &Properties) -> Result<(), PropertyError> {
    super::first_unknown(broker, |name| {
        let known = Property::find(name).is_some_and(|_| GroupProperty::find(name).is_err());
        let is_ours = name.starts_with("group.share.") || GroupProperty::find(name).is_ok();
        !is_ours || known || OF_OTHER_BROKERS.contains(&name)
    })
}

/// A number in force, in the width that the engine keeps it in.
fn number<N: TryFrom<i64>>(
    config: GroupIntConfig,
    value: impl Fn(&'static str) -> Result<Value, PropertyError>,
) -> Result<N, PropertyError> {
    let name = config.group.name;
    let found = value(name)?;
    let narrow = match found {
        Value::Int(number) => N::try_from(number).ok(),
        Value::Boolean(_) | Value::Text(_) => None,
    };
    narrow.ok_or_else(|| PropertyError::not_a_number(name, &format!("{found:?}")))
}
