//! Looks at a process, one after another, and what their differences say.

use std::collections::VecDeque;

use marey::{Generated, SeriesInfo};

use super::{GpuNow, Metrics};
use crate::quantity::float;

/// How far back rates of generation look. Blocks take seconds, so the time between two looks would often hold none.
const SPAN_NS: u64 = 30_000_000_000;
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
}

/// Looks at one process.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    before: Option<Look>,
    /// Share of the machine and cores of the process, by the latest two readings.
    cpu: (Option<f64>, Option<f64>),
    /// Times and counts, oldest first; a new entry only when a count has changed.
    generated: VecDeque<(u64, Generated)>,
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

    /// Rates between the first and the last change that is remembered:
    ///
    /// ```text
    /// looks    |  |  |  |  |  |  |  |
    /// blocks   0  0  1  1  2  2  3  3     3 blocks from the first look to the seventh
    /// ```
    fn rates_of_generation(&mut self, look: &Look, metrics: &mut Metrics) {
        let now = look.generated;
        metrics.dropped_frames = Some(now.dropped_frames).filter(|n| *n > 0);
        if self.generated.back().is_none_or(|(_, last)| *last != now) {
            self.generated.push_back((look.at_ns, now));
        }
        while self.generated.len() > 2 && self.generated[0].0 + SPAN_NS < look.at_ns {
            self.generated.pop_front();
        }
        let (Some((then_ns, then)), Some((last_ns, _))) =
            (self.generated.front().copied(), self.generated.back())
        else {
            return;
        };
        let span_ns = last_ns.saturating_sub(then_ns);
        // Nothing has come for longer than it should have taken: no rate describes that.
        if look.at_ns.saturating_sub(*last_ns) > SPAN_NS.max(2 * span_ns) {
            return;
        }
        let rate = |count: fn(&Generated) -> u64| {
            let more = count(&now).saturating_sub(count(&then));
            (more > 0 && span_ns > 0).then(|| float(more) / seconds(span_ns))
        };
        metrics.frames_per_second = if now.streamed_frames > 0 {
            rate(|g| g.streamed_frames)
        } else {
            rate(|g| g.block_frames)
        };
        metrics.blocks_per_second = rate(|g| g.blocks);
        metrics.steps_per_second = rate(|g| g.steps);
    }
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
            generated: Generated::default(),
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
    fn rates_run_from_change_to_change_and_end_when_nothing_comes_any_more() {
        // seconds  0  1  2  3  4  5  6  7 .. 50
        // blocks   0  0  1  1  2  2  3  3 ..  3     each of 3 frames
        let mut watch = Watch::default();
        let mut at = |second: u64, blocks: u64| {
            let generated = Generated {
                blocks,
                block_frames: 3 * blocks,
                ..Generated::default()
            };
            watch.look(Look {
                at_ns: second * S,
                generated,
                ..Look::default()
            })
        };
        for (second, blocks) in [(0, 0), (1, 0)] {
            assert!(at(second, blocks).is_empty());
        }
        for (second, blocks) in [(2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3)] {
            let metrics = at(second, blocks);
            assert_eq!(metrics.blocks_per_second, Some(0.5));
            assert_eq!(metrics.frames_per_second, Some(1.5));
            assert_eq!(metrics.steps_per_second, None);
        }
        assert!(at(50, 3).is_empty());
    }

    #[test]
    fn delivered_frames_go_before_latent_ones() {
        let mut watch = Watch::default();
        watch.look(Look::default());
        let generated = Generated {
            block_frames: 3,
            streamed_frames: 12,
            dropped_frames: 1,
            blocks: 1,
            steps: 4,
        };
        let metrics = watch.look(Look {
            at_ns: 2 * S,
            generated,
            ..Look::default()
        });
        assert_eq!(metrics.frames_per_second, Some(6.0));
        assert_eq!(metrics.steps_per_second, Some(2.0));
        assert_eq!(metrics.dropped_frames, Some(1));
    }
}
