//! Looks at a process, one after another, and what they say together.

use std::collections::HashMap;

use marey::live::{LiveState, Process, Reading, Totals};
use marey::{NodeKind, ReportSpan, SeriesInfo, SeriesKind};
use marey_analysis::Named;

use super::STALE_NS;
use super::pace::{Pace, SAME_NS, SPAN_NS};
use super::snapshot::{GpuNow, HostNow, LiveSnapshot, LoopNow, Made};
use crate::quantity::float;

/// Looks at one process. Rates are those of records, by their own times; where one look does not know an earlier record, from the second
/// look on.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    paces: HashMap<What, Pace>,
    /// What call paths make by their names, of this many.
    makes: (usize, Named),
    before_ns: Option<u64>,
    readings: Vec<Reading>,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Calls(u32),
    Loop(String),
    NamedSteps,
    NamedBlocks,
    Steps,
    Blocks,
    LatentFrames,
    Delivered,
    Series(SeriesInfo),
}

impl Watch {
    /// What is known with this look at the process.
    pub fn take(&mut self, process: Option<Process>, mut look: LiveState) -> LiveSnapshot {
        // Time only goes on, but for how exactly the clock is known: another recording has begun.
        let is_earlier = |before_ns| look.at_ns.saturating_add(SAME_NS) < before_ns;
        if look.is_running() && self.before_ns.is_some_and(is_earlier) {
            *self = Self::default();
        }
        self.keep_readings(&mut look);
        if look.nodes.len() != self.makes.0 {
            self.makes = (look.nodes.len(), Named::new(&look.nodes));
        }
        let before_ns = self.before_ns.replace(look.at_ns);
        let calls = look.totals.iter().filter_map(|totals| {
            let rate = self.calls_per_second(What::Calls(totals.node), &look, [totals]);
            Some((totals.node, rate?))
        });
        let calls_per_second = calls.collect();
        let growth = look.series.iter().map(|r| self.growth_per_second(&look, r));
        let growth: Vec<Option<f64>> = growth.collect();
        LiveSnapshot {
            process,
            interval_ns: before_ns.and_then(|before_ns| look.at_ns.checked_sub(before_ns)),
            calls_per_second,
            newest_loop: self.newest_loop(&look),
            made: self.made(&look),
            gpus: gpus(&look),
            host: host(&look, &growth),
            growth_per_second: growth,
            look,
        }
    }

    /// A recording that is over shows no readings: those of the look before stay.
    fn keep_readings(&mut self, look: &mut LiveState) {
        if look.is_running() {
            self.readings.clone_from(&look.series);
            return;
        }
        for reading in &self.readings {
            if !look.series.iter().any(|known| known.info == reading.info) {
                look.series.push(reading.clone());
            }
        }
    }

    /// How many of these calls end in a second.
    fn calls_per_second<'a>(
        &mut self,
        of: What,
        look: &LiveState,
        calls: impl IntoIterator<Item = &'a Totals>,
    ) -> Option<f64> {
        let pace = self.paces.entry(of).or_default();
        pace.take_calls(look.at_ns, calls);
        known(pace, look).filter(|rate| *rate > 0.0)
    }

    fn growth_per_second(&mut self, look: &LiveState, reading: &Reading) -> Option<f64> {
        if reading.info.kind != SeriesKind::Cumulative {
            return None;
        }
        let pace = self.paces.entry(What::Series(reading.info.clone()));
        let pace = pace.or_default();
        let newest = (reading.at_ns, reading.value);
        pace.take((look.at_ns, 0), Some(newest), None);
        known(pace, look)
    }

    fn newest_loop(&mut self, look: &LiveState) -> Option<LoopNow> {
        let newest = look.newest_loop()?;
        let name = *look.path(newest.node).last()?;
        let is_its = |totals: &&Totals| {
            let node = totals.node;
            look.kind(node) == NodeKind::Iteration && look.path(node).last() == Some(&name)
        };
        let its: Vec<&Totals> = look.totals.iter().filter(is_its).collect();
        let mut totals = Totals { last_ns: newest.last_ns, ..Totals::default() };
        for own in &its {
            totals.count = totals.count.saturating_add(own.count);
            totals.errors = totals.errors.saturating_add(own.errors);
            totals.sum_ns = totals.sum_ns.saturating_add(own.sum_ns);
            let newest = own.iterations.iter().flat_map(|iterations| &iterations.newest_ns);
            let iterations = totals.iterations.get_or_insert_default();
            iterations.newest_ns.extend(newest);
        }
        Some(LoopNow {
            name: name.to_owned(),
            totals,
            per_second: self.calls_per_second(What::Loop(name.to_owned()), look, its),
        })
    }

    fn made(&mut self, look: &LiveState) -> Made {
        let Named { steps, blocks, .. } = self.makes.1.clone();
        let mut named = |of: What, nodes: &[u32]| {
            let calls = nodes.iter().filter_map(|node| look.totals_of(*node));
            let rate = self.calls_per_second(of, look, calls.clone());
            // Those that failed made nothing.
            let made = calls.map(|totals| totals.count.saturating_sub(totals.errors));
            (made.fold(0, u64::saturating_add), rate)
        };
        let named_steps = named(What::NamedSteps, &steps);
        let named_blocks = named(What::NamedBlocks, &blocks);
        let mut rate = |of: What, span: Option<ReportSpan>, count: u64, first: Option<u64>| {
            let newest = span.map(|span| (span.at_ns, float(count)));
            let earlier = span.map(|s| (s.first_ns, float(first.unwrap_or(s.first_frames))));
            let pace = self.paces.entry(of).or_default();
            pace.take((look.at_ns, SPAN_NS), newest, earlier);
            known(pace, look).filter(|rate| *rate > 0.0)
        };
        let (said, times) = (&look.generated, &look.report_times);
        let steps = rate(What::Steps, times.steps, said.steps, Some(1));
        let blocks = rate(What::Blocks, times.blocks, said.blocks, Some(1));
        let latent = rate(What::LatentFrames, times.blocks, said.block_frames, None);
        let delivered = rate(What::Delivered, times.deliveries, said.streamed_frames, None);
        let or_named = |said: u64, rate, named| if said > 0 { (said, rate) } else { named };
        let (steps, steps_per_second) = or_named(said.steps, steps, named_steps);
        let (blocks, blocks_per_second) = or_named(said.blocks, blocks, named_blocks);
        let is_delivered = said.streamed_frames > 0;
        Made {
            steps,
            blocks,
            frames_per_second: if is_delivered { delivered } else { latent },
            blocks_per_second,
            steps_per_second,
        }
    }
}

/// Of what is over there is no rate.
fn known(pace: &Pace, look: &LiveState) -> Option<f64> {
    pace.per_second().filter(|_| look.is_running())
}

fn fresh(look: &LiveState) -> impl Iterator<Item = &Reading> {
    let readings = look.series.iter();
    readings.filter(|reading| reading.age_ns <= STALE_NS)
}

fn gpus(look: &LiveState) -> Vec<GpuNow> {
    let mut gpus: Vec<GpuNow> = Vec::new();
    for Reading { info, value, .. } in fresh(look) {
        let Some(what) = info.name.strip_prefix("gpu.") else {
            continue;
        };
        let at = gpus.iter().position(|gpu| gpu.id == info.subject);
        let at = at.unwrap_or_else(|| {
            gpus.push(GpuNow { id: info.subject.clone(), ..GpuNow::default() });
            gpus.len() - 1
        });
        let gpu = &mut gpus[at];
        let place = match what {
            "memory.used" => &mut gpu.memory_used_bytes,
            "memory.total" => &mut gpu.memory_total_bytes,
            "memory.process" => &mut gpu.memory_process_bytes,
            "utilization" => &mut gpu.utilization_ratio,
            "temperature" => &mut gpu.temperature_celsius,
            "power" => &mut gpu.power_watts,
            "clock.sm" => &mut gpu.clock_hertz,
            _ => continue,
        };
        *place = Some(*value);
    }
    gpus
}

fn host(look: &LiveState, growth: &[Option<f64>]) -> HostNow {
    let value = |name: &str| {
        let found = fresh(look).find(|reading| reading.info.name == name);
        found.map(|reading| reading.value)
    };
    // Several disks, or cores, are taken together.
    let of = |name: &'static str| {
        let both = look.series.iter().zip(growth);
        both.filter(move |(reading, _)| reading.info.name == name)
    };
    let grown = |name| of(name).filter_map(|(_, growth)| *growth).reduce(|a, b| a + b);
    let cores = Some(of("core.cpu.busy").count() as u64).filter(|n| *n > 0);
    let busy = grown("host.cpu.busy").zip(cores);
    let own = grown("process.cpu.user").zip(grown("process.cpu.system"));
    let used = value("host.memory.used");
    let total = used.zip(value("host.memory.available"));
    let total = total.map(|(used, available)| used + available);
    let of_group = value("cgroup.memory.working_set").zip(value("cgroup.memory.limit"));
    let of_group = of_group.filter(|(_, limit)| total.is_none_or(|total| *limit < total));
    HostNow {
        cpu_ratio: busy.map(|(busy, cores)| (busy / float(cores)).min(1.0)),
        process_cpu_cores: own.map(|(user, system)| user + system),
        memory_used_bytes: of_group.map(|(used, _)| used).or(used),
        memory_total_bytes: of_group.map(|(_, limit)| limit).or(total),
        process_memory_bytes: value("process.memory.resident"),
        disk_read_bytes_per_second: grown("process.disk.read").or_else(|| grown("disk.read")),
        disk_written_bytes_per_second: grown("process.disk.written")
            .or_else(|| grown("disk.written")),
    }
}
