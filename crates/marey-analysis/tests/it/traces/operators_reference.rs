//! Operators, equal to what torch says itself of the same run.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{HostKind, OperatorRow, TraceContext, operators, trace_memory};
use serde_json::Value;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/operators")
}

fn tiny() -> (Trace, Value) {
    let file = File::open(data().join("operators_tiny_cpu.trace.json.gz")).unwrap();
    let expected = data().join("operators_tiny_cpu.key_averages.json");
    let expected = std::fs::read_to_string(expected).unwrap();
    let trace = read(file, Limits::default()).unwrap();
    (trace, serde_json::from_str(&expected).unwrap())
}

/// Count, self and total by what tells rows apart.
type Rows = BTreeMap<(bool, String, String), (u64, u64, u64)>;

fn of_torch(rows: &Value) -> Rows {
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let row = |row: &Value| {
        let shapes = match &row["shapes"] {
            Value::String(text) => text.clone(),
            list if list == &Value::Array(Vec::new()) => String::new(),
            list => list.to_string(),
        };
        let name = row["name"].as_str().unwrap().to_owned();
        let is_range = row["is_range"].as_bool().unwrap();
        // Python leaves `record_function` after the range has ended. Torch takes nothing of such a function from the range.
        let self_ns = if is_range { 0 } else { number(row, "self_ns") };
        let figures = (number(row, "count"), self_ns, number(row, "total_ns"));
        ((is_range, name, shapes), figures)
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

fn ours(rows: &[OperatorRow]) -> Rows {
    let mut found = Rows::new();
    for row in rows {
        let is_range = row.kind == HostKind::Range;
        let shapes = row.shapes.as_deref().map_or_else(String::new, torch_shapes);
        let key = (is_range, row.name.clone(), shapes);
        let sum = found.entry(key).or_default();
        let self_ns = if is_range { 0 } else { row.self_ns };
        *sum = (sum.0 + row.count, sum.1 + self_ns, sum.2 + row.total_ns);
    }
    found
}

/// Shapes as torch's table has them: those of lists of tensors are left out.
fn torch_shapes(shapes: &str) -> String {
    let each: Vec<Value> = serde_json::from_str(shapes).unwrap();
    let flat = each.into_iter().map(|shape| match &shape {
        Value::Array(list) if list.iter().any(Value::is_array) => Value::Array(Vec::new()),
        _ => shape,
    });
    Value::Array(flat.collect()).to_string()
}

#[test]
fn every_operator_is_equal_to_the_nanosecond() {
    let (trace, expected) = tiny();
    let found = operators(&TraceContext::new(&trace, None));
    let expected = of_torch(&expected["by_name"]);
    assert!(expected.len() > 50, "{}", expected.len());
    assert_eq!(ours(&found.rows), expected);
}

#[test]
fn every_operator_and_shape_is_equal_to_the_nanosecond() {
    let (trace, expected) = tiny();
    let found = operators(&TraceContext::new(&trace, None));
    let mut expected = of_torch(&expected["by_shape"]);
    // Ranges have no inputs; ours are operators alone.
    expected.retain(|key, _| !key.0);
    assert!(expected.len() > 70, "{}", expected.len());
    assert_eq!(ours(&found.by_shape), expected);
}

#[test]
fn memory_that_operators_allocated_is_what_torch_says() {
    let (trace, expected) = tiny();
    let memory = trace_memory(&TraceContext::new(&trace, None));
    // What Python functions in a range release is theirs in torch's table, and the range's in ours.
    let is_operator = |name: &str| !name.starts_with("denoise");
    assert_eq!(memory.len(), 1);
    let ours: BTreeMap<&str, i64> = memory[0]
        .operators
        .iter()
        .filter_map(|row| Some((row.name.as_deref()?, row.net_bytes)))
        .filter(|row| row.1 != 0 && is_operator(row.0))
        .collect();
    let rows = expected["by_name"].as_array().unwrap().iter();
    let theirs: BTreeMap<&str, i64> = rows
        .map(|row| (row["name"].as_str(), row["self_bytes"].as_i64()))
        .map(|row| (row.0.unwrap(), row.1.unwrap()))
        .filter(|row| row.1 != 0 && is_operator(row.0))
        .collect();
    assert!(theirs.len() > 5);
    assert_eq!(ours, theirs);
}
