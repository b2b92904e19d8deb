//! Decimal microseconds, as traces have them, in whole nanoseconds.
//!
//! Never through a float: one that holds microseconds since 1970 is only exact to a quarter of a microsecond.

/// Integers above this are nanoseconds: as microseconds they would be after the year 2262, and past 64 bits of nanoseconds.
const MOST_MICROSECONDS: i64 = i64::MAX / 1000;

/// A number that [`common`] read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Common {
    pub(super) nanoseconds: i64,
    /// Index after the number.
    pub(super) end: usize,
}

/// The number at `at` when it has the form that nearly all have: up to 15 digits, or 16 that are microseconds of this or
/// the next century, then up to three decimals. `None` when it has another form, or the bytes end with it.
///
/// ```text
/// 4026150069145.028   →   4026150069145028 ns
/// 12.3                →              12300 ns
/// ```
#[inline]
pub(super) fn common(bytes: &[u8], at: usize) -> Option<Common> {
    let mut end = at;
    let mut whole = 0_i64;
    while let Some(digit) = digit(bytes, end) {
        if end - at == 16 {
            return None;
        }
        whole = whole * 10 + digit;
        end += 1;
    }
    if end == at || whole >= MOST_MICROSECONDS {
        return None;
    }
    let mut nanoseconds = whole * 1000;
    if bytes.get(end) == Some(&b'.') {
        let mut unit = 100;
        end += 1;
        while let Some(digit) = digit(bytes, end) {
            if unit == 0 {
                return None;
            }
            nanoseconds += digit * unit;
            unit /= 10;
            end += 1;
        }
        if unit == 100 {
            return None;
        }
    }
    let follows = bytes.get(end)?;
    matches!(follows, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t')
        .then_some(Common { nanoseconds, end })
}

#[inline]
fn digit(bytes: &[u8], at: usize) -> Option<i64> {
    let digit = bytes.get(at)?.wrapping_sub(b'0');
    (digit < 10).then(|| i64::from(digit))
}

/// What unit a number of a trace is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// As the format has it.
    Microseconds,
    /// As some writers have it.
    Nanoseconds,
}

impl Unit {
    /// That of an event whose beginning is written like this: microseconds, unless that is impossible.
    pub fn of_start(begin: &str) -> Self {
        let magnitude = begin.strip_prefix('-').unwrap_or(begin);
        let is_whole = magnitude.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i64> = magnitude.parse().ok();
        match number {
            Some(number) if is_whole && number > MOST_MICROSECONDS => Self::Nanoseconds,
            _ => Self::Microseconds,
        }
    }

    /// Any decimal number, with or without an exponent, in nanoseconds, rounded half to even; `None` when it is none, or does not fit.
    pub fn ns(self, text: &str) -> Option<i64> {
        let (is_negative, text) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse().ok()?),
            None => (text, 0_i64),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut digits = 0_i128;
        for byte in whole.bytes().chain(fraction.bytes()) {
            let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
        let thousand = match self {
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
        };
        let shift =
            exponent.checked_add(thousand)?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let magnitude = shifted(digits, shift)?;
        i64::try_from(if is_negative { -magnitude } else { magnitude }).ok()
    }
}

/// `digits · 10^shift`, rounded half to even. `digits` is not negative.
fn shifted(digits: i128, shift: i64) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    let power = 10_i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?);
    if shift >= 0 {
        return digits.checked_mul(power?);
    }
    // 10^39 is more than twice as much as any number of digits here: what is left rounds to nothing.
    let Some(power) = power else { return Some(0) };
    let (quotient, rest) = (digits / power, digits % power);
    let is_up = rest > power - rest || (rest == power - rest && quotient % 2 == 1);
    Some(quotient + i128::from(is_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Option<i64> {
        Unit::Microseconds.ns(text)
    }

    #[test]
    fn microseconds_become_nanoseconds_exactly() {
        for (text, expected) in [
            ("0", 0),
            ("7", 7_000),
            ("12.3", 12_300),
            ("12.34", 12_340),
            ("4026150069145.028", 4_026_150_069_145_028),
            ("1694128201426556", 1_694_128_201_426_556_000),
            ("1694128201426556.789", 1_694_128_201_426_556_789),
        ] {
            assert_eq!(micros(text), Some(expected), "{text}");
            let followed = format!("{text},");
            let read = common(followed.as_bytes(), 0).unwrap();
            assert_eq!((read.nanoseconds, read.end), (expected, text.len()));
        }
    }

    #[test]
    fn what_is_rare_is_left_to_the_general_way() {
        for text in [
            "-1.5,",
            "1e3,",
            "1.2345,",
            "12345678901234567,",
            "9999999999999999,",
            "1.,",
            ".5,",
            "\"1\",",
            "null,",
            "12",
            "12.5",
        ] {
            assert_eq!(common(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn more_than_three_decimals_round_half_to_even() {
        assert_eq!(micros("0.0005"), Some(0));
        assert_eq!(micros("0.0015"), Some(2));
        assert_eq!(micros("0.0025"), Some(2));
        assert_eq!(micros("0.00250000000000000000001"), Some(3));
        assert_eq!(micros("-0.0015"), Some(-2));
        assert_eq!(micros("1.9996"), Some(2_000));
    }

    #[test]
    fn exponents_count() {
        assert_eq!(micros("1.5e3"), Some(1_500_000));
        assert_eq!(micros("1.5E-3"), Some(2));
        assert_eq!(micros("1e-99999"), Some(0));
        assert_eq!(micros("0e99999"), Some(0));
        assert_eq!(micros("-25e-1"), Some(-2_500));
    }

    #[test]
    fn what_is_no_number_or_does_not_fit_is_none() {
        for text in [
            "",
            "-",
            ".",
            "N/A",
            "NaN",
            "1e99",
            "9223372036854775.808",
            "1e9223372036854775807",
            "0x10",
            "1 2",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
        assert_eq!(micros(&"9".repeat(5_000)), None);
    }

    #[test]
    fn whole_numbers_that_cannot_be_microseconds_are_nanoseconds() {
        assert_eq!(Unit::of_start("1694128201426556"), Unit::Microseconds);
        assert_eq!(Unit::of_start("1694128201426556789"), Unit::Nanoseconds);
        assert_eq!(Unit::of_start("9223372036854776.1"), Unit::Microseconds);
        let read = Unit::Nanoseconds.ns("1694128201426556789");
        assert_eq!(read, Some(1_694_128_201_426_556_789));
    }
}
