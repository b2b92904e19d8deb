//! The page with something put into it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Built by `web/build.mjs` from `web/src`.
const PAGE: &str = include_str!("../../assets/page.html");

/// Of a million slices levels 2 to 6 take the same time and give the same size; 1 is a quarter larger, 9 takes longer for nothing.
/// JSON is smallest with 6.
const LEVEL: u32 = 6;

/// A page with a model, as JSON, and columns of bytes. Both are compressed and then written in letters, digits, `+`, `/` and `=` alone, so nothing
/// that a user named can be markup.
pub(super) fn page(json: &[u8], columns: &[u8]) -> Vec<u8> {
    let (before, rest) = PAGE.split_once("{{model}}").unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once("{{columns}}").unwrap_or((rest, ""));
    let columns = if columns.is_empty() {
        String::new()
    } else {
        packed(columns)
    };
    [before, &packed(json), between, &columns, after]
        .concat()
        .into_bytes()
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    STANDARD.encode(compressed.expect("a vector takes all that is written"))
}
