//! Does the program stand still while data moves between host and device?
//!
//! ```text
//! main       |offload|-- transformer --|onload|-- vae --|      both moves hold it up
//! loader                |--- to_device ---|                    this one is hidden behind the transformer
//! PCIe, B/s    20 G          0            20 G     0
//! GPU           0 %         100 %          0 %    100 %        idle while data moves
//! ```

mod trace;

use crate::findings::prelude::*;
use crate::intervals::{Interval, intersection, length_ns, union};
use crate::quantity::rounded_percent;
use crate::questions::during::{highest_during, stretches};
use crate::questions::work::{Work, calls};
use crate::section_lookup::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "exposed-transfers",
    category: Category::Io,
    checks: "data moves between host and device while nothing is computed",
    limits: &[
        "exposed_transfer_ratio",
        "gpu_utilization_ratio",
        "transfer_bytes_per_second",
        "transfer_gpu_ratio",
    ],
    saves: "no estimate; at most the moves, and no more than the time there is to hide them behind",
    of: &[
        Check::Run(
            "sections named as moves (`offload`, `onload`, `to_device`, `h2d`), or PCIe traffic beside the utilisation of GPUs",
            check,
        ),
        Check::Trace(
            "copies while no kernel ran; those from and to pageable memory, which cannot be hidden, are counted apart",
            trace::check,
        ),
    ],
};

/// Moves that nothing was hidden behind.
struct Exposed {
    time: Vec<Interval>,
    node: Option<u32>,
    /// Share of the time in which the GPU worked meanwhile, where it was read.
    gpu_ratio: Option<f64>,
    from: &'static str,
    confidence: Confidence,
    n_missing: u64,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let known: Vec<Exposed> = [of_sections(facts), of_bus(facts)].into_iter().flatten().collect();
    let longest = known.iter().max_by_key(|exposed| length_ns(&exposed.time));
    let Some(exposed) = longest else {
        return Outcome::Unknown(
            "no section is named as a move (offload, onload, to_device, h2d), and PCIe traffic was not read beside the GPU's utilisation"
                .into(),
        );
    };
    let share = facts.share_of_wall(length_ns(&exposed.time));
    if share > facts.thresholds.exposed_transfer_ratio {
        return Outcome::Found(vec![finding(facts, exposed, share)]);
    }
    let what = format!("moves held up at most {} of the wall time", rounded_percent(share));
    let n_missing = known.iter().map(|exposed| exposed.n_missing).max();
    Outcome::passed_without(n_missing.unwrap_or(0), what)
}

/// Sections on the main thread that are named as moves, unless the GPU worked meanwhile.
fn of_sections(facts: &Facts<'_>) -> Option<Exposed> {
    let moves = calls(facts.run, |name| Work::Moving.is_of(name));
    if moves.each.is_empty() {
        return None;
    }
    let moves = moves.of_thread(main_thread(facts.run));
    let time = moves.time();
    let gpu_ratio = highest_during(facts.run, "gpu.utilization", &time).map(|gpu| gpu.value);
    let is_hidden = gpu_ratio.is_some_and(|ratio| ratio >= facts.thresholds.gpu_utilization_ratio);
    Some(Exposed {
        time: if is_hidden { Vec::new() } else { time },
        node: moves.longest_node(),
        n_missing: moves.n_missing,
        gpu_ratio,
        from: "time in sections that are named as moves, on the main thread",
        confidence: if gpu_ratio.is_some() { Confidence::High } else { Confidence::Medium },
    })
}

/// Time with traffic on the bus of a GPU that does not work.
fn of_bus(facts: &Facts<'_>) -> Option<Exposed> {
    let limits = facts.thresholds;
    let where_ = |name: &str, subject: Option<&str>, is_so: &dyn Fn(f64) -> bool| {
        let named = facts.run.series.iter().filter(|s| {
            s.info.name == name && subject.is_none_or(|subject| s.info.subject == subject)
        });
        let read = named.flat_map(|series| stretches(series, facts.run.wall_ns));
        union(read.filter(|s| is_so(s.value)).map(|s| s.time).collect())
    };
    let mut gpus: Vec<&str> = (facts.run.series.iter())
        .filter(|s| s.info.name.starts_with("gpu.pcie."))
        .map(|s| s.info.subject.as_str())
        .collect();
    gpus.sort_unstable();
    gpus.dedup();
    let has_moves = |rate: f64| rate > limits.transfer_bytes_per_second;
    let each: Vec<Vec<Interval>> = gpus
        .into_iter()
        .filter(|gpu| !where_("gpu.utilization", Some(gpu), &|_| true).is_empty())
        .map(|gpu| {
            let idle =
                where_("gpu.utilization", Some(gpu), &|ratio| ratio < limits.transfer_gpu_ratio);
            let mut moving = where_("gpu.pcie.received", Some(gpu), &has_moves);
            moving.extend(where_("gpu.pcie.sent", Some(gpu), &has_moves));
            intersection(&idle, &union(moving))
        })
        .collect();
    let time = each.into_iter().max_by_key(|time| length_ns(time))?;
    Some(Exposed {
        gpu_ratio: highest_during(facts.run, "gpu.utilization", &time).map(|gpu| gpu.value),
        time,
        node: None,
        n_missing: 0,
        from: "time with traffic over PCIe while the GPU was idle",
        confidence: Confidence::Medium,
    })
}

fn finding(facts: &Facts<'_>, exposed: &Exposed, share: f64) -> Finding {
    let exposed_ns = length_ns(&exposed.time);
    let rest_ns = facts.run.wall_ns.saturating_sub(exposed_ns);
    let limit = facts.thresholds.exposed_transfer_ratio;
    let mut evidence = vec![
        Evidence::ratio("share of the wall time", share).against(limit),
        Evidence::ns(exposed.from, exposed_ns),
    ];
    evidence.extend(
        exposed
            .gpu_ratio
            .map(|ratio| Evidence::ratio("share of that time in which the GPU worked", ratio)),
    );
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Moves between host and device hold up the program for {} of the wall time",
            rounded_percent(share)
        ),
        remedy: "Move the next layer or model on a stream of its own while the present one computes, from pinned memory \
                 (diffusers: enable_group_offload with use_stream=True), or keep on the device what fits."
            .into(),
        evidence,
        intervals: Finding::longest(exposed.time.clone()),
        node: exposed.node,
        saving: Some(Saving::of_time(
            None,
            exposed_ns.min(rest_ns),
            "these moves, and no more than the time that is left to hide them behind",
        )),
        confidence: exposed.confidence,
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    /// Two moves of `move_ns` on the main thread in a run of 200.
    fn moving(move_ns: u64, utilization: &[(u64, f64)]) -> Run {
        let info = SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio);
        RunBuilder::new()
            .section("offload_text_encoder", 0, move_ns, |_| {})
            .section("denoise", 20, 100, |_| {})
            .section("vae.to_device", 100, 100 + move_ns, |_| {})
            .thread("loader")
            .section("to_device", 20, 90, |_| {})
            .series(info, utilization)
            .finish(200)
    }

    #[test]
    fn moves_on_the_main_thread_are_exposed_and_those_of_a_loader_are_not() {
        // 2 × 10 of 200: 10 %. The loader's 70 are hidden.
        let found = only(check_run(&RULE, &moving(10, &[])));
        assert_eq!(found.evidence[0].figure.value, 0.1);
        assert_eq!(found.evidence[1].figure.value, 20.0);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(20));
        assert_eq!(found.intervals.len(), 2);
        assert_eq!((found.severity, found.confidence), (Severity::Medium, Confidence::Medium));
    }

    #[test]
    fn an_idle_gpu_meanwhile_makes_it_certain_and_a_busy_one_hides_it() {
        let idle = moving(10, &[(0, 0.1), (50, 0.1), (100, 0.1), (150, 0.1)]);
        assert_eq!(only(check_run(&RULE, &idle)).confidence, Confidence::High);
        let busy = moving(10, &[(0, 0.9), (50, 0.9), (100, 0.9), (150, 0.9)]);
        assert!(matches!(check_run(&RULE, &busy), Outcome::Passed(_)));
    }

    #[test]
    fn five_percent_is_not_above_it() {
        let expected = Outcome::Passed("moves held up at most 5 % of the wall time".into());
        assert_eq!(check_run(&RULE, &moving(5, &[])), expected);
    }

    fn bus(idle: f64) -> Run {
        // 0    10    20    30    40
        //      0    20 G   0     0     B/s
        //    90 %  idle   90 %  90 %
        let gauge = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
        RunBuilder::new()
            .series(
                gauge("gpu.pcie.received", Unit::BytesPerSecond),
                &[(10, 0.0), (20, 20e9), (30, 0.0), (40, 0.0)],
            )
            .series(
                gauge("gpu.utilization", Unit::Ratio),
                &[(10, 0.9), (20, idle), (30, 0.9), (40, 0.9)],
            )
            .finish(50)
    }

    #[test]
    fn traffic_over_pcie_while_the_gpu_idles_is_an_exposed_transfer() {
        // The reading at 20 stands for 15–25: 10 of 50.
        let found = only(check_run(&RULE, &bus(0.1)));
        let expected = Interval { start_ns: 15, end_ns: 25 };
        assert_eq!(found.intervals, [expected]);
        assert_eq!(found.evidence[0].figure.value, 0.2);
        let passed = check_run(&RULE, &bus(0.2));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    #[test]
    fn a_run_that_names_no_moves_cannot_tell() {
        let run = RunBuilder::new().section("denoise", 0, 90, |_| {}).finish(100);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
