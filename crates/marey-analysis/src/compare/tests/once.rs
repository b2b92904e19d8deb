//! What is done once: limits instead of chance, and what the document says of them.

use super::*;

#[test]
fn memory_within_its_floor_is_the_same() {
    let with_peak = |mib: u64| {
        let reading = MemoryReading {
            at_ns: 5,
            label: None,
            source: MemorySource::TorchCuda(0),
            allocated_bytes: mib << 20,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        };
        RunBuilder::new().memory(reading).finish(10)
    };
    let of = |a, b| {
        let found = one(&with_peak(a), &with_peak(b));
        verdict(&found, MeasureKind::MemoryPeak, &Subject::Memory("cuda:0".into()))
    };
    assert_eq!(of(8000, 8300), Verdict::Same, "3.75 %");
    assert_eq!(of(500, 560), Verdict::Same, "12 %, but 60 MiB");
    assert_eq!(of(8000, 8500), Verdict::Worse);
    assert_eq!(of(8500, 8000), Verdict::Better);
}

#[test]
fn reads_that_stop_while_nothing_gets_slower_are_no_harm() {
    let with_reads = |per_second: f64| {
        RunBuilder::new()
            .section("load", 0, 20 * SECOND, |_| {})
            .used("load", |_| reads(20.0 * per_second))
            .finish(20 * SECOND)
    };
    let found = one(&with_reads(GB), &with_reads(0.0));
    let rate = find(&found, MeasureKind::SectionReadRate, &path(&["load"]));
    assert_eq!((rate.verdict, rate.change.unwrap().ratio), (Verdict::Different, Some(0.0)));
    assert_eq!((found.verdict, found.headline.len()), (Verdict::Same, 0));
}

#[test]
fn a_longer_sleep_is_no_disk_read() {
    // 1 GB in either run; vae_decode takes 2 s, then 8 s, in which tasks waited for disks so many seconds.
    let decoding = |seconds: u64, waited_s: f64| {
        let wall_ns = (seconds + 2) * SECOND;
        let info = SeriesInfo::cumulative("pressure.io.some", "", Unit::Seconds);
        RunBuilder::new()
            .section("vae_decode", 0, seconds * SECOND, |_| {})
            .used("vae_decode", |_| reads(GB))
            .series(info, &[(0, 0.0), (wall_ns, waited_s)])
            .finish(wall_ns)
    };
    let of = |waited_s| {
        let found = one(&decoding(2, 0.5), &decoding(8, waited_s));
        let of = |kind| verdict(&found, kind, &path(&["vae_decode"]));
        (of(MeasureKind::SectionTotal), of(MeasureKind::SectionReadRate))
    };
    assert_eq!(of(0.6), (Verdict::Worse, Verdict::Different));
    assert_eq!(of(6.5), (Verdict::Worse, Verdict::Worse));
}

#[test]
fn a_first_block_that_takes_twice_as_long_and_a_second_is_worse() {
    let streamed = |first_s: u64| {
        let block = |index, seconds: u64| {
            marey::Generation::Block(marey::BlockComputation {
                index: Some(index),
                size: Some(3),
                computation_ns: Some(seconds * SECOND),
                memory_bytes: None,
            })
        };
        let run = RunBuilder::new().generation(first_s * SECOND, None, block(0, first_s));
        run.generation((first_s + 2) * SECOND, None, block(1, 2)).finish((first_s + 3) * SECOND)
    };
    let of = |a, b| {
        let found = one(&streamed(a), &streamed(b));
        verdict(&found, MeasureKind::TimeToFirstBlock, &Subject::Run)
    };
    assert_eq!((of(2, 5), of(5, 2)), (Verdict::Worse, Verdict::Better));
    assert_eq!(of(2, 3), Verdict::CannotTell);
    assert_eq!(of(2, 2), Verdict::Same);
}

#[test]
fn loading_that_found_its_files_in_memory_before_is_not_slower() {
    // 3 s from the page cache, 9 s from the disk; nothing else differs.
    let loading = |seconds: u64, read: f64| {
        RunBuilder::new()
            .section("load", 0, seconds * SECOND, |_| {})
            .used("load", |_| reads(read))
            .finish((seconds + 2) * SECOND)
    };
    let of = |a: &Run, b: &Run| {
        let found = one(a, b);
        let load = verdict(&found, MeasureKind::SectionTotal, &path(&["load"]));
        (load, verdict(&found, MeasureKind::WallTime, &Subject::Run), found.verdict)
    };
    let (warm, cold) = (loading(3, 0.0), loading(9, 5e9));
    let open = (Verdict::CannotTell, Verdict::CannotTell, Verdict::Same);
    assert_eq!((of(&warm, &cold), of(&cold, &warm)), (open, open));
    let slow = loading(9, 0.0);
    assert_eq!(of(&warm, &slow), (Verdict::Worse, Verdict::Worse, Verdict::Worse));
}

const DOCUMENT: &str = include_str!("../../../../../docs/comparing.md");

#[test]
fn the_document_has_the_floors_of_the_code() {
    // Wherever a line of it ends.
    let document = DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = CompareOptions::default();
    let percent = |ratio: f64| format!("{:.0} %", ratio * 100.0);
    let seconds = floors::ONCE_NS / 1e9;
    for sentence in [
        format!(
            "a factor of {} and {seconds} s more or less; for the wall time, a factor of {} and {seconds} s.",
            floors::ONCE_RATIO,
            floors::WALL_RATIO
        ),
        format!(
            "Changes of time below {} are the same, with repeats below {}, however",
            percent(options.min_change_ratio),
            percent(options.min_repeated_change_ratio)
        ),
        format!(
            "less than {} of the run on both sides are not tested",
            percent(options.min_share_ratio)
        ),
        format!("{:.1} % is taken off for it", (floors::BETWEEN_RUNS - 1.0) * 100.0),
        format!(
            "A factor of {} for what devices compute, {} for what waits for the host or for other devices, {} for frames",
            floors::DEVICE_RATIO,
            floors::HOST_RATIO,
            floors::RATE_RATIO
        ),
        format!(
            "| memory | {} | {} MiB |",
            floors::MEMORY_RATIO,
            floors::least_amount(crate::findings::FigureUnit::Bytes) / 1_048_576.0
        ),
        format!("| bytes read and written; a second | {} |", floors::DISK_RATIO),
        format!("throttling; fragmentation | {} | 5 points |", floors::SHARE_RATIO),
        format!("| GPU: utilization; power, energy; clock | {} |", floors::GPU_RATIO),
        format!(
            "gone from the candidate took more than {} of the baseline's wall time",
            percent(obstacles::GONE_SHARE)
        ),
        format!("within a section that takes {} of it or more", percent(obstacles::STANDS_FOR_RUN)),
    ] {
        assert!(document.contains(&sentence), "{sentence}");
    }
}
