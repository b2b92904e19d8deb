//! JSON Schema of the documents, made of the types that are written.

use marey_analysis::ranks::RanksAnswers;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::analyzed::{SnapshotDocument, TraceDocument, ranks_document};
use super::comparison::{comparison, trend};
use super::dialect;
use super::document;
use crate::compare::{ComparisonReport, TrendReport};
use crate::first_screen::Brief;
use crate::model::Report;

/// The name of each document and its schema: what `docs/schema` has.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("comparison", written(|of: &ComparisonReport| comparison(of))),
        ("first_screen", of::<Brief>()),
        ("memory_snapshot", of::<SnapshotDocument<'_>>()),
        ("profiling_report", written(|of: &Report| document(of))),
        ("ranks", written(|of: &RanksAnswers| ranks_document(of))),
        ("trace", of::<TraceDocument<'_>>()),
        ("trend", written(|of: &TrendReport| trend(of))),
    ]
}

/// Of what a function makes of something.
fn written<A, T: JsonSchema>(_: fn(A) -> T) -> Schema {
    of::<T>()
}

fn of<T: JsonSchema>() -> Schema {
    let mut schema = schema_of::<T>(SchemaSettings::draft2020_12());
    dialect::describe(&mut schema);
    schema
}

/// What is written of a type.
pub(crate) fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let settings = settings.for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    tidy(&mut schema);
    schema
}

/// No key that is not described, no format of Rust's own, and texts that speak of JSON.
fn tidy(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        object.remove("format");
        if object.contains_key("properties") {
            object.entry("additionalProperties").or_insert(false.into());
        }
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = told(text);
        }
    }
    transform_subschemas(&mut tidy, schema);
}

/// A doc comment as the text of a description: without drawings and links, a paragraph a line.
fn told(comment: &str) -> String {
    let prose = comment.split("```").step_by(2);
    let paragraphs = prose.flat_map(|prose| prose.split("\n\n"));
    let paragraphs = paragraphs.map(|one| one.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = paragraphs.filter(|one| !one.is_empty()).collect::<Vec<_>>();
    let text = text.join("\n").replace("[`", "`").replace("`]", "`");
    let text = text.replace("`None`", "null");
    text.replace("super::", "").replace("crate::", "")
}
