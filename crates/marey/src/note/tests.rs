use proptest::prelude::*;

use super::*;
use crate::device_work::{DeviceMemory, SectionKey};
use crate::generation::{
    Allocation, BlockComputation, DiffusionStep, LayerComputation, ModelParameters, StreamingEvent,
};
use crate::resources::Spent;
use crate::run::{CacheOutcome, MemorySource};
use crate::series::Unit;
use crate::value::Value;
use crate::window::WindowChange;
use crate::wire::MAX_TEXT_BYTES;

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
    let flat = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        number().prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
        Just(Value::Null),
    ];
    flat.prop_recursive(3, 12, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::List))
}

fn attributes() -> impl Strategy<Value = Attributes> {
    prop::collection::vec((any::<String>(), value()), 0..6)
}

fn samples() -> impl Strategy<Value = Samples> {
    let bucket = (1_u32.., number(), number(), number(), number())
        .prop_map(|(count, min, max, sum, last)| Readings { count, min, max, sum, last });
    let one = prop::option::of(number()).prop_map(|v| Readings::of(v.unwrap_or(f64::NAN)));
    let values = prop_oneof![
        prop::collection::vec(one, 0..40).prop_map(|values| (1, values)),
        (2_u32.., prop::collection::vec(bucket, 0..40)),
    ];
    (values, any::<[u64; 3]>(), any::<[u32; 2]>()).prop_map(
        |((rounds, values), [start, width, first], [group, first_series])| Samples {
            group,
            first_series,
            rounds,
            start,
            width,
            first,
            values,
        },
    )
}

fn generation() -> impl Strategy<Value = Generation> {
    let whole = || prop::option::of(any::<u64>());
    let real = || prop::option::of(number().prop_filter("absent", |v| v.is_finite()));
    let word = || prop::option::of(text());
    prop_oneof![
        (whole(), real(), whole(), whole(), real()).prop_map(
            |(step, timestep, size, ns, scale)| {
                Generation::Step(DiffusionStep {
                    step,
                    timestep,
                    block_size: size,
                    computation_ns: ns,
                    guidance_scale: scale,
                })
            }
        ),
        (whole(), whole(), whole(), whole()).prop_map(
            |(index, size, computation_ns, memory_bytes)| Generation::Block(BlockComputation {
                index,
                size,
                computation_ns,
                memory_bytes,
            })
        ),
        (text(), whole(), word(), real(), real()).prop_map(
            |(name, count, kind, flops_per_call, calls_per_step)| Generation::Model(
                ModelParameters { name, count, kind, flops_per_call, calls_per_step }
            )
        ),
        (whole(), whole(), whole(), real()).prop_map(
            |(frames, encoding_ns, network_latency_ns, buffer_occupancy)| Generation::Streaming(
                StreamingEvent { frames, encoding_ns, network_latency_ns, buffer_occupancy }
            )
        ),
        any::<u64>().prop_map(|count| Generation::DroppedFrames { count }),
        (text(), whole(), whole()).prop_map(|(name, computation_ns, parameters)| {
            Generation::Layer(LayerComputation { name, computation_ns, parameters })
        }),
        (any::<bool>(), any::<u64>(), word(), word()).prop_map(
            |(is_release, bytes, allocator, context)| Generation::Allocation(Allocation {
                is_release,
                bytes,
                allocator,
                context,
            })
        ),
    ]
}

fn resources() -> impl Strategy<Value = Resources> {
    let thread = proptest::option::of(spent());
    let size = || proptest::option::of(any::<u64>());
    (spent(), thread, size(), size(), size()).prop_map(
        |(process, thread, resident_before, resident_after, peak_bytes)| Resources {
            process,
            thread,
            resident_before,
            resident_after,
            peak_bytes,
        },
    )
}

fn spent() -> impl Strategy<Value = Spent> {
    let bytes = || prop::option::of(any::<u64>());
    (any::<u64>(), bytes(), bytes()).prop_map(|(cpu_ns, read_bytes, written_bytes)| Spent {
        cpu_ns,
        read_bytes,
        written_bytes,
    })
}

fn section_key() -> impl Strategy<Value = SectionKey> {
    any::<(u32, u32, u64)>().prop_map(|(thread, node, start_ticks)| SectionKey {
        thread,
        node,
        start_ticks,
    })
}

fn window_change() -> impl Strategy<Value = WindowChange> {
    prop_oneof![
        (text(), text(), attributes()).prop_map(|(name, instrument, options)| {
            WindowChange::Opened { name, instrument, options }
        }),
        Just(WindowChange::Recording),
        text().prop_map(|reason| WindowChange::Stopped { reason }),
        (text(), any::<[u64; 2]>()).prop_map(|(path, [bytes, export_ns])| {
            WindowChange::Exported { path, bytes, export_ns }
        }),
        (text(), text()).prop_map(|(during, error)| WindowChange::Failed { during, error }),
        text().prop_map(|text| WindowChange::Remark { text }),
    ]
}

fn note() -> impl Strategy<Value = Note> {
    let optional = || prop::option::of(any::<u64>());
    let source =
        prop_oneof![Just(MemorySource::Process), any::<u32>().prop_map(MemorySource::TorchCuda)];
    let outcome = prop_oneof![
        Just(CacheOutcome::Hit),
        Just(CacheOutcome::Miss),
        Just(CacheOutcome::Eviction)
    ];
    let ended = prop_oneof![Just(Outcome::Done), Just(Outcome::Failed), Just(Outcome::CutOff)];
    prop_oneof![
        (any::<u32>(), any::<u32>(), text())
            .prop_map(|(thread, os_id, name)| Note::Thread(thread, Thread { os_id, name })),
        (any::<u32>(), any::<u64>(), attributes()).prop_map(|(node, start_ticks, attributes)| {
            Note::SectionAttributes { node, start_ticks, attributes }
        }),
        (text(), attributes()).prop_map(|(name, attributes)| Note::event(name, attributes)),
        (prop::option::of(text()), source, any::<u64>(), optional(), optional()).prop_map(
            |(label, source, allocated_bytes, reserved_bytes, peak_bytes)| {
                Note::Memory(MemoryReading {
                    label,
                    source,
                    allocated_bytes,
                    reserved_bytes,
                    peak_bytes,
                    ..MemoryReading::default()
                })
            }
        ),
        (text(), number()).prop_map(|(name, value)| Note::counter(name, value)),
        (
            (text(), outcome, optional(), optional()),
            (prop::option::of(number()), prop::option::of(number())),
            optional(),
            attributes()
        )
            .prop_map(
                |((cache, outcome, step, block), (score, threshold), held_bytes, attributes)| {
                    Note::Cache(CacheEvent {
                        cache,
                        outcome,
                        step,
                        block,
                        score,
                        threshold,
                        held_bytes,
                        attributes,
                        ..CacheEvent::default()
                    })
                }
            ),
        (any::<u64>(), text(), attributes(), any::<u16>()).prop_map(
            |(number, name, tags, flow)| {
                Note::SessionStart(Session { number, name, tags, flow, ..Session::default() })
            }
        ),
        any::<(u64, bool, u16)>().prop_map(|(start_ticks, is_over, flow)| Note::SessionWork {
            start_ticks,
            is_over,
            flow
        }),
        (any::<u64>(), ended, proptest::option::of(resources()))
            .prop_map(|(session, outcome, used)| { Note::SessionEnd { session, outcome, used } }),
        (any::<u32>(), any::<u32>(), text(), text(), 0_u8..10).prop_map(
            |(group, index, name, subject, unit)| {
                let unit = Unit::take(&mut Decoder::new(&[unit])).expect("ten units");
                let info = SeriesInfo::cumulative(&name, &subject, unit);
                Note::Series { group, index, info }
            }
        ),
        samples().prop_map(Note::Samples),
        (text(), text()).prop_map(|(what, why)| Note::unavailable(what, why)),
        (text(), text()).prop_map(|(key, value)| Note::Fact { key, value }),
        generation().prop_map(Note::Generation),
        (any::<u64>(), window_change())
            .prop_map(|(window, change)| Note::Window { window, change }),
        (section_key(), any::<(u32, u64, u64)>(), optional(), optional()).prop_map(
            |(section, (device, stream, gpu_ns), delay_ns, error_ns)| {
                let span =
                    GpuSpan { device, stream, delay_ns, gpu_ns, error_ns, ..GpuSpan::default() };
                Note::GpuSpan(section, span)
            }
        ),
        (section_key(), resources())
            .prop_map(|(section, used)| Note::SectionResources(section, used)),
        (section_key(), any::<(u32, [u64; 8])>(), optional()).prop_map(
            |(section, (device, [a, b, c, d, e, f, g, h]), inactive_split)| {
                let figures = DeviceMemory {
                    device,
                    allocated_before: a,
                    allocated_after: b,
                    allocated_peak: c,
                    reserved_before: d,
                    reserved_after: e,
                    reserved_peak: f,
                    allocated_peak_error: g,
                    reserved_peak_error: h,
                    inactive_split,
                };
                Note::SectionMemory(section, figures)
            }
        ),
    ]
}

proptest! {
    #[test]
    fn a_note_comes_back_as_it_was_written(
        note in note(),
        ticks in any::<u64>(),
        session in prop::option::of(any::<u64>()),
        flow in any::<u16>(),
    ) {
        let words = note.encode_in(flow, ticks, session).expect("short enough");
        let n_words = words.len();
        prop_assert_eq!(Note::decode(&words), Some(Noted { ticks, session, flow, note: Some(note), n_words }));
    }

    #[test]
    fn any_words_are_a_note_or_none_and_never_longer_than_they_are(
        kind in 0_u64..18,
        has_session in any::<bool>(),
        n_words in 0_u64..70_000,
        words in prop::collection::vec(any::<u64>(), 1..40),
    ) {
        let mut words = words;
        words[0] = kind << 32 | n_words | u64::from(has_session) << 63;
        if let Some(noted) = Note::decode(&words) {
            prop_assert!((2..=words.len()).contains(&noted.n_words));
        }
    }
}

#[test]
fn a_note_that_is_too_long_is_refused_and_a_long_text_is_cut_between_characters() {
    let long = |n: usize| {
        Note::event("", (0..n).map(|i| (i.to_string(), "é".repeat(4000).into())).collect())
    };
    assert!(long(4).encode(1, None).is_some());
    assert!(long(5).encode(1, None).is_none());
    let name = format!("x{}", "é".repeat(MAX_TEXT_BYTES));
    let words = Note::counter(name, 1.0).encode(1, None).unwrap();
    let Some(Note::Counter(CounterReading { name, .. })) =
        Note::decode(&words).and_then(|n| n.note)
    else {
        panic!("a counter was written");
    };
    assert_eq!(name.len(), MAX_TEXT_BYTES - 1);
    assert!(name.ends_with('é'));
}

#[test]
fn a_lookup_comes_back_as_it_was_written_and_a_newer_outcome_is_passed_over() {
    let note = Note::Cache(CacheEvent {
        cache: "kv".into(),
        outcome: CacheOutcome::Lookup,
        block: Some(2),
        ..CacheEvent::default()
    });
    let mut words = note.encode(7, None).expect("short enough");
    let n_words = words.len();
    assert_eq!(
        Note::decode(&words),
        Some(Noted { ticks: 7, session: None, flow: 0, note: Some(note), n_words })
    );
    // The outcome follows the name: four bytes of length, then two of text.
    assert_eq!(words[2] >> 48 & 0xff, 3);
    words[2] += 1 << 48;
    assert_eq!(
        Note::decode(&words),
        Some(Noted { ticks: 7, session: None, flow: 0, note: None, n_words })
    );
}

#[test]
fn a_model_of_an_older_capture_says_nothing_of_its_operations() {
    // Older notes end after the kind, padded with zeros to a whole word: names of every length modulo 8.
    for length in 0..9 {
        let model = ModelParameters {
            name: "n".repeat(length),
            count: Some(u64::MAX),
            kind: Some("vae".into()),
            flops_per_call: Some(1.5e12),
            calls_per_step: Some(2.0),
        };
        let note = Note::Generation(Generation::Model(model.clone()));
        let words = note.encode(7, None).expect("short enough");
        let older = ModelParameters { flops_per_call: None, calls_per_step: None, ..model };
        // Tag, name, count, kind.
        let n_bytes = 1 + (4 + length) + 9 + (1 + 4 + 3);
        let mut bytes: Vec<u8> = words[2..].iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(n_bytes);
        bytes.resize(n_bytes.next_multiple_of(8), 0);
        let (payload, _) = bytes.as_chunks::<8>();
        let mut shorter = words[..2].to_vec();
        shorter.extend(payload.iter().map(|word| u64::from_le_bytes(*word)));
        shorter[0] = shorter[0] >> 32 << 32 | shorter.len() as u64;
        let read = Note::decode(&shorter).and_then(|noted| noted.note);
        assert_eq!(read, Some(Note::Generation(Generation::Model(older))));
    }
}
