//! Numbers in the texts of `/proc`, `/sys` and cgroups. What is not understood is `None`, never 0.

/// The fields of a text: what stands between blanks and ends of lines.
pub(super) fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b' ' | b'\t' | b'\n')).filter(|field| !field.is_empty())
}

/// The lines of a text, without their ends.
pub(super) fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
    text.split(|byte| *byte == b'\n')
}

/// A whole number, if the field is one; numbers past 2⁶⁴ are the largest there is.
pub(super) fn whole(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}

/// A whole number as a reading; exact up to 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "readings are doubles")]
pub(super) fn number(field: &[u8]) -> Option<f64> {
    whole(field).map(|number| number as f64)
}

/// The whole number in a field, counted from 0.
pub(super) fn nth(text: &[u8], place: usize) -> Option<f64> {
    number(fields(text).nth(place)?)
}

/// A number with a point.
pub(super) fn decimal(field: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The number behind a key at the beginning of a line: `MemTotal:  16 kB`, `throttled_usec 3`.
pub(super) fn number_of(text: &[u8], key: &[u8]) -> Option<f64> {
    let rest = lines(text).find_map(|line| line.strip_prefix(key))?;
    number(fields(rest).next()?)
}

/// The same, given in KiB, as bytes.
pub(super) fn bytes_of(text: &[u8], key: &[u8]) -> Option<f64> {
    Some(number_of(text, key)? * 1024.0)
}
