//! `docs/schema`: what the types of the documents say.

use std::path::Path;

use marey_report::schemas;

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let is_written = std::env::var_os("UPDATE_SCHEMA").is_some();
    for (name, schema) in schemas() {
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let file = folder.join(format!("{name}.schema.json"));
        if is_written {
            std::fs::write(&file, &made).unwrap();
        }
        let published = std::fs::read_to_string(&file).unwrap();
        assert!(made == published, "{name} has changed: `make schema`");
    }
}
