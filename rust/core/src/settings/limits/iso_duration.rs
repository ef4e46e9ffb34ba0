//! ISO 8601 durations as Java reads them (`java.time.Duration.parse`), for Kafka's configuration takes what Java takes.

/// Milliseconds of a duration of days, hours, minutes and seconds (`PnDTnHnMn.nS`), in either case; `None` for another text, a
/// negative duration, and more seconds than an `i64` holds. Each number, and the whole, may have a sign.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let (negative, rest) = signed(&text);
    let rest = rest.strip_prefix('P')?;
    let (days, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (rest, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut nanos = sum(days, &[('D', 86_400)])?
        .checked_add(sum(time, &[('H', 3_600), ('M', 60), ('S', 1)])?)?;
    if negative {
        nanos = -nanos;
    }
    if nanos < 0 || nanos / NANOS > i128::from(i64::MAX) {
        return None;
    }
    // Seconds that fit may be too many milliseconds: it is as good as forever.
    Some(i64::try_from(nanos / 1_000_000).unwrap_or(i64::MAX))
}

const NANOS: i128 = 1_000_000_000;

/// Nanoseconds of numbers with these units, each at most once, in order.
fn sum(text: &str, units: &[(char, i64)]) -> Option<i128> {
    let mut total = 0;
    let mut rest = text;
    for (unit, seconds) in units {
        let Some((amount, after)) = rest.split_once(*unit) else {
            continue;
        };
        total += nanos(amount, *seconds)?;
        rest = after;
    }
    rest.is_empty().then_some(total)
}

fn nanos(amount: &str, unit_seconds: i64) -> Option<i128> {
    let (negative, amount) = signed(amount);
    let (whole, fraction) = match amount.split_once(['.', ',']) {
        Some((_, fraction)) if unit_seconds != 1 || fraction.len() > 9 => return None,
        Some(parts) => parts,
        None => (amount, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let seconds = whole.parse::<i64>().ok()?.checked_mul(unit_seconds)?;
    let below: i128 = format!("{fraction:0<9}").parse().ok()?;
    let nanos = i128::from(seconds) * NANOS + below;
    Some(if negative { -nanos } else { nanos })
}

/// Splits the sign off a text: `true` for a minus, and the text after it.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broker_takes_is_taken() {
        for (text, ms) in [
            ("PT1H", 3_600_000),
            ("pt1h", 3_600_000),
            ("P1DT2H3M4.5S", 93_784_500),
            ("P2D", 172_800_000),
            ("PT1,5S", 1_500),
            ("PT5.S", 5_000),
            ("PT0S", 0),
            ("PT0.0009S", 0),
            ("+PT1S", 1_000),
            ("P+1D", 86_400_000),
            ("-PT-5S", 5_000),
            ("PT1H-30M", 1_800_000),
            ("PT9223372036854775807S", i64::MAX),
        ] {
            assert_eq!(duration_ms(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn what_a_broker_refuses_is_refused() {
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "1h",
            "T1S",
            "P1Y",
            "P1M",
            "P1W",
            "PT1.5H",
            "PT1.5M",
            "PT.5S",
            "PT5.1234567899S",
            "PT1S1M",
            "PT1H1H",
            "PT1S ",
            "PT--1S",
            "-PT1H",
            "PT-1H",
            "PT-0.5S",
            "P99999999999999999D",
            "PT9223372036854775808S",
            "PT9223372036854775807S1",
            "PT9223372036854775807M",
            "P106751991167301DT9223372036854775807S",
        ] {
            assert_eq!(duration_ms(text), None, "{text}");
        }
    }
}
