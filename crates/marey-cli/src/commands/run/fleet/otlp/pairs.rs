//! Lists of `key=value` in variables of OpenTelemetry.

/// A key and its value, decoded.
pub(super) type Pair = (String, String);

/// Reads `key=value,key=value`: blanks around keys and values do not count, nor do empty places; of both `%` and two hexadecimal
/// digits are a byte. A value may hold `=`.
///
/// # Errors
/// What is wrong, without saying any of the text: it may be a key.
pub(super) fn pairs(text: &str) -> Result<Vec<Pair>, &'static str> {
    let places = text.split(',').map(str::trim);
    places
        .filter(|place| !place.is_empty())
        .map(|place| {
            let (key, value) = place.split_once('=').ok_or("not a list of key=value")?;
            let key = decoded(key.trim())?;
            if key.is_empty() {
                return Err("a value without a key");
            }
            Ok((key, decoded(value.trim())?))
        })
        .collect()
}

fn decoded(text: &str) -> Result<String, &'static str> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| is_hexadecimal(digits));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("a % that two hexadecimal digits do not follow")?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| "bytes after a % that are not UTF-8")
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_decoded_and_blanks_around_them_do_not_count() {
        let read = [
            ("", vec![]),
            (" , ,", vec![]),
            ("a=1,b=2", vec![("a", "1"), ("b", "2")]),
            (" a = 1 2 ,", vec![("a", "1 2")]),
            (
                "authorization=Basic%20bWU6eA==",
                vec![("authorization", "Basic bWU6eA==")],
            ),
            ("a%2Cb=%3d%2c,c=", vec![("a,b", "=,"), ("c", "")]),
            ("k=%C3%A9 ü", vec![("k", "é ü")]),
        ];
        for (text, expected) in read {
            let got = pairs(text).unwrap();
            let got: Vec<(&str, &str)> = got
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect();
            assert_eq!(got, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_without_a_word_of_it() {
        for text in [
            "secret",
            "=secret",
            "a=1,secret",
            "a=secret%",
            "a=secret%2",
            "a=secret%zz",
            "a=secret%+1",
            "a=secret%é",
            "a=secret%ff",
            "%20=%",
            " =secret",
        ] {
            let problem = pairs(text).unwrap_err();
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
