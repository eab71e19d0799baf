//! Numbers with what they count.

/// `1 file`, `2 files`.
pub(crate) fn count(n: u64, one: &str) -> String {
    count_of(n, one, &format!("{one}s"))
}

/// `1 directory`, `2 directories`.
pub(crate) fn count_of(n: u64, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        _ => format!("{n} {many}"),
    }
}
