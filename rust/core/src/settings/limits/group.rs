//! Settings of a group, and the broker properties that bound them.

use super::int::{ConfigError, IntConfig, int};

/// Group property with the three broker properties that give its default and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupIntConfig {
    /// Setting of the group; the bounds here are Kafka's own, before the broker's.
    pub group: IntConfig,
    /// The broker's value for groups that set none.
    pub broker: IntConfig,
    /// The least that a group may set.
    pub broker_min: IntConfig,
    /// The most that a group may set.
    pub broker_max: IntConfig,
}

/// `share.partition.max.record.locks`: how far the window may reach, in offsets.
pub const PARTITION_MAX_RECORD_LOCKS: GroupIntConfig = GroupIntConfig {
    group: int(
        "share.partition.max.record.locks",
        2_000,
        100,
        i32::MAX as i64,
    ),
    broker: int("group.share.partition.max.record.locks", 2_000, 100, 10_000),
    broker_min: int(
        "group.share.min.partition.max.record.locks",
        100,
        100,
        2_000,
    ),
    broker_max: int(
        "group.share.max.partition.max.record.locks",
        4_000,
        2_000,
        10_000,
    ),
};

/// `share.delivery.count.limit`: how often a record is delivered at most.
pub const DELIVERY_COUNT_LIMIT: GroupIntConfig = GroupIntConfig {
    group: int("share.delivery.count.limit", 5, 2, i32::MAX as i64),
    broker: int("group.share.delivery.count.limit", 5, 2, 10),
    broker_min: int("group.share.min.delivery.count.limit", 2, 2, 5),
    broker_max: int("group.share.max.delivery.count.limit", 10, 5, 25),
};

/// `share.record.lock.duration.ms`: how long a member may hold a record.
pub const RECORD_LOCK_DURATION_MS: GroupIntConfig = GroupIntConfig {
    group: int(
        "share.record.lock.duration.ms",
        30_000,
        1_000,
        i32::MAX as i64,
    ),
    broker: int(
        "group.share.record.lock.duration.ms",
        30_000,
        1_000,
        3_600_000,
    ),
    broker_min: int(
        "group.share.min.record.lock.duration.ms",
        15_000,
        1_000,
        30_000,
    ),
    broker_max: int(
        "group.share.max.record.lock.duration.ms",
        60_000,
        30_000,
        3_600_000,
    ),
};

/// `share.session.timeout.ms`: how long a member may be silent before it is out of the group.
pub const SESSION_TIMEOUT_MS: GroupIntConfig = GroupIntConfig {
    group: int("share.session.timeout.ms", 45_000, 1, i32::MAX as i64),
    broker: int("group.share.session.timeout.ms", 45_000, 1, i32::MAX as i64),
    broker_min: int(
        "group.share.min.session.timeout.ms",
        45_000,
        1,
        i32::MAX as i64,
    ),
    broker_max: int(
        "group.share.max.session.timeout.ms",
        60_000,
        1,
        i32::MAX as i64,
    ),
};

/// `share.heartbeat.interval.ms`: how often a member is told to be heard.
pub const HEARTBEAT_INTERVAL_MS: GroupIntConfig = GroupIntConfig {
    group: int("share.heartbeat.interval.ms", 5_000, 1, i32::MAX as i64),
    broker: int(
        "group.share.heartbeat.interval.ms",
        5_000,
        1,
        i32::MAX as i64,
    ),
    broker_min: int(
        "group.share.min.heartbeat.interval.ms",
        5_000,
        1,
        i32::MAX as i64,
    ),
    broker_max: int(
        "group.share.max.heartbeat.interval.ms",
        15_000,
        1,
        i32::MAX as i64,
    ),
};

/// `share.assignment.interval.ms`: least time between two target assignments of a group (KIP-1263).
pub const ASSIGNMENT_INTERVAL_MS: GroupIntConfig = GroupIntConfig {
    group: int("share.assignment.interval.ms", 1_000, 0, i32::MAX as i64),
    broker: int(
        "group.share.assignment.interval.ms",
        1_000,
        0,
        i32::MAX as i64,
    ),
    broker_min: int(
        "group.share.min.assignment.interval.ms",
        0,
        0,
        i32::MAX as i64,
    ),
    broker_max: int(
        "group.share.max.assignment.interval.ms",
        15_000,
        0,
        i32::MAX as i64,
    ),
};

/// `group.share.max.size`: members that a group has room for; a broker's property that no group may set.
pub const MAX_SIZE: IntConfig = int("group.share.max.size", 200, 1, 1_000);

/// Every whole-number property that a group may set.
pub const GROUP_INT_CONFIGS: [GroupIntConfig; 6] = [
    PARTITION_MAX_RECORD_LOCKS,
    DELIVERY_COUNT_LIMIT,
    RECORD_LOCK_DURATION_MS,
    SESSION_TIMEOUT_MS,
    HEARTBEAT_INTERVAL_MS,
    ASSIGNMENT_INTERVAL_MS,
];

impl GroupIntConfig {
    /// The value in force: the group's, clamped to what the broker allows now, or else the broker's.
    ///
    /// `broker` gives the broker's properties by name; what it lacks has Kafka's default.
    ///
    /// # Errors
    /// A property outside its own bounds, or a broker minimum above its maximum.
    pub fn resolve(
        self,
        group: Option<i64>,
        broker: impl Fn(&str) -> Option<i64>,
    ) -> Result<i64, ConfigError> {
        let of = |c: IntConfig| c.check(broker(c.name).unwrap_or(c.default));
        let (value, min, max) = (of(self.broker)?, of(self.broker_min)?, of(self.broker_max)?);
        if min > max {
            return Err(ConfigError {
                name: self.broker_min.name,
                value: min,
                min: self.broker_min.min,
                max,
            });
        }
        match group {
            None => Ok(value),
            Some(set) => Ok(self.group.check(set)?.clamp(min, max)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_value_is_clamped_to_what_the_broker_allows_now() {
        let none = |_: &str| None;
        assert_eq!(RECORD_LOCK_DURATION_MS.resolve(None, none), Ok(30_000));
        assert_eq!(
            RECORD_LOCK_DURATION_MS.resolve(Some(2_000), none),
            Ok(15_000)
        );
        assert_eq!(
            RECORD_LOCK_DURATION_MS.resolve(Some(90_000), none),
            Ok(60_000)
        );
        let low = |name: &str| (name == "group.share.min.record.lock.duration.ms").then_some(1_000);
        assert_eq!(RECORD_LOCK_DURATION_MS.resolve(Some(2_000), low), Ok(2_000));
        assert_eq!(DELIVERY_COUNT_LIMIT.resolve(Some(25), none), Ok(10));
        assert_eq!(
            PARTITION_MAX_RECORD_LOCKS.resolve(Some(9_999), none),
            Ok(4_000)
        );
    }

    #[test]
    fn a_value_outside_its_own_bounds_is_refused_by_name() {
        let error = RECORD_LOCK_DURATION_MS
            .resolve(Some(999), |_| None)
            .unwrap_err();
        assert_eq!(
            (error.name, error.value, error.min),
            ("share.record.lock.duration.ms", 999, 1_000)
        );
        let broker = |name: &str| (name == "group.share.delivery.count.limit").then_some(11);
        assert_eq!(
            DELIVERY_COUNT_LIMIT.resolve(None, broker).unwrap_err().max,
            10
        );
    }

    #[test]
    fn every_default_lies_within_its_bounds() {
        for config in GROUP_INT_CONFIGS {
            for c in [
                config.group,
                config.broker,
                config.broker_min,
                config.broker_max,
            ] {
                assert_eq!(c.check(c.default), Ok(c.default), "{}", c.name);
            }
        }
    }
}
