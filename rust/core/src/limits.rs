//! Configuration of share groups under Kafka's names, with its bounds and defaults (`ShareGroupConfig`, `GroupConfig`;
//! KIP-932, KIP-1240).
//!
//! Kafka sets a value for the broker, bounds what a group may set (`group.share.min.…`, `group.share.max.…`), and clamps
//! a stored group value that later falls outside. [`GroupIntConfig::resolve`] does the same. The engine itself is content
//! with any sane [`ShareGroupConfig`]: simulators want windows that no broker allows.

/// A whole-number property of a broker or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntConfig {
    /// Kafka's name.
    pub name: &'static str,
    /// Value when nothing is set.
    pub default: i64,
    /// Smallest legal value.
    pub min: i64,
    /// Greatest legal value.
    pub max: i64,
}

const fn int(name: &'static str, default: i64, min: i64, max: i64) -> IntConfig {
    IntConfig {
        name,
        default,
        min,
        max,
    }
}

/// One group property and the three broker properties that stand behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupIntConfig {
    /// What a group may set; the bounds here are Kafka's own, before the broker's.
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

/// Every whole-number property that a group may set.
pub const GROUP_INT_CONFIGS: [GroupIntConfig; 3] = [
    PARTITION_MAX_RECORD_LOCKS,
    DELIVERY_COUNT_LIMIT,
    RECORD_LOCK_DURATION_MS,
];

/// `share.auto.offset.reset`: where a share partition without a start offset begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AutoOffsetReset {
    /// At the end of the partition (its high watermark).
    #[default]
    Latest,
    /// At the first offset of the log.
    Earliest,
    /// At the first record not older than this many milliseconds.
    ByDuration(i64),
}

impl AutoOffsetReset {
    /// Reads Kafka's text: `latest`, `earliest`, or `by_duration:` with an ISO 8601 duration of days, hours, minutes and
    /// seconds (`PnDTnHnMn.nS`), not negative.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "latest" => Some(Self::Latest),
            "earliest" => Some(Self::Earliest),
            _ => duration_ms(text.strip_prefix("by_duration:")?).map(Self::ByDuration),
        }
    }
}

impl core::fmt::Display for AutoOffsetReset {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Earliest => f.write_str("earliest"),
            Self::ByDuration(ms) => write!(f, "by_duration:PT{}.{:03}S", ms / 1_000, ms % 1_000),
        }
    }
}

/// Milliseconds of an ISO 8601 duration without sign, years, months or weeks. Each unit at most once, in order.
fn duration_ms(text: &str) -> Option<i64> {
    let (days, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((days, time)) if !time.is_empty() => (days, time),
        None => (text.strip_prefix('P')?, ""),
        Some(_) => return None,
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    for (part, units) in [
        (days, &[('D', 86_400_000)][..]),
        (time, &[('H', 3_600_000), ('M', 60_000), ('S', 1_000)][..]),
    ] {
        let mut rest = part;
        for (unit, ms) in units {
            let Some((amount, behind)) = rest.split_once(*unit) else {
                continue;
            };
            total = total.checked_add(amount_ms(amount, *ms)?)?;
            rest = behind;
        }
        if !rest.is_empty() {
            return None;
        }
    }
    Some(total)
}

fn amount_ms(amount: &str, unit_ms: i64) -> Option<i64> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty()
        || !digits(whole)
        || !digits(fraction)
        || (!fraction.is_empty() && unit_ms != 1_000)
    {
        return None;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    let fraction_ms: i64 = thousandths.parse().ok()?;
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(unit_ms)?
        .checked_add(fraction_ms)
}

/// `share.isolation.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IsolationLevel {
    /// Every record up to the high watermark.
    #[default]
    ReadUncommitted,
    /// Records of committed transactions, up to the last stable offset.
    ReadCommitted,
}

/// The configuration that a share partition works with. It may change at any time and counts from the next use on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareGroupConfig {
    /// `share.partition.max.record.locks`, in offsets from the start offset to the end of the window.
    pub partition_max_record_locks: u32,
    /// `share.delivery.count.limit`.
    pub delivery_count_limit: i16,
    /// `share.record.lock.duration.ms`.
    pub record_lock_duration_ms: i64,
    /// `share.renew.acknowledge.enable` (KIP-1222).
    pub renew_acknowledge_enable: bool,
    /// `share.auto.offset.reset`.
    pub auto_offset_reset: AutoOffsetReset,
    /// `share.isolation.level`.
    pub isolation_level: IsolationLevel,
    /// Whether `errors.deadletterqueue.topic.name` is set (KIP-1191).
    pub dead_letter_queue: bool,
}

impl Default for ShareGroupConfig {
    fn default() -> Self {
        Self {
            partition_max_record_locks: 2_000,
            delivery_count_limit: 5,
            record_lock_duration_ms: 30_000,
            renew_acknowledge_enable: true,
            auto_offset_reset: AutoOffsetReset::default(),
            isolation_level: IsolationLevel::default(),
            dead_letter_queue: false,
        }
    }
}

/// A configuration value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Kafka's name of the property.
    pub name: &'static str,
    /// The value given.
    pub value: i64,
    /// Smallest legal value.
    pub min: i64,
    /// Greatest legal value.
    pub max: i64,
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            name,
            value,
            min,
            max,
        } = self;
        write!(f, "{name} is {value}, which is not between {min} and {max}")
    }
}

impl core::error::Error for ConfigError {}

impl IntConfig {
    /// Checks a value against the bounds.
    ///
    /// # Errors
    /// Names the property, the value and the bounds.
    pub const fn check(self, value: i64) -> Result<i64, ConfigError> {
        if value < self.min || value > self.max {
            return Err(ConfigError {
                name: self.name,
                value,
                min: self.min,
                max: self.max,
            });
        }
        Ok(value)
    }
}

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

impl ShareGroupConfig {
    /// Checks what the engine itself needs of a configuration: positive limits that fit the persisted types.
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        let locks = int(
            PARTITION_MAX_RECORD_LOCKS.group.name,
            0,
            1,
            i64::from(u32::MAX),
        );
        let limit = int(DELIVERY_COUNT_LIMIT.group.name, 0, 1, i64::from(i16::MAX));
        let duration = int(
            RECORD_LOCK_DURATION_MS.group.name,
            0,
            1,
            i64::from(i32::MAX),
        );
        locks.check(i64::from(self.partition_max_record_locks))?;
        limit.check(i64::from(self.delivery_count_limit))?;
        duration.check(self.record_lock_duration_ms)?;
        Ok(())
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
    fn a_reset_by_duration_is_read_as_iso_8601() {
        let by = |text| AutoOffsetReset::parse(text);
        assert_eq!(
            by("by_duration:P1DT2H3M4.5S"),
            Some(AutoOffsetReset::ByDuration(93_784_500))
        );
        assert_eq!(
            by("by_duration:PT0.25S"),
            Some(AutoOffsetReset::ByDuration(250))
        );
        assert_eq!(
            by("by_duration:P2D"),
            Some(AutoOffsetReset::ByDuration(172_800_000))
        );
        for wrong in [
            "",
            "soon",
            "by_duration:",
            "by_duration:P",
            "by_duration:PT",
            "by_duration:-P1D",
            "by_duration:P1M",
            "by_duration:PT1S1H",
            "by_duration:PT1.5H",
            "by_duration:PT99999999999999999999S",
        ] {
            assert_eq!(by(wrong), None, "{wrong}");
        }
        let text = AutoOffsetReset::ByDuration(93_784_500).to_string();
        assert_eq!(by(&text), Some(AutoOffsetReset::ByDuration(93_784_500)));
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
        assert_eq!(ShareGroupConfig::default().check(), Ok(()));
        let zero = ShareGroupConfig {
            delivery_count_limit: 0,
            ..ShareGroupConfig::default()
        };
        assert_eq!(zero.check().unwrap_err().name, "share.delivery.count.limit");
    }
}
