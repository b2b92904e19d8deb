//! Resources: GPUs, CPU, memory and disk, what they are now and were lately.

use std::collections::{HashMap, VecDeque};

use marey_report::live::{GpuNow, LiveSnapshot};
use marey_report::quantity;

/// Values of a figure that are kept: enough for a wide screen.
const KEPT: usize = 240;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What figures of a process were lately, by resource and figure, one value a look, the newest last.
#[derive(Debug, Default)]
pub(super) struct Lanes(HashMap<(String, &'static str), VecDeque<f64>>);

/// A resource on the screen.
#[derive(Debug)]
pub(super) struct Lane {
    /// Which resource.
    pub(super) name: String,
    /// Its figures that are known, most telling first.
    pub(super) cells: Vec<Cell>,
}

/// One figure of a lane.
#[derive(Debug)]
pub(super) struct Cell {
    /// What it is now.
    pub(super) text: String,
    /// What it was lately.
    bars: Vec<char>,
    what: &'static str,
    value: f64,
    whole: Option<f64>,
}

impl Cell {
    /// So many bars, the newest at the right end.
    pub(super) fn bars(&self, width: usize) -> String {
        let first = self.bars.len().saturating_sub(width);
        let newest: String = self.bars[first..].iter().collect();
        format!("{newest:>width$}")
    }
}

impl Lanes {
    /// Takes what is known of resources now.
    pub(super) fn take(&mut self, now: &LiveSnapshot) {
        if !now.look.is_running() {
            return;
        }
        for Lane { name, cells } in lanes(now) {
            for cell in cells {
                let values = self.0.entry((name.clone(), cell.what)).or_default();
                values.push_back(cell.value);
                if values.len() > KEPT {
                    values.pop_front();
                }
            }
        }
    }

    /// Resources of which anything is known.
    pub(super) fn all(&self, now: &LiveSnapshot) -> Vec<Lane> {
        let mut lanes = lanes(now);
        for Lane { name, cells } in &mut lanes {
            for cell in cells {
                let values = self.0.get(&(name.clone(), cell.what));
                cell.bars = bars(values.into_iter().flatten().copied(), cell.whole);
            }
        }
        lanes
    }
}

/// A full bar is `whole`, or the highest of all values when that is not known.
fn bars(values: impl Iterator<Item = f64> + Clone, whole: Option<f64>) -> Vec<char> {
    let highest = values.clone().fold(0.0, f64::max);
    let whole = whole.filter(|whole| *whole > 0.0).unwrap_or(highest);
    // A value has an eighth of the whole to each.
    let is_filled = |value: f64, n: u32| whole > 0.0 && value / whole * 8.0 >= f64::from(n);
    values.map(|value| BARS[(1..8).filter(|n| is_filled(value, *n)).count()]).collect()
}

fn lanes(now: &LiveSnapshot) -> Vec<Lane> {
    let gpus = now.gpus.iter().enumerate().map(|(number, gpu)| {
        let number = (now.gpus.len() > 1).then(|| format!(" {number}"));
        (format!("GPU{}", number.unwrap_or_default()), of_gpu(gpu))
    });
    let host = &now.host;
    let memory = host.memory_total_bytes;
    let megabytes = |what, rate: Option<f64>| {
        cell(what, rate, None, |rate| format!("{what} {:.1} MB/s", rate / 1e6))
    };
    let own = [
        (
            "CPU",
            vec![
                cell("machine", host.cpu_ratio, Some(1.0), quantity::percent),
                cell("process", host.process_cpu_cores, None, |cores| {
                    format!("process {cores:.2} cores")
                }),
            ],
        ),
        (
            "Memory",
            vec![
                cell("process", host.process_memory_bytes, memory, |bytes| {
                    format!("process {}", quantity::bytes_of(bytes))
                }),
                cell("machine", host.memory_used_bytes, memory, |bytes| of_whole(bytes, memory)),
            ],
        ),
        (
            "Disk",
            vec![
                megabytes("read", host.disk_read_bytes_per_second),
                megabytes("write", host.disk_written_bytes_per_second),
            ],
        ),
    ];
    let all = gpus.chain(own.map(|(name, cells)| (name.to_owned(), cells)));
    let known =
        all.map(|(name, cells)| Lane { name, cells: cells.into_iter().flatten().collect() });
    known.filter(|lane| !lane.cells.is_empty()).collect()
}

fn of_gpu(gpu: &GpuNow) -> Vec<Option<Cell>> {
    let memory = gpu.memory_total_bytes;
    vec![
        cell("utilization", gpu.utilization_ratio, Some(1.0), quantity::percent),
        cell("memory", gpu.memory_used_bytes, memory, |bytes| of_whole(bytes, memory)),
        cell("power", gpu.power_watts, None, |watts| format!("{watts:.0} W")),
        cell("temperature", gpu.temperature_celsius, Some(100.0), |degrees| {
            format!("{degrees:.0} °C")
        }),
    ]
}

fn cell(
    what: &'static str,
    value: Option<f64>,
    whole: Option<f64>,
    text: impl Fn(f64) -> String,
) -> Option<Cell> {
    value.map(|value| Cell { text: text(value), bars: Vec::new(), what, value, whole })
}

fn of_whole(bytes: f64, whole: Option<f64>) -> String {
    let whole = whole.map(|whole| format!(" of {}", quantity::bytes_of(whole)));
    quantity::bytes_of(bytes) + &whole.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(values: &[f64], whole: Option<f64>) -> String {
        bars(values.iter().copied(), whole).into_iter().collect()
    }

    #[test]
    fn a_bar_has_an_eighth_of_the_whole_to_each_step_else_of_the_highest() {
        let values = [0.0, 12.0, 50.0, 99.0, 100.0, 130.0];
        assert_eq!(shown(&values, Some(100.0)), "▁▁▅███");
        assert_eq!(shown(&[1.0, 2.0, 4.0], None), "▃▅█");
        assert_eq!(shown(&[0.0, 0.0], None), "▁▁");
    }

    #[test]
    fn the_newest_is_at_the_right_and_old_ones_are_forgotten() {
        let mut lanes = Lanes::default();
        let mut now = LiveSnapshot::default();
        now.look.status = marey::Status::Running;
        for n in 0..300_u32 {
            now.host.process_cpu_cores = Some(f64::from(n % 4));
            lanes.take(&now);
        }
        let [cpu] = &lanes.all(&now)[..] else {
            panic!("CPU alone is known");
        };
        let cell = &cpu.cells[0];
        assert_eq!(cell.bars(6), "▆█▁▃▆█");
        assert_eq!(cell.bars(KEPT + 2), format!("  {}", "▁▃▆█".repeat(60)));
    }
}
