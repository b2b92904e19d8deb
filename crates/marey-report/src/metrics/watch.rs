//! Looks at a process, one after another, and what their differences say.

use std::sync::Arc;

use marey::live::Totals;
use marey::{Generated, Node, ReportSpan, ReportTimes, SeriesInfo};
use marey_analysis::GeneratingNodes;

use super::pace::Pace;
use super::{GpuNow, Metrics};
use crate::quantity::float;

/// Readings that are older say nothing about now.
const STALE_NS: u64 = 30_000_000_000;

/// What a process showed at one moment.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// When, on a clock that only goes forward.
    pub at_ns: u64,
    /// The latest reading of each series, and how old it was, in nanoseconds.
    pub readings: Vec<(SeriesInfo, f64, u64)>,
    /// What the program had reported until then.
    pub generated: Generated,
    /// When it made its newest reports, on the same clock.
    pub report_times: ReportTimes,
    /// Its call paths so far, by number, and what is known of the calls of each; empty where that cannot be seen.
    pub nodes: Arc<[Node]>,
    /// Of those with at least one completed call.
    pub totals: Vec<Totals>,
}

impl From<&marey::live::Look> for Look {
    fn from(look: &marey::live::Look) -> Self {
        let reading = |r: &marey::live::Reading| (r.info.clone(), r.value, r.age_ns);
        Self {
            at_ns: look.at_ns,
            readings: look.series.iter().map(reading).collect(),
            generated: look.generated,
            report_times: look.report_times,
            nodes: Arc::clone(&look.nodes),
            totals: look.totals.clone(),
        }
    }
}

/// Looks at one process.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    before: Option<Look>,
    /// Share of the machine and cores of the process, by the latest two readings.
    cpu: (Option<f64>, Option<f64>),
    paces: Paces,
    named: Named,
}

/// Of what the program reports.
#[derive(Clone, Debug, Default)]
struct Paces {
    steps: Pace,
    blocks: Pace,
    latent: Pace,
    delivered: Pace,
}

/// What is known by the names of loops and sections, where the program reports nothing.
#[derive(Clone, Debug, Default)]
struct Named {
    /// Of this many call paths.
    n_nodes: usize,
    makes: GeneratingNodes,
    steps: Pace,
    blocks: Pace,
}

impl Named {
    fn take(&mut self, look: &Look) {
        if look.nodes.len() != self.n_nodes {
            self.n_nodes = look.nodes.len();
            self.makes = GeneratingNodes::of(&look.nodes);
        }
        let Self {
            makes,
            steps,
            blocks,
            ..
        } = self;
        steps.take_calls(look.at_ns, &look.totals, |node| makes.steps.contains(&node));
        blocks.take_calls(look.at_ns, &look.totals, |node| {
            makes.blocks.contains(&node)
        });
    }
}

impl Watch {
    /// What is known with this look. Rates need a look before.
    pub fn look(&mut self, look: Look) -> Metrics {
        let mut metrics = Metrics::default();
        for (info, value, age_ns) in &look.readings {
            if *age_ns <= STALE_NS {
                metrics.take(info, *value);
            }
        }
        let available = look.value("host.memory.available");
        metrics.memory_total_bytes = metrics.memory_used_bytes.zip(available).map(|(a, b)| a + b);
        self.rates_of_cpu(&look);
        (metrics.cpu_ratio, metrics.process_cpu_cores) = self.cpu;
        self.named.take(&look);
        self.rates_of_generation(&look, &mut metrics);
        if self
            .before
            .as_ref()
            .is_none_or(|before| look.is_newer_than(before))
        {
            self.before = Some(look);
        }
        metrics
    }

    /// CPU time between two readings. Until the next one comes, what was known stays; when none comes any more, nothing is known.
    fn rates_of_cpu(&mut self, look: &Look) {
        let is_fresh = |name| look.age_ns(name).is_some_and(|age_ns| age_ns <= STALE_NS);
        if !is_fresh("host.cpu.busy") && !is_fresh("process.cpu.user") {
            self.cpu = (None, None);
        }
        let Some(before) = self
            .before
            .as_ref()
            .filter(|before| look.is_newer_than(before))
        else {
            return;
        };
        let cores = look.count("core.cpu.busy");
        let busy = look.rate_since(before, &["host.cpu.busy"]);
        let share = busy.zip(cores).map(|(busy, cores)| (busy / cores).min(1.0));
        let own = look.rate_since(before, &["process.cpu.user", "process.cpu.system"]);
        self.cpu = (share, own);
    }

    fn rates_of_generation(&mut self, look: &Look, metrics: &mut Metrics) {
        let (now, times) = (&look.generated, &look.report_times);
        metrics.dropped_frames = Some(now.dropped_frames).filter(|n| *n > 0);
        let rate = |pace: &mut Pace, reports: Option<ReportSpan>, count: u64, first: u64| {
            let newest = reports.map(|reports| (reports.at_ns, count));
            pace.take(
                look.at_ns,
                newest,
                reports.map(|reports| (reports.first_ns, first)),
            );
            pace.per_second()
        };
        let frames =
            |reports: Option<ReportSpan>| reports.map_or(0, |reports| reports.first_frames);
        let Paces {
            steps,
            blocks,
            latent,
            delivered,
        } = &mut self.paces;
        let Named {
            makes,
            steps: named_steps,
            blocks: named_blocks,
            ..
        } = &self.named;
        let reported = rate(steps, times.steps, now.steps, 1);
        (metrics.steps, metrics.steps_per_second) = match now.steps {
            0 => (made(look, &makes.steps), named_steps.per_second()),
            n => (n, reported),
        };
        let reported = rate(blocks, times.blocks, now.blocks, 1);
        (metrics.blocks, metrics.blocks_per_second) = match now.blocks {
            0 => (made(look, &makes.blocks), named_blocks.per_second()),
            n => (n, reported),
        };
        let of_block = frames(times.blocks);
        let latent = rate(latent, times.blocks, now.block_frames, of_block);
        let of_delivery = frames(times.deliveries);
        let delivered = rate(
            delivered,
            times.deliveries,
            now.streamed_frames,
            of_delivery,
        );
        metrics.frames_per_second = if now.streamed_frames > 0 {
            delivered
        } else {
            latent
        };
    }
}

/// Calls that have ended and did not fail: those made nothing.
fn made(look: &Look, nodes: &[u32]) -> u64 {
    let wanted = look
        .totals
        .iter()
        .filter(|totals| nodes.contains(&totals.node));
    let made = wanted.map(|totals| totals.count.saturating_sub(totals.errors));
    made.fold(0, u64::saturating_add)
}

impl Look {
    fn value(&self, name: &str) -> Option<f64> {
        let found = self.readings.iter().find(|(info, ..)| info.name == name);
        found.map(|(_, value, _)| *value)
    }

    /// How many series have a name.
    fn count(&self, name: &str) -> Option<f64> {
        let named = self.readings.iter().filter(|(info, ..)| info.name == name);
        let n = u32::try_from(named.count()).ok()?;
        (n > 0).then(|| f64::from(n))
    }

    /// How old the reading of a series was.
    fn age_ns(&self, name: &str) -> Option<u64> {
        let found = self.readings.iter().find(|(info, ..)| info.name == name);
        found.map(|(_, _, age_ns)| *age_ns)
    }

    /// When a series was read.
    fn read_at_ns(&self, name: &str) -> Option<u64> {
        Some(self.at_ns.saturating_sub(self.age_ns(name)?))
    }

    fn is_newer_than(&self, before: &Self) -> bool {
        let at = |look: &Self| {
            look.read_at_ns("host.cpu.busy")
                .or(look.read_at_ns("process.cpu.user"))
        };
        match (at(self), at(before)) {
            // Ages are converted from ticks, and differ by rounding.
            (Some(now), Some(then)) => now > then + 1_000_000,
            _ => true,
        }
    }

    /// Growth of cumulative series, together, in a second; `None` when nothing was read in between.
    fn rate_since(&self, before: &Self, names: &[&str]) -> Option<f64> {
        let (first, last) = (before.read_at_ns(names[0])?, self.read_at_ns(names[0])?);
        let seconds = seconds(last.checked_sub(first)?);
        let growth = |name: &&str| Some(self.value(name)? - before.value(name)?);
        let total: Option<f64> = names.iter().map(growth).sum();
        total
            .filter(|_| seconds > 0.001)
            .map(|total| (total / seconds).max(0.0))
    }
}

impl Metrics {
    fn take(&mut self, info: &SeriesInfo, value: f64) {
        if let Some(name) = info.name.strip_prefix("gpu.") {
            self.gpu(&info.subject).take(name, value);
            return;
        }
        let place = match info.name.as_str() {
            "host.memory.used" => &mut self.memory_used_bytes,
            "process.memory.resident" => &mut self.process_memory_bytes,
            _ => return,
        };
        *place = Some(value);
    }

    fn gpu(&mut self, id: &str) -> &mut GpuNow {
        let at = self.gpus.iter().position(|gpu| gpu.id == id);
        let at = at.unwrap_or_else(|| {
            self.gpus.push(GpuNow {
                id: id.to_owned(),
                ..GpuNow::default()
            });
            self.gpus.len() - 1
        });
        &mut self.gpus[at]
    }
}

impl GpuNow {
    fn take(&mut self, name: &str, value: f64) {
        let place = match name {
            "memory.used" => &mut self.memory_used_bytes,
            "memory.total" => &mut self.memory_total_bytes,
            "memory.process" => &mut self.memory_process_bytes,
            "utilization" => &mut self.utilization_ratio,
            "temperature" => &mut self.temperature_celsius,
            "power" => &mut self.power_watts,
            "clock.sm" => &mut self.clock_hertz,
            _ => return,
        };
        *place = Some(value);
    }
}

fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

#[cfg(test)]
mod tests {
    use marey::Unit;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn read(at_ns: u64, values: &[(&str, &str, f64)]) -> Look {
        let reading = |(name, subject, value): &(&str, &str, f64)| {
            (SeriesInfo::gauge(name, subject, Unit::Count), *value, 0)
        };
        Look {
            at_ns,
            readings: values.iter().map(reading).collect(),
            ..Look::default()
        }
    }

    #[test]
    fn cpu_time_of_four_cores_is_a_share_of_them_and_needs_two_looks() {
        let cores: Vec<_> = ["0", "1", "2", "3"]
            .map(|core| ("core.cpu.busy", core, 1.0))
            .into();
        let at = |at_ns, busy, user, system| {
            let mut values = cores.clone();
            values.push(("host.cpu.busy", "", busy));
            values.push(("process.cpu.user", "", user));
            values.push(("process.cpu.system", "", system));
            read(at_ns, &values)
        };
        let mut watch = Watch::default();
        assert_eq!(watch.look(at(0, 100.0, 5.0, 1.0)).cpu_ratio, None);
        // In 2 s, 6 of 8 core seconds were busy; this process took 3 of them.
        let metrics = watch.look(at(2 * S, 106.0, 7.5, 1.5));
        assert_eq!(metrics.cpu_ratio, Some(0.75));
        assert_eq!(metrics.process_cpu_cores, Some(1.5));
    }

    #[test]
    fn a_look_between_two_readings_knows_what_the_last_two_said() {
        let mut watch = Watch::default();
        let at = |at_ns, busy, age_ns| {
            let mut look = read(
                at_ns,
                &[("host.cpu.busy", "", busy), ("core.cpu.busy", "0", 1.0)],
            );
            look.readings
                .iter_mut()
                .for_each(|(_, _, age)| *age = age_ns);
            look
        };
        watch.look(at(0, 10.0, 0));
        assert_eq!(watch.look(at(S, 10.0, S)).cpu_ratio, None);
        // The reading of 2 s, against that of 0 s; then again the same one; then the one of 6 s; then nothing any more.
        assert_eq!(watch.look(at(3 * S, 11.0, S)).cpu_ratio, Some(0.5));
        assert_eq!(watch.look(at(4 * S, 11.0, 2 * S)).cpu_ratio, Some(0.5));
        assert_eq!(watch.look(at(6 * S, 14.0, 0)).cpu_ratio, Some(0.75));
        assert_eq!(watch.look(at(40 * S, 14.0, 34 * S)).cpu_ratio, None);
    }

    #[test]
    fn what_a_gpu_does_not_say_is_absent_and_old_readings_are_too() {
        let mut look = read(
            0,
            &[
                ("gpu.memory.used", "GPU-b", 3.0),
                ("gpu.memory.total", "GPU-b", 12.0),
                ("gpu.power", "GPU-a", 0.0),
                ("gpu.temperature", "GPU-a", 50.0),
            ],
        );
        look.readings[3].2 = 31 * S;
        let metrics = Watch::default().look(look);
        // In the sampler's order, whatever their names.
        let expected = [
            GpuNow {
                id: "GPU-b".into(),
                memory_used_bytes: Some(3.0),
                memory_total_bytes: Some(12.0),
                ..GpuNow::default()
            },
            GpuNow {
                id: "GPU-a".into(),
                power_watts: Some(0.0),
                ..GpuNow::default()
            },
        ];
        assert_eq!(metrics.gpus, expected);
        assert_eq!(metrics.gpus[0].memory_ratio(), Some(0.25));
        assert_eq!(metrics.memory_ratio(), None);
    }

    #[test]
    fn delivered_frames_go_before_latent_ones() {
        let newest = |first_ns, first_frames| {
            Some(ReportSpan {
                at_ns: 4 * S,
                first_ns,
                first_frames,
            })
        };
        let metrics = Watch::default().look(Look {
            at_ns: 4 * S,
            generated: Generated {
                block_frames: 3,
                streamed_frames: 24,
                dropped_frames: 1,
                blocks: 2,
                steps: 2,
            },
            report_times: ReportTimes {
                steps: newest(3 * S, 0),
                blocks: newest(2 * S, 3),
                deliveries: newest(2 * S, 12),
            },
            ..Look::default()
        });
        assert_eq!(metrics.frames_per_second, Some(6.0));
        assert_eq!(metrics.steps_per_second, Some(1.0));
        assert_eq!(metrics.blocks_per_second, Some(0.5));
        assert_eq!(metrics.dropped_frames, Some(1));
    }
}
