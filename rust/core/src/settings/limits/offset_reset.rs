//! Start of a share partition that has no start offset yet.

use super::iso_duration::duration_ms;

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
    /// seconds (`PnDTnHnMn.nS`), not negative. What a duration has below a millisecond is dropped.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
