//! A whole-number property with its bounds, and the error that tells which value breaks them.

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

pub(in crate::settings) const fn int(
    name: &'static str,
    default: i64,
    min: i64,
    max: i64,
) -> IntConfig {
    IntConfig {
        name,
        default,
        min,
        max,
    }
}

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

/// A configuration value that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
