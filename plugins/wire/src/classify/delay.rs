//! How long to wait, as a provider says it.

/// Milliseconds by the headers. A date counts from the answer's own date: an
/// adapter has no clock.
pub(super) fn from_headers<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> Option<u64> {
    let milliseconds = header("retry-after-ms").and_then(|ms| scaled(ms, 1));
    let after = || {
        let value = header("retry-after")?;
        scaled(value, 1_000).or_else(|| {
            let seconds = date(value)?.checked_sub(date(header("date")?)?)?;
            u64::try_from(seconds).ok()?.checked_mul(1_000)
        })
    };
    milliseconds.or_else(after)
}

/// Milliseconds by words such as "try again in 11.054s" or "in 1m30s".
pub(super) fn from_words(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (_, after) = text.split_once("again in ")?;
    let mut rest = after;
    let mut total: Option<u64> = None;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, unit) = rest.split_at_checked(digits)?;
        let unit = unit.trim_start();
        let end = unit
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(unit.len());
        let (unit, after) = unit.split_at_checked(end)?;
        let factor = match unit {
            "ms" | "milliseconds" => 1,
            "s" | "sec" | "second" | "seconds" => 1_000,
            "m" | "min" | "minute" | "minutes" => 60_000,
            "h" | "hour" | "hours" => 3_600_000,
            _ => return total,
        };
        let Some(part) = scaled(number.trim_end_matches('.'), factor) else {
            return total;
        };
        total = Some(total.unwrap_or(0).saturating_add(part));
        rest = after;
    }
}

/// A decimal number times `factor`, rounded up; nothing below zero.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    const BILLION: u64 = 1_000_000_000;
    let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let billionths: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let billionths: u64 = billionths.parse().ok()?;
    let fraction = billionths.checked_mul(factor)?.div_ceil(BILLION);
    whole.checked_mul(factor)?.checked_add(fraction)
}

/// Seconds of a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<i64> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split([' ', ':']);
    let mut number = || parts.next()?.parse::<i64>().ok();
    let day = number()?;
    let mut parts = rest.split([' ', ':']).skip(1);
    let month = MONTHS.find(&parts.next()?.to_ascii_lowercase())? / 3 + 1;
    let mut number = || parts.next()?.parse::<i64>().ok();
    let (year, hour, minute, second) = (number()?, number()?, number()?, number()?);
    let month = i64::try_from(month).ok()?;
    let sensible = (1..=31).contains(&day) && (1970..=9999).contains(&year);
    if !sensible {
        return None;
    }
    // Days since 1970 in years that begin in March.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469;
    Some(((days * 24 + hour.min(23)) * 60 + minute.min(59)) * 60 + second.min(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pv_8_a_delay_in_words_is_understood() {
        for (text, expected) in [
            ("Please try again in 11.054s. Visit", Some(11_054)),
            ("Please try again in 28ms.", Some(28)),
            ("try again in 35 seconds", Some(35_000)),
            ("Try again in 1m30s", Some(90_000)),
            ("try again in a while", None),
            ("try again", None),
            ("again in 5 apples", None),
            ("again in 99999999999999999999s", None),
        ] {
            assert_eq!(from_words(text), expected, "{text}");
        }
    }

    #[test]
    fn pv_8_a_delay_in_headers_is_milliseconds_seconds_or_a_date() {
        let delay = |headers: &[(&str, &'static str)]| {
            let headers: Vec<_> = headers.to_vec();
            from_headers(&|name| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| *v))
        };
        assert_eq!(
            delay(&[("retry-after-ms", "1500"), ("retry-after", "9")]),
            Some(1_500)
        );
        assert_eq!(delay(&[("retry-after", "2")]), Some(2_000));
        assert_eq!(delay(&[("retry-after", "0.25")]), Some(250));
        assert_eq!(delay(&[("retry-after", "-1")]), None);
        let dates = [
            ("date", "Thu, 29 Feb 2024 23:59:50 GMT"),
            ("retry-after", "Fri, 01 Mar 2024 00:00:20 GMT"),
        ];
        assert_eq!(delay(&dates), Some(30_000));
        assert_eq!(delay(&dates[1..]), None);
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }
}
