//! Damage that a repair can cut off, and what is lost with it.

use core::fmt;

use crate::corrupt::CorruptLog;

/// Damage of one state partition's log that `repair` of the settings cuts off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// State partition.
    pub partition: u32,
    /// Damage and its place.
    pub corrupt: CorruptLog,
    /// Loss by a repair.
    pub loss: Loss,
}

/// Loss when a log is cut where its damage begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Bytes from the damage to the end of the log. 0 when nothing is cut: the log only ends elsewhere than it did when it was
    /// closed.
    pub bytes: u64,
    /// Records in these bytes, or missing already.
    pub records: u64,
    /// Set if that number is exact, by the note of the clean close. Otherwise there may be more that nobody can count.
    pub is_exact: bool,
    /// The keys of those records that can still be read, in ascending order: share partitions as `group:topic id:partition`,
    /// or share groups. A damaged batch may name a wrong one.
    pub keys: Vec<String>,
}

/// Most keys that a text names.
const NAMED_KEYS: usize = 5;

impl fmt::Display for Loss {
    /// Tells what `repair` does, in words that follow that name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => f.write_str("takes the log as it is")?,
            1 => f.write_str("cuts off 1 byte")?,
            bytes => write!(f, "cuts off {bytes} bytes")?,
        }
        f.write_str(if self.is_exact { "; " } else { "; at least " })?;
        match self.records {
            0 => f.write_str("0 records are lost")?,
            1 => f.write_str("1 record is lost")?,
            records => write!(f, "{records} records are lost")?,
        }
        for (i, key) in self.keys.iter().take(NAMED_KEYS).enumerate() {
            // Keys are made of what other people wrote.
            write!(f, "{}{key:?}", if i == 0 { ", of " } else { ", " })?;
        }
        match self.keys.len().saturating_sub(NAMED_KEYS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (repair {})", self.corrupt, self.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_in_words() {
        let loss = |bytes, records, is_exact, keys: usize| Loss {
            bytes,
            records,
            is_exact,
            keys: (0..keys).map(|key| format!("k{key}\n")).collect(),
        };
        for (loss, told) in [
            (
                loss(0, 2, true, 0),
                "takes the log as it is; 2 records are lost",
            ),
            (loss(1, 0, true, 0), "cuts off 1 byte; 0 records are lost"),
            (
                loss(90, 1, true, 1),
                r#"cuts off 90 bytes; 1 record is lost, of "k0\n""#,
            ),
            (
                loss(90, 7, false, 7),
                r#"cuts off 90 bytes; at least 7 records are lost, of "k0\n", "k1\n", "k2\n", "k3\n", "k4\n" and 2 more"#,
            ),
        ] {
            assert_eq!(loss.to_string(), told);
        }
    }
}
