//! The dialect of documents: SI units, said at the end of keys.
//!
//! Types count nanoseconds in integers, in fields `x_ns`. Documents have such a field as `x_s`: seconds, with nine decimals at most, or a
//! list of them. Moments since 1970 (`start_unix_ns`) stay as they are, because they have more digits than a float.

use std::io::{Result, Write};

use schemars::Schema;
use schemars::transform::transform_subschemas;
use serde_json::Value;
use serde_json::ser::Formatter;

use super::seconds;

/// Objects whose keys are data, as names that somebody gave, and no words of documents; sorted.
#[rustfmt::skip]
const NAMED: [&str; 24] = [
    "aggregated_cpu_metrics", "aggregated_gpu_metrics", "attributes", "caches", "cores_percent", "counters", "data", "devices",
    "facts", "files_cached_percent", "iteration_profilers", "layers", "load_average", "losses", "models", "n_by_phase",
    "n_not_analysed", "network", "options", "others", "samplers", "stages", "tags", "timing_stats",
];

/// Writes JSON in the dialect.
pub(super) struct Dialect<F> {
    of: F,
    /// Whether the keys of each object around here are data, from the outermost on.
    named: Vec<bool>,
    key: Key,
}

/// The key whose value is written.
#[derive(Default)]
struct Key {
    /// It is being written itself.
    is_open: bool,
    is_ns: bool,
    /// That of [`NAMED`].
    has_names: bool,
}

impl<F> Dialect<F> {
    pub(super) fn new(of: F) -> Self {
        let (named, key) = Default::default();
        Self { of, named, key }
    }
}

/// What a document calls a field of nanoseconds, without its `s`: `mean_` of `mean_ns`.
fn in_seconds(field: &str) -> Option<&str> {
    let stem = field.strip_suffix("ns")?;
    (stem.ends_with('_') && !stem.ends_with("_unix_")).then_some(stem)
}

/// The key of a document for a field or a column.
pub(crate) fn key(field: &str) -> String {
    in_seconds(field).map_or_else(|| field.into(), |stem| format!("{stem}s"))
}

macro_rules! unchanged {
    ($($method:ident($($first:ident)?))*) => {$(
        fn $method<W: ?Sized + Write>(&mut self, out: &mut W $(, $first: bool)?) -> Result<()> {
            self.of.$method(out $(, $first)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Dialect<F> {
    unchanged! { end_array() begin_array_value(first) end_array_value() end_object_value() }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.key.has_names = false;
        self.of.begin_array(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.named.push(self.key.has_names);
        self.of.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.named.pop();
        self.key = Key::default();
        self.of.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        self.key = Key::default();
        self.key.is_open = true;
        self.of.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.key.is_open = false;
        self.of.begin_object_value(out)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> Result<()> {
        if self.key.is_open && self.named.last() == Some(&false) {
            self.key.has_names = NAMED.binary_search(&text).is_ok();
            if let Some(stem) = in_seconds(text) {
                self.key.is_ns = true;
                return write!(out, "{stem}s");
            }
        }
        out.write_all(text.as_bytes())
    }

    fn write_u64<W: ?Sized + Write>(&mut self, out: &mut W, value: u64) -> Result<()> {
        if self.key.is_ns {
            return self.of.write_f64(out, seconds(value));
        }
        self.of.write_u64(out, value)
    }

    fn write_i64<W: ?Sized + Write>(&mut self, out: &mut W, value: i64) -> Result<()> {
        if self.key.is_ns {
            let length = seconds(value.unsigned_abs());
            let length = if value < 0 { -length } else { length };
            return self.of.write_f64(out, length);
        }
        self.of.write_i64(out, value)
    }

    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> Result<()> {
        let one = if self.key.is_ns { 1e9 } else { 1.0 };
        self.of.write_f64(out, value / one)
    }
}

/// The schema of what is written so.
pub(super) fn describe(schema: &mut Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let fields = std::mem::take(properties).into_iter();
        properties.extend(fields.map(|(field, mut of)| {
            if in_seconds(&field).is_some() {
                integers_to_numbers(&mut of);
            }
            (key(&field), of)
        }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for field in required {
            *field = key(field.as_str().unwrap_or_default()).into();
        }
    }
    transform_subschemas(&mut describe, schema);
}

fn integers_to_numbers(schema: &mut Value) {
    match schema {
        Value::String(kind) if kind == "integer" => *kind = "number".into(),
        Value::Array(kinds) => kinds.iter_mut().for_each(integers_to_numbers),
        Value::Object(of) => of.values_mut().for_each(integers_to_numbers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde::Serialize;
    use serde_json::json;
    use serde_json::ser::CompactFormatter;

    use super::*;
    use crate::json::schema::{schema_of, schemas};
    use crate::json::written;

    #[derive(Serialize, JsonSchema)]
    struct Told {
        least_ns: u64,
        total_ns: u64,
        change_ns: i64,
        mean_ns: f64,
        unknown_ns: Option<u64>,
        each_ns: Vec<Option<u64>>,
        start_unix_ns: u64,
        n_in_ns_units: u64,
        size_bytes: u64,
        attributes: BTreeMap<String, u64>,
        rows: Vec<Row>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Row {
        at_ns: u64,
    }

    #[test]
    fn nanoseconds_of_fields_are_seconds_and_keys_of_maps_are_what_they_are() {
        let told = Told {
            least_ns: 1,
            total_ns: 123_456_789,
            change_ns: -1_500_000_000,
            mean_ns: 1234.5,
            unknown_ns: None,
            each_ns: vec![Some(209_000), None, Some(0)],
            start_unix_ns: 1_764_198_000_123_456_789,
            n_in_ns_units: 3,
            size_bytes: 4096,
            attributes: [("wait_ns".to_owned(), 5)].into(),
            rows: vec![Row { at_ns: 2_000_000_001 }],
        };
        let text = String::from_utf8(written(&told, CompactFormatter)).unwrap();
        let expected = r#"{"least_s":1e-9,"total_s":0.123456789,"change_s":-1.5,"mean_s":1.2345e-6,"unknown_s":null,
            "each_s":[0.000209,null,0.0],"start_unix_ns":1764198000123456789,"n_in_ns_units":3,"size_bytes":4096,
            "attributes":{"wait_ns":5},"rows":[{"at_s":2.000000001}]}"#;
        let expected: String = expected.lines().map(str::trim).collect();
        assert_eq!(text, expected + "\n");
    }

    #[test]
    fn the_schema_says_what_is_written() {
        let mut schema = schema_of::<Told>(SchemaSettings::draft2020_12());
        describe(&mut schema);
        let of = &schema.as_value()["properties"];
        assert_eq!(of["least_s"], json!({ "type": "number", "minimum": 0 }));
        assert_eq!(of["unknown_s"], json!({ "type": ["number", "null"], "minimum": 0 }));
        assert_eq!(of["each_s"]["items"]["type"], json!(["number", "null"]));
        assert_eq!(of["start_unix_ns"]["type"], "integer");
        assert_eq!(of["attributes"]["additionalProperties"]["type"], "integer");
        let required = schema.get("required").and_then(Value::as_array).unwrap();
        let required: BTreeSet<_> = required.iter().filter_map(Value::as_str).collect();
        let all = of.as_object().unwrap().keys().map(String::as_str);
        assert_eq!(required, all.collect());
    }

    #[test]
    fn seconds_are_exact_to_the_nanosecond_for_97_days() {
        let days_97 = 97 * 86_400_000_000_000_u64;
        let some =
            (0..40).flat_map(|n| [3_u64.pow(n) - 1, 3_u64.pow(n), days_97 - 3_u64.pow(n.min(30))]);
        for ns in some.filter(|ns| *ns < days_97) {
            let shown = seconds(ns).to_string();
            let (whole, part) = shown.split_once('.').unwrap_or((&shown, ""));
            assert_eq!(format!("{whole}{part:0<9}").parse(), Ok(ns), "{shown}");
        }
    }

    #[test]
    fn every_object_with_keys_that_are_data_is_known() {
        fn is_map(schema: &Value, root: &Value) -> bool {
            let referred = schema["$ref"].as_str().and_then(|at| root.pointer(&at[1..]));
            let mut any_of = schema["anyOf"].as_array().into_iter().flatten();
            schema["additionalProperties"].is_object()
                || referred.is_some_and(|referred| is_map(referred, root))
                || any_of.any(|one| is_map(one, root))
        }

        fn maps<'a>(schema: &'a Value, root: &Value, found: &mut BTreeSet<&'a str>) {
            if let Value::Object(properties) = &schema["properties"] {
                let maps = properties.iter().filter(|(_, of)| is_map(of, root));
                found.extend(maps.map(|(key, _)| key.as_str()));
            }
            match schema {
                Value::Object(of) => of.values().for_each(|of| maps(of, root, found)),
                Value::Array(of) => of.iter().for_each(|of| maps(of, root, found)),
                _ => {}
            }
        }

        let schemas = schemas();
        let mut found = BTreeSet::new();
        for (name, schema) in &schemas {
            // Its line has keys of its own, in seconds.
            if *name != "first_screen" {
                maps(schema.as_value(), schema.as_value(), &mut found);
            }
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), NAMED);
    }
}
