//! Where a share partition without a start offset begins.

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
