//! Properties of a group, and the values that they fall back on.

use super::broker;
use super::{Properties, Property, PropertyError, Rule};
use crate::settings::limits::{
    ASSIGNMENT_INTERVAL_MS, DELIVERY_COUNT_LIMIT, GroupIntConfig, HEARTBEAT_INTERVAL_MS,
    PARTITION_MAX_RECORD_LOCKS, RECORD_LOCK_DURATION_MS, SESSION_TIMEOUT_MS,
};

/// Value that a group property falls back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Its own default.
    Own,
    /// A broker property.
    Broker(&'static str),
    /// A broker property, and two more bound what a group may set.
    Bounded(GroupIntConfig),
}

/// A property that a group may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupProperty {
    /// The property.
    pub property: Property,
    /// Value that it falls back on.
    pub fallback: Fallback,
}

/// A value in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A truth value.
    Boolean(bool),
    /// Anything else.
    Text(String),
}

/// Every property that a group may set, those of consumer and streams groups aside.
pub static GROUP_PROPERTIES: [GroupProperty; 12] = [
    bounded(
        SESSION_TIMEOUT_MS,
        "How long a member may be silent before the group goes on without it, in ms.",
    ),
    bounded(
        HEARTBEAT_INTERVAL_MS,
        "How often members are told to send a heartbeat, in ms.",
    ),
    bounded(
        RECORD_LOCK_DURATION_MS,
        "How long a member may hold a record that it has neither acknowledged nor renewed, in ms.",
    ),
    bounded(
        DELIVERY_COUNT_LIMIT,
        "How often a record is delivered before it is given up.",
    ),
    bounded(
        PARTITION_MAX_RECORD_LOCKS,
        "How far deliveries may run ahead of the first outstanding record of a share partition, in offsets.",
    ),
    bounded(
        ASSIGNMENT_INTERVAL_MS,
        "How much time passes at least between two assignments of the group, in ms.",
    ),
    own(
        "share.auto.offset.reset",
        Rule::OffsetReset,
        "latest",
        "Where a share partition without a start offset begins: earliest, latest, or by_duration:PnDTnHnMn.nS before now.",
    ),
    own(
        "share.isolation.level",
        Rule::OneOf(&["read_committed", "read_uncommitted"]),
        "read_uncommitted",
        "Whether records of open and aborted transactions are delivered (read_uncommitted) or not (read_committed).",
    ),
    own(
        "share.renew.acknowledge.enable",
        Rule::Boolean,
        "true",
        "Whether members may renew their hold on a record.",
    ),
    own(
        "errors.deadletterqueue.topic.name",
        Rule::DeadLetterTopic,
        "",
        "The topic for records that are given up or rejected; none when empty.",
    ),
    own(
        "errors.deadletterqueue.copy.record.enable",
        Rule::Boolean,
        "false",
        "Whether the dead-letter topic gets the record itself, or only where it lies and why it was given up.",
    ),
    GroupProperty {
        property: Property::text(
            "share.assignor.offload.enable",
            Rule::Boolean,
            "true",
            "Whether assignments are computed apart from the handling of requests.",
        )
        .internal(),
        fallback: Fallback::Broker(broker::ASSIGNOR_OFFLOAD_ENABLE),
    },
];

const fn bounded(config: GroupIntConfig, documentation: &'static str) -> GroupProperty {
    GroupProperty {
        property: Property::int(config.group, documentation),
        fallback: Fallback::Bounded(config),
    }
}

const fn own(
    name: &'static str,
    rule: Rule,
    default: &'static str,
    documentation: &'static str,
) -> GroupProperty {
    GroupProperty {
        property: Property::text(name, rule, default, documentation),
        fallback: Fallback::Own,
    }
}

impl GroupProperty {
    /// The property of this name.
    ///
    /// # Errors
    /// [`PropertyError::Unknown`].
    pub fn find(name: &str) -> Result<&'static Self, PropertyError> {
        GROUP_PROPERTIES
            .iter()
            .find(|group| group.property.name == name)
            .ok_or_else(|| PropertyError::Unknown {
                name: name.to_owned(),
            })
    }

    /// Name of the broker property behind it.
    #[must_use]
    pub const fn broker_name(&self) -> Option<&'static str> {
        match self.fallback {
            Fallback::Own => None,
            Fallback::Broker(name) => Some(name),
            Fallback::Bounded(config) => Some(config.broker.name),
        }
    }

    /// Checks that a group may set this value now; `broker` holds the broker's properties, and what it lacks has
    /// Kafka's default.
    ///
    /// # Errors
    /// The value is none of this property or outside what the broker allows, or a broker property is wrong itself.
    pub fn check(&self, text: &str, broker: &Properties) -> Result<(), PropertyError> {
        let Fallback::Bounded(config) = self.fallback else {
            return self.property.parse(text).map(|_| ());
        };
        let value = super::number(config.group, text)?;
        let (min, max) = (
            broker::number(config.broker_min, broker)?,
            broker::number(config.broker_max, broker)?,
        );
        if value < min || value > max {
            let name = self.property.name;
            return Err(PropertyError::OutOfRange {
                name,
                value,
                min,
                max,
            });
        }
        Ok(())
    }

    /// The value in force: the group's, clamped to what the broker allows now, or else the broker's, or else the default.
    ///
    /// # Errors
    /// A value that is none of its property.
    pub fn effective(
        &self,
        group: &Properties,
        broker: &Properties,
    ) -> Result<Value, PropertyError> {
        let set = group.get(self.property.name);
        if let Fallback::Bounded(config) = self.fallback {
            let Some(set) = set else {
                return broker::number(config.broker, broker).map(Value::Int);
            };
            let set = super::number(config.group, set)?;
            let (min, max) = (
                broker::number(config.broker_min, broker)?,
                broker::number(config.broker_max, broker)?,
            );
            // A minimum above the maximum is no configuration of a broker; then the maximum holds.
            return Ok(Value::Int(set.max(min).min(max)));
        }
        let text = match (set, self.broker_name()) {
            (Some(set), _) => self.property.parse(set)?,
            (None, Some(name)) => broker::value(name, broker)?,
            (None, None) => self.property.default(),
        };
        Ok(match self.property.rule {
            Rule::Boolean => Value::Boolean(text == "true"),
            _ => Value::Text(text),
        })
    }
}

/// Refuses a name that only a mistake explains: one below `share.`, `errors.deadletterqueue.` or `group.share.` that no group has.
/// Properties of other kinds of groups are passed over.
pub(super) fn check_names(group: &Properties) -> Result<(), PropertyError> {
    let ours = ["share.", "errors.deadletterqueue.", "group.share."];
    super::first_unknown(group, |name| {
        GroupProperty::find(name).is_ok() || !ours.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// Checks that a group may have all of these properties now. Names that are no properties are passed over: a newer
/// version may have stored them.
///
/// # Errors
/// The first value that is not allowed, in the order of [`GROUP_PROPERTIES`].
pub fn check_group(group: &Properties, broker: &Properties) -> Result<(), PropertyError> {
    for known in &GROUP_PROPERTIES {
        if let Some(text) = group.get(known.property.name) {
            known.check(text, broker)?;
        }
    }
    Ok(())
}
