//! Was the processor busy, and with whom?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::{Figures, Growth, Merge, growth, together};
use crate::stats::float;

/// Processor time. Ratios of the machine are of all its cores: 1 is all of them, all the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CpuUse {
    /// Cores of the machine; `None` when unknown.
    pub n_cores: Option<u64>,
    /// Share of the machine's processor time that was spent working; `None` also when the number of cores is not known.
    pub busy_ratio: Option<Figures>,
    /// Share in which cores had nothing to do but wait for a disk; absent as `busy_ratio`.
    pub iowait_ratio: Option<Figures>,
    /// Share that a hypervisor gave to others; absent as `busy_ratio`.
    pub steal_ratio: Option<Figures>,
    /// Each core, by number.
    pub cores: Vec<CoreUse>,
    /// This process.
    pub process: Option<CpuTime>,
    /// Cores that the processes below this one kept busy on average, and at most; 1 is one core.
    pub children_cores: Option<Figures>,
    /// Seconds in which threads of the process could have run and had no processor, of all threads added up.
    pub waited: Option<Growth>,
    /// Time in which the control group was not let run, in seconds.
    pub throttled: Option<Growth>,
    /// Load averages.
    pub load: Vec<LoadAverage>,
    /// Context switches of the machine.
    pub switches: Option<Growth>,
    /// Context switches of the process because it waited.
    pub voluntary_switches: Option<Growth>,
    /// Context switches of the process because others were to run.
    pub involuntary_switches: Option<Growth>,
}

/// One core.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CoreUse {
    /// Its number.
    pub core: String,
    /// Share of the time in which it worked.
    pub busy_ratio: Figures,
}

/// Processor time of a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CpuTime {
    /// Seconds in the program; `None` when not read twice.
    pub user_s: Option<f64>,
    /// Seconds in the kernel; `None` when not read twice.
    pub system_s: Option<f64>,
    /// Cores that it kept busy, program and kernel together; `None` unless both were read twice.
    pub cores: Option<Figures>,
}

/// The mean number of tasks that wanted to run.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LoadAverage {
    /// Over how many minutes: `1`, `5`, `15`.
    pub minutes: String,
    /// The readings.
    pub load: Figures,
}

impl CpuUse {
    /// Share of the time in which threads of the process wanted a processor that they had none, 0 to 1; `None` unless both were read.
    pub fn waited_ratio(&self) -> Option<f64> {
        let process = self.process?;
        let had_s = process.user_s? + process.system_s?;
        let waited_s = self.waited?.total;
        (had_s + waited_s > 0.0).then(|| waited_s / (had_s + waited_s))
    }
}

pub(super) fn cpu(sampled: &Sampled<'_>) -> Option<CpuUse> {
    let n_cores = n_cores(sampled);
    let of_machine = |name: &str| {
        let rate = sampled.growth(name, "")?.per_second;
        let cores = n_cores.filter(|n| *n > 0)?;
        Some(rate.scaled(1.0 / float(cores)).at_most_all())
    };
    let found = CpuUse {
        n_cores,
        busy_ratio: of_machine("host.cpu.busy"),
        iowait_ratio: of_machine("host.cpu.iowait"),
        steal_ratio: of_machine("host.cpu.steal"),
        cores: cores(sampled),
        process: process(sampled, n_cores),
        children_cores: rate(sampled, "children.cpu.time"),
        waited: sampled.growth("process.cpu.wait", ""),
        throttled: sampled.growth("cgroup.cpu.throttled", ""),
        load: load(sampled),
        switches: sampled.growth("host.context_switches", ""),
        voluntary_switches: sampled.growth("process.context_switches.voluntary", ""),
        involuntary_switches: sampled.growth("process.context_switches.involuntary", ""),
    };
    // The number of cores alone is a fact, no reading.
    let nothing = CpuUse { n_cores, ..CpuUse::default() };
    (found != nothing).then_some(found)
}

/// Cores of the machine: what it said, else as many as were read.
pub(super) fn n_cores(sampled: &Sampled<'_>) -> Option<u64> {
    let said = sampled.number_fact("host.cpus");
    let read = sampled.subjects("core.cpu.busy").len() as u64;
    said.or_else(|| (read > 0).then_some(read))
}

fn rate(sampled: &Sampled<'_>, name: &str) -> Option<Figures> {
    Some(sampled.growth(name, "")?.per_second)
}

fn cores(sampled: &Sampled<'_>) -> Vec<CoreUse> {
    let name = "core.cpu.busy";
    let core = |core: &str| {
        Some(CoreUse {
            core: core.to_owned(),
            busy_ratio: sampled.growth(name, core)?.per_second.at_most_all(),
        })
    };
    sampled.subjects(name).into_iter().filter_map(core).collect()
}

fn process(sampled: &Sampled<'_>, n_cores: Option<u64>) -> Option<CpuTime> {
    let [user, system] = ["process.cpu.user", "process.cpu.system"];
    let both = || {
        let both = [sampled.points(user, "")?, sampled.points(system, "")?];
        let sum = together(&both.map(<[_]>::to_vec), Merge::Sum);
        let cores = growth(&sum, &sampled.places)?.per_second;
        // Where they are counted in hundredths of a second, two that are close seem to have more between them.
        Some(n_cores.filter(|n| *n > 0).map_or(cores, |n| cores.at_most(float(n))))
    };
    let found = CpuTime {
        user_s: sampled.growth(user, "").map(|g| g.total),
        system_s: sampled.growth(system, "").map(|g| g.total),
        cores: both(),
    };
    (found.user_s.is_some() || found.system_s.is_some()).then_some(found)
}

fn load(sampled: &Sampled<'_>) -> Vec<LoadAverage> {
    let name = "host.load";
    let over = |minutes: &str| {
        Some(LoadAverage { minutes: minutes.to_owned(), load: sampled.gauge(name, minutes)? })
    };
    sampled.subjects(name).into_iter().filter_map(over).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    use crate::telemetry;

    const SECOND: u64 = 1_000_000_000;

    fn seconds(name: &str, subject: &str) -> SeriesInfo {
        SeriesInfo::cumulative(name, subject, Unit::Seconds)
    }

    #[test]
    fn a_process_has_no_more_processors_than_there_are() {
        // Hundredths of a second: 0.02 s of two readings that are 8 ms apart.
        let run = RunBuilder::new()
            .with(|run| run.info.facts = vec![("host.cpus".into(), "2".into())])
            .series(seconds("process.cpu.user", ""), &[(0, 1.0), (8_000_000, 1.02), (SECOND, 1.50)])
            .series(seconds("process.cpu.system", ""), &[(0, 0.0), (8_000_000, 0.0), (SECOND, 0.0)])
            .series(seconds("process.cpu.wait", ""), &[(0, 3.0), (SECOND, 3.25)])
            .finish(SECOND);
        let cpu = telemetry(&run).cpu.unwrap();
        let cores = cpu.process.unwrap().cores.unwrap();
        assert_eq!((cores.max, cores.mean), (2.0, 0.5));
        // Of 0.75 s in which it wanted a processor.
        assert!((cpu.waited_ratio().unwrap() - 0.25 / 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_machine_is_busy_by_the_share_of_its_cores() {
        // 0 s to 2 s: 4 of 8 core seconds, 2 s to 3 s: 4 of 4.
        let run = RunBuilder::new()
            .with(|run| run.info.facts = vec![("host.cpus".into(), "4".into())])
            .section("load", 0, 2 * SECOND, |_| {})
            .section("denoise", 2 * SECOND, 3 * SECOND, |_| {})
            .series(
                seconds("host.cpu.busy", ""),
                &[(0, 100.0), (2 * SECOND, 104.0), (3 * SECOND, 108.0)],
            )
            .finish(3 * SECOND);
        let cpu = telemetry(&run).cpu.unwrap();
        let busy = cpu.busy_ratio.unwrap();
        assert_eq!((busy.min, busy.max), (0.5, 1.0));
        assert!((busy.mean - 8.0 / 12.0).abs() < 1e-12);
        let node = busy.peak.node.unwrap();
        assert_eq!(run.nodes[node as usize].name, "denoise");
        assert_eq!(cpu.iowait_ratio, None);
        assert_eq!(cpu.process, None);
    }

    #[test]
    fn a_machine_of_unknown_size_has_no_share() {
        let run = RunBuilder::new()
            .series(seconds("host.cpu.busy", ""), &[(0, 0.0), (SECOND, 1.0)])
            .series(seconds("children.cpu.time", ""), &[(0, 0.0), (SECOND, 1.5)])
            .finish(SECOND);
        let cpu = telemetry(&run).cpu.unwrap();
        assert_eq!((cpu.n_cores, cpu.busy_ratio), (None, None));
        assert_eq!(cpu.children_cores.unwrap().mean, 1.5);
    }

    #[test]
    fn a_process_keeps_cores_busy_in_program_and_kernel() {
        let run = RunBuilder::new()
            .series(seconds("process.cpu.user", ""), &[(0, 1.0), (SECOND, 2.5), (2 * SECOND, 3.0)])
            .series(
                seconds("process.cpu.system", ""),
                &[(0, 0.0), (SECOND, 0.5), (2 * SECOND, 0.5)],
            )
            .finish(2 * SECOND);
        let process = telemetry(&run).cpu.unwrap().process.unwrap();
        assert_eq!((process.user_s, process.system_s), (Some(2.0), Some(0.5)));
        let cores = process.cores.unwrap();
        assert_eq!((cores.min, cores.mean, cores.max), (0.5, 1.25, 2.0));
    }

    #[test]
    fn cores_are_in_the_order_of_their_numbers() {
        let readings = [(0, 0.0), (SECOND, 0.5)];
        let run = RunBuilder::new()
            .series(seconds("core.cpu.busy", "10"), &readings)
            .series(seconds("core.cpu.busy", "2"), &readings)
            .finish(SECOND);
        let cpu = telemetry(&run).cpu.unwrap();
        let cores: Vec<&str> = cpu.cores.iter().map(|c| c.core.as_str()).collect();
        assert_eq!(cores, ["2", "10"]);
        assert_eq!(cpu.n_cores, Some(2));
    }

    #[test]
    fn a_coarse_tick_does_not_make_a_core_more_than_busy() {
        let run = RunBuilder::new()
            .series(seconds("core.cpu.busy", "0"), &[(0, 0.0), (SECOND, 1.01)])
            .series(seconds("host.cpu.busy", ""), &[(0, 0.0), (SECOND, 1.01)])
            .finish(SECOND);
        let found = telemetry(&run);
        let cpu = found.cpu.unwrap();
        assert_eq!(cpu.cores[0].busy_ratio.max, 1.0);
        assert_eq!(cpu.busy_ratio.unwrap().mean, 1.0);
        assert_eq!(found.cpu_timeline[1].busy_ratio, Some(1.0));
    }

    #[test]
    fn a_first_reading_is_no_load_of_zero() {
        // The original averaged a first sample of 0.0 %.
        let run = RunBuilder::new()
            .with(|run| run.info.facts = vec![("host.cpus".into(), "1".into())])
            .series(seconds("host.cpu.busy", ""), &[(0, 5.0)])
            .finish(SECOND);
        assert_eq!(telemetry(&run).cpu, None);
    }
}
