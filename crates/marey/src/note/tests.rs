use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just("</script>\u{1b}[31m../".to_owned()),
        Just("é".repeat(MAX_TEXT_BYTES / 2)),
    ]
}

/// Finite and infinite; NaN has no equal.
fn number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("NaN has no equal", |v| !v.is_nan())
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        number().prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
    ]
}

fn attributes() -> impl Strategy<Value = Attributes> {
    prop::collection::vec((any::<String>(), value()), 0..6)
}

fn note() -> impl Strategy<Value = Note> {
    let optional = || prop::option::of(any::<u64>());
    let source = prop_oneof![
        Just(MemorySource::Process),
        any::<u32>().prop_map(MemorySource::TorchCuda)
    ];
    let outcome = prop_oneof![
        Just(CacheOutcome::Hit),
        Just(CacheOutcome::Miss),
        Just(CacheOutcome::Eviction)
    ];
    prop_oneof![
        (any::<u32>(), any::<u32>(), text()).prop_map(|(thread, os_id, name)| Note::Thread {
            thread,
            os_id,
            name
        }),
        (any::<u32>(), any::<u64>(), attributes()).prop_map(|(node, start_ticks, attributes)| {
            Note::SectionAttributes {
                node,
                start_ticks,
                attributes,
            }
        }),
        (text(), attributes()).prop_map(|(name, attributes)| Note::Event { name, attributes }),
        (
            prop::option::of(text()),
            source,
            any::<u64>(),
            optional(),
            optional()
        )
            .prop_map(
                |(label, source, allocated_bytes, reserved_bytes, peak_bytes)| Note::Memory {
                    label,
                    source,
                    allocated_bytes,
                    reserved_bytes,
                    peak_bytes,
                }
            ),
        (text(), number()).prop_map(|(name, value)| Note::Counter { name, value }),
        (
            (text(), outcome, optional(), optional()),
            (prop::option::of(number()), prop::option::of(number())),
            optional(),
            attributes()
        )
            .prop_map(
                |((cache, outcome, step, block), (score, threshold), held_bytes, attributes)| {
                    Note::Cache {
                        cache,
                        outcome,
                        step,
                        block,
                        score,
                        threshold,
                        held_bytes,
                        attributes,
                    }
                }
            ),
        (any::<u64>(), text(), attributes()).prop_map(|(session, name, tags)| {
            Note::SessionStart {
                session,
                name,
                tags,
            }
        }),
        any::<u64>().prop_map(|session| Note::SessionEnd { session }),
    ]
}

proptest! {
    #[test]
    fn a_note_comes_back_as_it_was_written(note in note(), ticks in any::<u64>()) {
        let words = note.encode(ticks).expect("short enough");
        prop_assert_eq!(Note::decode(&words), Some((ticks, Some(note), words.len())));
    }

    #[test]
    fn any_words_are_a_note_or_none_and_never_longer_than_they_are(
        kind in 0_u64..10,
        n_words in 0_u64..70_000,
        words in prop::collection::vec(any::<u64>(), 1..40),
    ) {
        let mut words = words;
        words[0] = kind << 32 | n_words;
        if let Some((_, _, taken)) = Note::decode(&words) {
            prop_assert!((2..=words.len()).contains(&taken));
        }
    }
}

#[test]
fn a_note_that_is_too_long_is_refused_and_a_long_text_is_cut_between_characters() {
    let long = |n: usize| Note::Event {
        name: String::new(),
        attributes: (0..n)
            .map(|i| (i.to_string(), "é".repeat(4000).into()))
            .collect(),
    };
    assert!(long(4).encode(1).is_some());
    assert!(long(5).encode(1).is_none());
    let name = format!("x{}", "é".repeat(MAX_TEXT_BYTES));
    let words = Note::Counter { name, value: 1.0 }.encode(1).unwrap();
    let Some((_, Some(Note::Counter { name, .. }), _)) = Note::decode(&words) else {
        panic!("a counter was written");
    };
    assert_eq!(name.len(), MAX_TEXT_BYTES - 1);
    assert!(name.ends_with('é'));
}
