//! `docs/schema` and `web/model`: what the types of the documents and of the pages say.

use std::path::Path;

use marey_report::{page_schema, schemas};

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_written = std::env::var_os("UPDATE_SCHEMA").is_some();
    let documents = schemas().into_iter();
    let documents = documents.map(|(name, schema)| (format!("docs/schema/{name}"), schema));
    for (name, schema) in documents.chain([("web/model/page".into(), page_schema())]) {
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let file = root.join(format!("{name}.schema.json"));
        if is_written {
            std::fs::write(&file, &made).unwrap();
        }
        let published = std::fs::read_to_string(&file).unwrap();
        assert!(made == published, "{name} has changed: `make schema`");
    }
}
