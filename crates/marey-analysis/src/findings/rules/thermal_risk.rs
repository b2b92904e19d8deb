//! Was a GPU too warm, or slowed down for heat?
//!
//! ```text
//! °C         60  ·  80  ·  86  ·  84  ·      limit 85: found, at the reading of 86; medium, because nothing was slowed down
//! throttled   -     -    heat    -           the driver held the clocks down for heat: high
//! ```

use marey::Series;

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded;
use crate::questions::telemetry::GpuUse;
use crate::readings::sound;

pub(super) const RULE: Rule = Rule {
    id: "thermal-risk",
    category: Category::Thermal,
    checks: "a GPU is about to be slowed down for heat, or was",
    limits: &["gpu_celsius"],
    saves: "the time in which clocks were held down, as a bound",
    of: &[Check::Run("temperature or throttling of GPUs", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let gpus = facts.telemetry.gpus.iter().flat_map(|gpus| &gpus.each);
    let known: Vec<&GpuUse> =
        gpus.filter(|gpu| gpu.temperature.is_some() || gpu.throttling.is_some()).collect();
    if known.is_empty() {
        return Outcome::Unknown(
            "no temperature of a GPU was sampled (monitor_gpu_temperature)".into(),
        );
    }
    let limit = facts.thresholds.gpu_celsius;
    let found: Vec<Finding> = known
        .iter()
        .filter(|gpu| was_throttled(gpu) || gpu.temperature.is_some_and(|t| t.max > limit))
        .map(|gpu| finding(facts, gpu, limit))
        .collect();
    if !found.is_empty() {
        return Outcome::Found(found);
    }
    let highest = known.iter().filter_map(|gpu| Some(gpu.temperature?.max));
    Outcome::Passed(match highest.reduce(f64::max) {
        Some(celsius) => {
            format!("at most {} °C, and no clocks held down for heat", rounded(celsius))
        }
        None => "no clocks were held down for heat".into(),
    })
}

fn was_throttled(gpu: &GpuUse) -> bool {
    gpu.throttling.is_some_and(|t| t.was_thermal)
}

fn finding(facts: &Facts<'_>, gpu: &GpuUse, limit: f64) -> Finding {
    let name = gpu.name.as_deref().unwrap_or(&gpu.uuid);
    let is_throttled = was_throttled(gpu);
    let highest = gpu.temperature.map(|t| t.max);
    let warm = highest.map(|celsius| format!("{} °C warm", rounded(celsius)));
    let issue = match (is_throttled, warm) {
        (true, Some(warm)) => format!("{name} was slowed down for heat, {warm} at most"),
        (true, None) => format!("{name} was slowed down for heat"),
        (false, warm) => format!("{name} was {}", warm.unwrap_or_default()),
    };
    let throttled_ns = gpu.throttling.map(|t| t.thermal_ns).filter(|_| is_throttled);
    let mut evidence = Vec::new();
    evidence.extend(highest.map(|celsius| {
        Evidence::new("highest temperature", celsius, FigureUnit::Celsius).against(limit)
    }));
    evidence.extend(
        throttled_ns.map(|ns| Evidence::new("time slowed down for heat", ns, FigureUnit::Ns)),
    );
    evidence.extend(
        gpu.power.map(|power| Evidence::new("highest power", power.max, FigureUnit::Watts)),
    );
    Finding {
        severity: if is_throttled { Severity::High } else { Severity::Medium },
        issue,
        remedy: "See to the airflow and fans, or lower the power limit (nvidia-smi -pl), which costs less speed than being slowed \
                 down for heat. Compare only runs that began equally warm."
            .into(),
        evidence,
        intervals: hot(facts, &gpu.uuid, limit),
        node: gpu.temperature.and_then(|t| t.peak.node),
        saving: throttled_ns.map(|ns| {
            Saving::of_time(
                None,
                whole(ns),
                "the time in which clocks were held down for heat; how much slower it went was not measured",
            )
        }),
        ..RULE.finding()
    }
}

/// When it read more than the limit.
fn hot(facts: &Facts<'_>, uuid: &str, limit: f64) -> Vec<Interval> {
    let is_wanted =
        |series: &&Series| series.info.name == "gpu.temperature" && series.info.subject == uuid;
    let series = facts.run.series.iter().filter(is_wanted);
    let points = series.flat_map(|series| sound(&series.points));
    let hot = points.filter(|point| point.max > limit);
    Finding::longest(hot.map(|point| Interval {
        start_ns: point.first_ns,
        end_ns: point.last_ns.max(point.first_ns),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    fn run(celsius: &[(u64, f64)], reasons: &[(u64, f64)]) -> Run {
        let gauge = |name, unit| SeriesInfo::gauge(name, "GPU-1", unit);
        RunBuilder::new()
            .series(gauge("gpu.temperature", Unit::Celsius), celsius)
            .series(gauge("gpu.throttle", Unit::Bits), reasons)
            .finish(40)
    }

    #[test]
    fn a_gpu_of_86_degrees_is_at_risk() {
        let run = run(&[(10, 80.0), (20, 86.0), (30, 84.0)], &[(10, 0.0), (20, 0.0)]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "GPU-1 was 86 °C warm");
        assert_eq!((found[0].severity, &found[0].saving), (Severity::Medium, &None));
        assert_eq!(found[0].intervals.len(), 1);
        assert_eq!(found[0].intervals[0].start_ns, 20);
    }

    #[test]
    fn a_gpu_that_was_slowed_down_for_heat_loses_that_time_at_most() {
        // 0x20 is heat. The reading at 20 stands for 15 to 25.
        let run = run(&[(20, 79.0)], &[(10, 0.0), (20, 32.0), (30, 0.0)]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "GPU-1 was slowed down for heat, 79 °C warm at most");
        assert_eq!(found[0].severity, Severity::High);
        assert_eq!(found[0].saving.as_ref().unwrap().at_most_ns, Some(10));
    }

    #[test]
    fn a_gpu_of_85_degrees_that_is_held_down_for_power_only_is_well() {
        let run = run(&[(10, 85.0)], &[(10, 4.0), (20, 4.0)]);
        let expected = "at most 85 °C, and no clocks held down for heat";
        assert_eq!(check_run(&RULE, &run), Outcome::Passed(expected.into()));
    }
}
