//! Sampling parameters as numbers that a protocol takes.

use crate::notes::Notes;
use serde_json::Value;

/// `value` between `low` and `high`, printed as people write it: `0.7` and not
/// its nearest binary neighbour. What is no number is left out.
#[must_use]
pub fn number(value: f32, low: f32, high: f32, field: &str, notes: &mut Notes) -> Option<Value> {
    if !value.is_finite() {
        notes.dropped(field, "it is not a number");
        return None;
    }
    let clamped = value.clamp(low, high);
    if clamped.to_bits() != value.to_bits() {
        notes.clamped(field, "it is beyond what is taken");
    }
    // As text and back: the nearest double of 0.7 as a float is not 0.7.
    let text = serde_json::to_string(&clamped).ok()?;
    serde_json::from_str(&text).ok()
}

/// The stop texts that are more than white space, at most `max` of them.
#[must_use]
pub fn stops(stops: &[String], max: usize, notes: &mut Notes) -> Vec<String> {
    let mut kept: Vec<_> = stops.iter().filter(|s| !s.trim().is_empty()).collect();
    if kept.len() < stops.len() {
        notes.dropped("stop", "a stop text of white space is refused");
    }
    if kept.len() > max {
        notes.dropped("stop", &format!("at most {max} stop texts are taken"));
        kept.truncate(max);
    }
    kept.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pv_4_numbers_are_clamped_and_print_as_written() {
        let mut notes = Notes::default();
        assert_eq!(number(0.7, 0.0, 1.0, "t", &mut notes), Some(json!(0.7)));
        assert_eq!(number(1.5, 0.0, 1.0, "t", &mut notes), Some(json!(1.0)));
        assert_eq!(number(f32::NAN, 0.0, 1.0, "t", &mut notes), None);
        assert_eq!(notes.into_diagnostics().len(), 2);
    }

    #[test]
    fn pv_4_blank_and_surplus_stops_are_left_out() {
        let given = ["a", " \n", "b", ""].map(str::to_owned);
        let mut notes = Notes::default();
        assert_eq!(stops(&given, 9, &mut notes), ["a", "b"]);
        assert_eq!(stops(&given, 1, &mut notes), ["a"]);
        assert_eq!(notes.into_diagnostics().len(), 2);
    }
}
