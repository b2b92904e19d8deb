use super::*;
use marey::{RunBuilder, SeriesInfo, Unit};

const GPU: MemorySource = MemorySource::TorchCuda(0);

fn reading(at_ns: u64, allocated_bytes: u64) -> MemoryReading {
    MemoryReading {
        at_ns,
        label: None,
        source: GPU,
        allocated_bytes,
        reserved_bytes: None,
        peak_bytes: None,
        session: None,
    }
}

#[test]
fn a_reading_belongs_to_every_section_that_was_open() {
    // time       0         10        20        30        40
    //            |------- generate -------------|
    //              |-denoise-|  |-denoise-|
    // reading      1    5    9  4         2         7
    let run = RunBuilder::new()
        .section("generate", 0, 31, |s| {
            s.section("denoise", 2, 12, |_| {});
            s.section("denoise", 15, 25, |_| {});
        })
        .memory(reading(2, 100))
        .memory(reading(7, 500))
        .memory(reading(12, 900))
        .memory(reading(15, 400))
        .memory(reading(25, 200))
        .memory(reading(35, 700))
        .finish(40);
    let memory = memory(&run).unwrap();
    let row = |node: u32| memory.sections.iter().find(|r| r.node == node).unwrap();
    let generate = row(1);
    assert_eq!(generate.n_readings, 5);
    assert_eq!(generate.peak_allocated_bytes, 900);
    assert_eq!(generate.largest_growth_bytes, Some(100));
    let denoise = row(2);
    assert_eq!(denoise.n_readings, 5);
    assert_eq!(denoise.largest_growth_bytes, Some(800));
    assert_eq!(denoise.net_growth_bytes, Some(600));
    assert_eq!(memory.sources[0].peak.node, Some(2));
}

#[test]
fn one_reading_during_a_call_shows_no_growth() {
    let run = RunBuilder::new()
        .section("load", 0, 10, |_| {})
        .section("load", 20, 30, |_| {})
        .memory(reading(5, 100))
        .memory(reading(25, 900))
        .finish(40);
    let row = &memory(&run).unwrap().sections[0];
    assert_eq!(row.peak_allocated_bytes, 900);
    assert_eq!(row.largest_growth_bytes, None);
    assert_eq!(row.net_growth_bytes, None);
}

#[test]
fn sections_that_only_gave_memory_back_have_negative_growth() {
    let run = RunBuilder::new()
        .section("offload", 0, 10, |_| {})
        .memory(reading(1, 900))
        .memory(reading(9, 100))
        .finish(40);
    let row = &memory(&run).unwrap().sections[0];
    assert_eq!(row.largest_growth_bytes, Some(-800));
}

#[test]
fn the_peak_names_its_label_and_the_open_section() {
    // The peak falls into `sample`, which was never left.
    let run = RunBuilder::new()
        .open("worker", 0, |s| {
            s.open("sample", 10, |_| {});
        })
        .memory(reading(5, 100))
        .memory(MemoryReading {
            label: Some("in sampling".into()),
            reserved_bytes: Some(1000),
            peak_bytes: Some(980),
            ..reading(20, 750)
        })
        .finish(40);
    let memory = memory(&run).unwrap();
    let source = &memory.sources[0];
    assert_eq!(source.peak.allocated_bytes, 750);
    assert_eq!(source.peak.label.as_deref(), Some("in sampling"));
    assert_eq!(source.peak.node, Some(2));
    assert_eq!(source.peak.fragmentation_ratio, Some(0.25));
    assert_eq!(source.counted_peak_bytes, Some(980));
    assert_eq!(memory.labelled.len(), 1);
}

#[test]
fn fragmentation_needs_a_reserve() {
    assert_eq!(fragmentation_ratio(10, None), None);
    assert_eq!(fragmentation_ratio(0, Some(0)), None);
    assert_eq!(fragmentation_ratio(10, Some(5)), None);
    assert_eq!(fragmentation_ratio(30, Some(40)), Some(0.25));
}

#[test]
fn calls_that_were_not_recorded_one_by_one_are_named() {
    let mut run = RunBuilder::new()
        .section("load", 0, 10, |_| {})
        .section("load", 20, 30, |_| {})
        .memory(reading(5, 100))
        .finish(40);
    run.sections.truncate(1);
    assert_eq!(memory(&run).unwrap().sections[0].n_calls_missing, 1);
}

#[test]
fn the_peak_of_the_process_is_what_samplers_read_if_that_is_higher() {
    // recorder    20 ·  21          notes a change of 1 MiB or more
    // sampler      · 25  ·
    let of_process = |at_ns, allocated_bytes| MemoryReading {
        source: MemorySource::Process,
        ..reading(at_ns, allocated_bytes)
    };
    let resident = |values: &[(u64, f64)]| {
        let info = SeriesInfo::gauge("process.memory.resident", "", Unit::Bytes);
        let run = RunBuilder::new()
            .memory(of_process(1, 20))
            .memory(of_process(5, 21));
        let run = run.memory(reading(2, 7)).series(info, values).finish(10);
        let memory = memory(&run).unwrap();
        let peaks = memory
            .sources
            .iter()
            .map(|source| source.counted_peak_bytes);
        peaks.collect::<Vec<_>>()
    };
    assert_eq!(resident(&[(3, 25.0), (8, f64::NAN)]), [Some(25), None]);
    assert_eq!(resident(&[(3, 20.5)]), [None, None]);
}
