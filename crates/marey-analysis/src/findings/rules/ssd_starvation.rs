//! Does a stage wait for the disk?
//!
//! ```text
//! stage         |- load -|---------- decode ----------|
//! disk, GB/s        2.1              0.03                   a tenth of what the disk gave elsewhere, or less
//! waiting for it    10 %             80 %                   tasks that waited for a disk, as a share of the stage
//! GPU                                15 %                   it has nothing to do meanwhile
//! ```
//!
//! Waiting and slow reading each are enough, but who waited for a disk is known of the whole machine only: another program that
//! writes makes it wait, too. A stage is blamed where this process itself read from disks meanwhile, which weights that are mapped
//! and fault in count as; otherwise nothing is.
//!
//! ```text
//! stage         |------- denoise -------|
//! waiting for it         60 %                       tasks of the machine
//! process.disk.read      0 B                        not this process: passed
//! ```
//!
//! A stage in which the GPU works most of the time is not held up, whatever the disk does. Of stages within one another the
//! innermost that has most of it is named.

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns, length_within, union};
use crate::quantity::{bytes_of, rounded_percent};
use crate::questions::during::{During, Stretch, during, highest_during, stretches};
use crate::questions::section_resources::{UsedResources, used_resources};
use crate::questions::sections::{Kind, SectionRow};
use crate::records::Records;

pub(super) const RULE: Rule = Rule {
    id: "ssd-starvation",
    category: Category::Io,
    checks: "a stage waits for the disk",
    limits: &[
        "gpu_utilization_ratio",
        "io_wait_ratio",
        "slow_read_bytes",
        "slow_read_ratio",
        "starved_ratio",
    ],
    saves: "the stage without what its bytes take at the best rate elsewhere in the run; bound: that, or the time waited",
    of: &[Check::Run(
        "`process.disk.read`, better with pressure on disks or `host.cpu.iowait`; stages as sections; better with the utilisation of GPUs",
        check,
    )],
};

/// Name of the series of what the process read from disks.
const READ: &str = "process.disk.read";

/// What this process has to read from disks in a second of a stage, for the waiting to be its own.
const OWN_READ_PER_SECOND: f64 = 1e6;

/// What it has to read in a stage altogether; an import or a configuration is less.
const OWN_READ_BYTES: f64 = 16e6;

/// A stage that waits for the disk.
struct Starved<'a> {
    row: &'a SectionRow,
    time: Vec<Interval>,
    waiting: Option<Waiting>,
    slow: Option<SlowReads>,
    /// Share of the stage in which the GPU worked, where it was read.
    gpu_ratio: Option<f64>,
}

/// Share of the stage in which tasks waited for a disk.
#[derive(Clone, Copy)]
struct Waiting {
    ratio: f64,
    from: &'static str,
    confidence: Confidence,
}

/// Reads of a stage that were far slower than others of the run.
#[derive(Clone, Copy)]
struct SlowReads {
    per_second: f64,
    best_per_second: f64,
    bytes: f64,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let is_long = |row: &&SectionRow| {
        row.kind == Kind::Section
            && row.share_of_wall_ratio.unwrap_or(0.0) > facts.thresholds.starved_ratio
    };
    let rows: Vec<&SectionRow> = facts.sections.tree.iter().filter(is_long).collect();
    let is_wanted = |node: usize| rows.iter().any(|row| row.node as usize == node);
    let records = Records::new(facts.run, is_wanted);
    let reads = facts.run.series.iter().find(|s| s.info.name == READ);
    let reads = reads.map_or(Vec::new(), |series| stretches(series, facts.run.wall_ns));
    let used = used_resources(facts.run);
    let mut is_any_known = false;
    let mut starved: Vec<Starved<'_>> = Vec::new();
    let (mut of_others, mut is_own_known): (Vec<Interval>, bool) = (Vec::new(), true);
    for row in rows {
        let time = union(records.of(row.node as usize).to_vec());
        let waiting = waiting(facts, &time);
        let own = own_reads(facts, &used, row, &time);
        let slow = own.and_then(|own| slow_reads(facts, &reads, &time, own));
        is_any_known |= waiting.is_some() || own.is_some();
        let waiting = waiting.filter(|waiting| is_much(facts, waiting.ratio, &time));
        let gpu_ratio = highest_during(facts.run, "gpu.utilization", &time).map(|gpu| gpu.value);
        let is_hidden =
            gpu_ratio.is_some_and(|ratio| ratio >= facts.thresholds.gpu_utilization_ratio);
        if is_hidden {
            continue;
        }
        if slow.is_some() || (waiting.is_some() && own.is_some_and(is_reading)) {
            starved.push(Starved { row, time, waiting, slow, gpu_ratio });
        } else if waiting.is_some() {
            is_own_known &= own.is_some();
            of_others.extend(time);
        }
    }
    if !is_any_known {
        return Outcome::Unknown(
            "neither pressure on disks nor what the process read from them is known of any stage"
                .into(),
        );
    }
    let innermost: Vec<Finding> = (0..starved.len())
        .filter(|at| !has_most_within(facts, &starved, *at))
        .map(|at| finding(facts, &starved[at]))
        .collect();
    if !innermost.is_empty() {
        return Outcome::Found(innermost);
    }
    let Some(waiting) = waiting(facts, &union(of_others)) else {
        return Outcome::Passed(
            "no stage waited much for a disk, or read far slower than others did".into(),
        );
    };
    let machine = format!(
        "tasks of this machine waited for disks for {} of the time of sections",
        rounded_percent(waiting.ratio)
    );
    if is_own_known {
        Outcome::Passed(machine + ", in which this process read next to nothing from them")
    } else {
        Outcome::Unknown(machine + "; what this process read from them is not known")
    }
}

/// Whether the process read enough from disks to be the one that waited.
fn is_reading(own: During) -> bool {
    own.value >= OWN_READ_PER_SECOND && own.growth() >= OWN_READ_BYTES
}

/// The pressure on disks, which counts tasks of the whole machine, else idle processors with a request under way.
fn waiting(facts: &Facts<'_>, time: &[Interval]) -> Option<Waiting> {
    if let Some(pressure) = during(facts.run, "pressure.io.some", "", time) {
        return Some(Waiting {
            ratio: pressure.value.min(1.0),
            from: "share of the stage in which tasks of the machine waited for a disk",
            confidence: Confidence::Medium,
        });
    }
    let iowait = during(facts.run, "host.cpu.iowait", "", time)?;
    Some(Waiting {
        ratio: iowait.value.min(1.0),
        from: "idle processors that waited for a disk during the stage, at most 1",
        confidence: Confidence::Low,
    })
}

fn is_much(facts: &Facts<'_>, ratio: f64, time: &[Interval]) -> bool {
    let waited_ns = part_of(length_ns(time), ratio);
    ratio > facts.thresholds.io_wait_ratio
        && facts.share_of_wall(waited_ns) > facts.thresholds.starved_ratio
}

/// What this process read in a stage: from readings at both ends of its calls, else from those that lie within it.
fn own_reads(
    facts: &Facts<'_>,
    used: &[UsedResources],
    row: &SectionRow,
    time: &[Interval],
) -> Option<During> {
    let of_row = used.iter().find(|used| used.node == row.node && used.is_whole());
    let exact = of_row.and_then(|used| used.process?.read_bytes);
    let known_ns = length_ns(time);
    let of_bytes = |bytes: u64| During { value: float(bytes) * 1e9 / float(known_ns), known_ns };
    exact.filter(|_| known_ns > 0).map(of_bytes).or_else(|| during(facts.run, READ, "", time))
}

fn slow_reads(
    facts: &Facts<'_>,
    reads: &[Stretch],
    time: &[Interval],
    here: During,
) -> Option<SlowReads> {
    let limits = facts.thresholds;
    let is_elsewhere = |s: &&Stretch| length_within(s.time, time) == 0;
    let elsewhere = reads.iter().filter(is_elsewhere).map(|s| s.value);
    let found = SlowReads {
        per_second: here.value,
        best_per_second: elsewhere.fold(0.0, f64::max),
        bytes: here.growth(),
    };
    let is_slow = found.per_second < found.best_per_second * limits.slow_read_ratio;
    (is_slow && found.bytes > limits.slow_read_bytes).then_some(found)
}

/// Whether another starved stage within this one has at least half of its time.
fn has_most_within(facts: &Facts<'_>, starved: &[Starved<'_>], at: usize) -> bool {
    let outer = &starved[at];
    let parent = |node: u32| facts.run.nodes.get(node as usize).and_then(|n| n.parent);
    starved.iter().any(|inner| {
        let mut above = std::iter::successors(parent(inner.row.node), |node| parent(*node));
        above.any(|node| node == outer.row.node)
            && length_ns(&inner.time) >= length_ns(&outer.time) / 2
    })
}

fn finding(facts: &Facts<'_>, starved: &Starved<'_>) -> Finding {
    let limits = facts.thresholds;
    let stage_ns = length_ns(&starved.time);
    let mut evidence = Vec::new();
    let mut said = Vec::new();
    if let Some(waiting) = starved.waiting {
        said.push(format!("for {} of its time", rounded_percent(waiting.ratio)));
        evidence.push(Evidence::ratio(waiting.from, waiting.ratio).against(limits.io_wait_ratio));
    }
    if let Some(slow) = starved.slow {
        said.push(format!(
            "reading {}/s where the disk gave {}/s elsewhere in this run",
            bytes_of(slow.per_second),
            bytes_of(slow.best_per_second)
        ));
        let rate = FigureUnit::BytesPerSecond;
        evidence.push(
            Evidence::new("read from disks during the stage", slow.per_second, rate)
                .against(slow.best_per_second * limits.slow_read_ratio),
        );
        evidence.push(Evidence::new("best rate elsewhere", slow.best_per_second, rate));
        evidence.push(Evidence::new("bytes read from disks", slow.bytes, FigureUnit::Bytes));
    }
    evidence.push(Evidence::ns("time of the stage", stage_ns));
    evidence.extend(starved.gpu_ratio.map(|ratio| {
        Evidence::ratio("share of the stage in which the GPU worked", ratio)
            .against(limits.gpu_utilization_ratio)
    }));
    let (saving, at_stake_ns) = saving(starved, stage_ns);
    Finding {
        severity: Severity::of_share(facts.share_of_wall(at_stake_ns)),
        issue: format!("{} waits for the disk, {}", starved.row.name, said.join(", ")),
        remedy: "Keep weights that are read again in memory (page cache or pinned), offload to the host's memory and not to \
                 disk, read ahead while something else computes; look whether a model that is kept on the device now took the \
                 place of the offloading buffers."
            .into(),
        evidence,
        intervals: Finding::longest(starved.time.clone()),
        node: Some(starved.row.node),
        saving: Some(saving),
        confidence: match (starved.waiting, starved.slow) {
            (Some(_), Some(_)) => Confidence::High,
            (Some(waiting), None) => waiting.confidence,
            // A disk that is slow and a GPU that idles: nothing else explains both as well.
            (None, _) if starved.gpu_ratio.is_some() => Confidence::Medium,
            (None, _) => Confidence::Low,
        },
        ..RULE.finding()
    }
}

/// What could be saved, and the time that is at stake.
fn saving(starved: &Starved<'_>, stage_ns: u64) -> (Saving, u64) {
    let waited_ns = starved.waiting.map(|waiting| part_of(stage_ns, waiting.ratio));
    let beyond_ns = starved.slow.map(|slow| {
        let best_ns = slow.bytes * 1e9 / slow.best_per_second;
        part_of(stage_ns, 1.0 - best_ns / float(stage_ns.max(1)))
    });
    let at_most_ns = waited_ns.max(beyond_ns).unwrap_or(0);
    let how = match beyond_ns {
        Some(_) => {
            "the stage without what the same bytes would take at the best rate that this run read elsewhere, at most that or the time waited"
        }
        None => "the time waited: what could be read ahead or kept in memory is not known",
    };
    (Saving::of_time(beyond_ns, at_most_ns, how), at_most_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const S: u64 = 1_000_000_000;

    fn bytes_read(points: &[(u64, f64)]) -> RunBuilder {
        let info = SeriesInfo::cumulative(READ, "", Unit::Bytes);
        RunBuilder::new().series(info, points)
    }

    /// Document 000: weights are loaded at 2.1 GB/s, then decoding reads 0.03 GB/s for 400 s.
    ///
    /// ```text
    /// s         0    10                        410    420
    /// sections  |load|------ generate ----------|
    ///                |------- vae_decode -------|
    /// read, GB  0    21                         33     33
    /// ```
    fn better_transformer() -> Run {
        bytes_read(&[(0, 0.0), (10 * S, 21e9), (210 * S, 27e9), (410 * S, 33e9), (420 * S, 33e9)])
            .section("load", 0, 10 * S, |_| {})
            .section("generate", 10 * S, 410 * S, |s| {
                s.section("vae_decode", 10 * S, 410 * S, |_| {});
            })
            .finish(420 * S)
    }

    #[test]
    fn decoding_that_reads_at_a_seventieth_of_the_disks_rate_starves() {
        let run = better_transformer();
        let found = only(check_run(&RULE, &run));
        assert_eq!(run.nodes[found.node.unwrap() as usize].name, "vae_decode");
        assert_eq!(
            found.issue,
            "vae_decode waits for the disk, reading 28.6 MiB/s where the disk gave 2.0 GiB/s elsewhere in this run"
        );
        // 12 GB at 2.1 GB/s take 5.714 s of 400.
        let estimate_ns = found.saving.unwrap().estimate_ns.unwrap();
        assert_eq!(estimate_ns / 1_000_000, 394_285);
        assert_eq!((found.severity, found.confidence), (Severity::High, Confidence::Low));
    }

    #[test]
    fn a_tenth_of_the_rate_or_few_bytes_are_no_starvation() {
        let decode = |decoded: f64| {
            bytes_read(&[(0, 0.0), (S, 10e9), (2 * S, 10e9 + decoded)])
                .section("vae_decode", S, 2 * S, |_| {})
                .finish(10 * S)
        };
        // 10 GB/s elsewhere: the limit is at 1 GB/s; below 1 GB in all nobody reads weights.
        for decoded in [1.01e9, 0.9e9] {
            let passed = check_run(&RULE, &decode(decoded));
            assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        }
    }

    /// Loading for 10 s that reads so much, or nobody knows how much, while tasks wait for a disk.
    fn pressure_beside(waited_s: f64, utilization: Option<f64>, read: Option<f64>) -> Run {
        let some = SeriesInfo::cumulative("pressure.io.some", "", Unit::Seconds);
        let gpu = SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio);
        let used: Vec<(u64, f64)> =
            utilization.iter().flat_map(|u| [(0, *u), (10 * S, *u)]).collect();
        let read = read.map_or(RunBuilder::new(), |bytes| {
            bytes_read(&[(0, 0.0), (10 * S, bytes), (20 * S, bytes)])
        });
        read.section("load", 0, 10 * S, |_| {})
            .series(some, &[(0, 0.0), (10 * S, waited_s), (20 * S, waited_s)])
            .series(gpu, &used)
            .finish(20 * S)
    }

    fn pressure(waited_s: f64, utilization: Option<f64>) -> Run {
        pressure_beside(waited_s, utilization, Some(5e9))
    }

    #[test]
    fn a_stage_that_reads_nothing_is_not_blamed_for_what_the_machine_waits() {
        // Nothing, 15 MB in all, and not known: other programs made the machine wait, as far as anybody knows.
        for read in [Some(0.0), Some(15e6)] {
            let Outcome::Passed(said) = check_run(&RULE, &pressure_beside(9.0, None, read)) else {
                panic!("{read:?}");
            };
            assert!(
                said.starts_with("tasks of this machine waited for disks for 90 % of"),
                "{said}"
            );
        }
        let unknown = check_run(&RULE, &pressure_beside(9.0, None, None));
        assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
        // Mapped weights that fault in at 2 MB/s are read by this process.
        let found = only(check_run(&RULE, &pressure_beside(9.0, None, Some(20e6))));
        assert_eq!(found.issue, "load waits for the disk, for 90 % of its time");
        assert_eq!(found.severity, Severity::High);
    }

    #[test]
    fn a_stage_under_pressure_waits_unless_the_gpu_works_meanwhile() {
        let found = only(check_run(&RULE, &pressure(5.0, None)));
        assert_eq!(found.saving.unwrap().at_most_ns, Some(5 * S));
        assert_eq!(found.confidence, Confidence::Medium);
        let idle = check_run(&RULE, &pressure(5.0, Some(0.3)));
        assert!(matches!(idle, Outcome::Found(_)));
        let busy = check_run(&RULE, &pressure(5.0, Some(0.9)));
        assert!(matches!(busy, Outcome::Passed(_)));
    }

    #[test]
    fn a_fifth_of_the_stage_is_not_above_it() {
        let passed = check_run(&RULE, &pressure(2.0, None));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    #[test]
    fn a_run_without_readings_of_disks_cannot_tell() {
        let run = RunBuilder::new().section("load", 0, 90, |_| {}).finish(100);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
