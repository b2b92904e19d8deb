//! Files that are made of declarations, and are committed: `docs/schema`, `docs/tables.md`, tables of `docs/findings.md`, the schema in
//! `web/model`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use marey_analysis::findings::{RULES, THRESHOLDS};
use marey_report::{page_schema, schemas};

/// Fails where a file of the repository is not this; with `UPDATE_DOCS` it becomes this.
fn is_current(file: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).expect("the repository can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("it is committed");
    assert!(made == committed, "{file} has changed: `make schemas`");
}

#[test]
fn schemas_are_those_of_the_types() {
    let documents = schemas().into_iter();
    let documents = documents.map(|(name, schema)| (format!("docs/schema/{name}"), schema));
    for (name, schema) in documents.chain([("web/model/page".into(), page_schema())]) {
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        is_current(&format!("{name}.schema.json"), &made);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_described_as_they_are_declared() {
    use marey_report::parquet::{Kind, SCHEMA_VERSION};

    let or_dash = |text: &'static str| if text.is_empty() { "–" } else { text };
    let mut made = include_str!("../../src/parquet/tables.md").replace("{version}", SCHEMA_VERSION);
    for kind in Kind::ALL {
        write!(made, "\n## `{}`\n\n{}\n\n", kind.name(), kind.about()).unwrap();
        made += "| column | type | unit | what | null when |\n|---|---|---|---|---|\n";
        for column in kind.columns() {
            let (name, kind, about) = (column.name, column.kind.sql(), column.about);
            let (unit, null_when) = (or_dash(column.unit), or_dash(column.null_when));
            writeln!(made, "| `{name}` | {kind} | {unit} | {about} | {null_when} |").unwrap();
        }
    }
    is_current("docs/tables.md", &made);
}

#[test]
fn rules_and_limits_are_described_as_they_are_declared() {
    let mut rules = "\n| rule | checks whether | goes by | limits | what could be saved |\n|---|---|---|---|---|\n".to_owned();
    for rule in RULES {
        let by = rule.goes_by().map(|(kind, by)| format!("in a {kind}: {by}"));
        let by = by.collect::<Vec<_>>().join("; ");
        let limits = rule.limits.iter().map(|name| format!("`{name}`"));
        let limits = limits.reduce(|all, one| all + ", " + &one).unwrap_or_else(|| "none".into());
        writeln!(rules, "| `{}` | {} | {by} | {limits} | {} |", rule.id, rule.checks, rule.saves)
            .unwrap();
    }
    let mut limits = "\n| limit | default | what it is |\n|---|---|---|\n".to_owned();
    for limit in THRESHOLDS {
        writeln!(limits, "| `{}` | {} | {} |", limit.name, limit.default, limit.meaning()).unwrap();
    }
    let mut made = include_str!("../../../../docs/findings.md").to_owned();
    for (name, table) in [("rules", rules), ("limits", limits)] {
        let (start, end) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
        let (before, rest) = made.split_once(&start).expect("its place");
        let (_, after) = rest.split_once(&end).expect("its end");
        made = [before, &start, &table, &end, after].concat();
    }
    is_current("docs/findings.md", &made);
}

#[test]
fn each_limit_belongs_to_a_rule() {
    let used: BTreeSet<&str> = RULES.iter().flat_map(|rule| rule.limits).copied().collect();
    let mut known: BTreeSet<&str> = THRESHOLDS.iter().map(|limit| limit.name).collect();
    // The analysis of deliveries has it.
    known.remove("playback_frames_per_second");
    assert_eq!(used, known);
}
