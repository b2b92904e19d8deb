//! Spans and events of the crate `tracing`.

use marey::{Config, TracingLayer, Value};
use tracing_subscriber::prelude::*;

#[test]
fn spans_are_sections_with_their_fields_and_events_are_events() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { output_dir: Some(folder.path().into()), ..Config::default() };
    let recording = marey::start(config).unwrap();
    let layer = tracing_subscriber::registry().with(TracingLayer::new());
    tracing::subscriber::with_default(layer, || {
        // As candle's models keep one for each layer.
        let attention =
            tracing::trace_span!("attention", layer = 3_u64, tile = tracing::field::Empty);
        attention.in_scope(|| tracing::info!(frames = 16, is_last = true, "clip written"));
        attention.record("tile", "full");
        attention.in_scope(|| tracing::trace_span!("softmax").in_scope(|| ()));
    });
    let run = marey::load(&recording.finish().unwrap()).unwrap();
    let name = |section: usize| run.nodes[run.sections[section].node as usize].name.as_str();
    let mut sections: Vec<&str> = (0..3).map(name).collect();
    sections.sort_unstable();
    assert_eq!(sections, ["attention", "attention", "softmax"]);
    let given = run
        .section_attributes
        .iter()
        .map(|given| (name(given.section), given.attributes.as_slice()));
    let layer = ("layer".to_owned(), Value::Int(3));
    let tile = ("tile".to_owned(), Value::Text("full".into()));
    assert_eq!(
        given.collect::<Vec<_>>(),
        [("attention", [layer.clone()].as_slice()), ("attention", [layer, tile].as_slice())]
    );
    let [event] = run.events.as_slice() else { panic!("{:?}", run.events) };
    assert_eq!(event.name, "clip written");
    let said = [("frames".into(), Value::Int(16)), ("is_last".into(), Value::Bool(true))];
    assert_eq!(event.attributes, said);
}
