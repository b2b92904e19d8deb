use super::*;
use marey::{SeriesInfo, Unit};
use marey_testing::RunBuilder;

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
fn the_peak_lies_in_the_innermost_section_that_was_open() {
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
    assert_eq!(memory.sources[0].peak.node, Some(2));
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
fn the_peak_of_the_process_is_the_highest_that_anybody_read() {
    // recorder    20 ·  21          notes a change of 1 MiB or more
    // sampler      · 25  ·
    let of_process = |at_ns, allocated_bytes| MemoryReading {
        source: MemorySource::Process,
        ..reading(at_ns, allocated_bytes)
    };
    let resident = |values: &[(u64, f64)]| {
        let info = SeriesInfo::gauge("process.memory.resident", "", Unit::Bytes);
        let run = RunBuilder::new().memory(of_process(1, 20)).memory(of_process(5, 21));
        let run = run.memory(reading(2, 7)).series(info, values).finish(10);
        let memory = memory(&run).unwrap();
        let peaks = memory.sources.iter().map(|source| source.counted_peak_bytes);
        peaks.collect::<Vec<_>>()
    };
    assert_eq!(resident(&[(3, 25.0), (8, f64::NAN)]), [Some(25), None]);
    // It is no lower than any reading.
    assert_eq!(resident(&[(3, 20.5)]), [Some(21), None]);
}

#[test]
fn the_section_of_the_counted_peak_is_not_one_that_ended_long_before() {
    // ms         0        10                    20
    //            |denoise |-- decode, never left --
    // counted      100 MiB          400 MiB
    let at_end = |counted_mib: u64| {
        let used =
            |_| marey::Resources { peak_bytes: Some(100 << 20), ..marey::Resources::default() };
        let own = MemoryReading {
            source: MemorySource::Process,
            peak_bytes: Some(counted_mib << 20),
            ..reading(15, counted_mib << 20)
        };
        let run = RunBuilder::new()
            .section("denoise", 0, 10, |_| {})
            .open("decode", 10, |_| {})
            .used("denoise", used)
            .memory(own)
            .finish(20);
        memory(&run).unwrap().sources[0].counted_peak_node
    };
    assert_eq!(at_end(100), Some(1));
    // Less than a hundredth more.
    assert_eq!(at_end(101), Some(1));
    assert_eq!(at_end(400), None);
}
