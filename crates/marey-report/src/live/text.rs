//! What is known now, as text for a console.

use super::{GpuNow, LiveSnapshot};
use crate::escape;
use crate::quantity::counted;

impl LiveSnapshot {
    /// Lines under a heading that names the session, in the shape that people know:
    ///
    /// ```text
    /// === Profiling Metrics (session_abc123) ===
    /// GPU: Memory 8420MB / 24564MB (34.3%), Util 85.2%, Temp 72.1°C, Power 310.2W
    /// CPU: 45.3%, Memory 12840MB / 32768MB (39.2%)
    /// Generation: 15.8 FPS, 5.27 blocks/s
    /// ```
    ///
    /// Without a line for what is not known; empty when nothing is. MB are 2²⁰ bytes.
    pub fn block(&self, session: &str) -> String {
        let lines = self.lines();
        if lines.is_empty() {
            return String::new();
        }
        let session = escape::cut(session, 60);
        format!("=== Profiling Metrics ({session}) ===\n{}\n", lines.join("\n"))
    }

    /// The same in one line, for a log.
    pub fn line(&self) -> String {
        self.lines().join(" | ")
    }

    /// The least that is worth knowing, for the end of a progress bar: `GPU 85%, 8.2/24.0GB, 72°C, CPU 45%, 15.8 FPS`.
    pub fn postfix(&self) -> String {
        let resident = |bytes: f64| match gib(bytes) {
            size if size < 1.0 => format!("RSS {:.0}MB", mib(bytes)),
            size => format!("RSS {size:.1}GB"),
        };
        let process = self.host.process_memory_bytes.map(resident);
        let gpus = self.gpus.iter().enumerate().map(|(number, gpu)| {
            let figures = gpu.short()?;
            Some(format!("{} {figures}", self.gpu_name(number, "GPU")))
        });
        let others = [
            self.host.cpu_ratio.map(|cpu| format!("CPU {:.0}%", cpu * 100.0)),
            process.filter(|_| self.gpus.is_empty()),
            self.frames(),
        ];
        joined(gpus.chain(others)).unwrap_or_default()
    }

    /// `GPU`, with a number where there are several.
    fn gpu_name(&self, number: usize, name: &str) -> String {
        match self.gpus.len() {
            1 => "GPU".into(),
            _ => format!("{name}{number}"),
        }
    }

    fn frames(&self) -> Option<String> {
        let rate = self.made.frames_per_second;
        rate.map(|fps| format!("{fps:.1} FPS"))
    }

    fn lines(&self) -> Vec<String> {
        let gpus = self.gpus.iter().enumerate();
        let gpus = gpus.map(|(number, gpu)| (self.gpu_name(number, "GPU "), gpu.figures()));
        let host = &self.host;
        let cpu = [
            host.cpu_ratio.map(percent),
            memory(host.memory_used_bytes, host.memory_total_bytes, host.memory_ratio()),
        ];
        let made = &self.made;
        let generation = [
            self.frames(),
            made.blocks_per_second.map(|rate| format!("{rate:.2} blocks/s")),
            made.steps_per_second.map(|rate| format!("{rate:.2} steps/s")),
            Some(self.look.generated.dropped_frames)
                .filter(|n| *n > 0)
                .map(|n| counted(n, "frame dropped", "frames dropped")),
        ];
        let others = [("CPU".into(), joined(cpu)), ("Generation".into(), joined(generation))];
        let named = gpus.chain(others);
        named.filter_map(|(name, figures)| Some(format!("{name}: {}", figures?))).collect()
    }
}

impl GpuNow {
    fn figures(&self) -> Option<String> {
        joined([
            memory(self.memory_used_bytes, self.memory_total_bytes, self.memory_ratio()),
            self.utilization_ratio.map(|util| format!("Util {}", percent(util))),
            self.temperature_celsius.map(|t| format!("Temp {t:.1}°C")),
            self.power_watts.map(|watts| format!("Power {watts:.1}W")),
        ])
    }

    fn short(&self) -> Option<String> {
        let total =
            self.memory_total_bytes.map_or_else(String::new, |total| format!("/{:.1}", gib(total)));
        joined([
            self.utilization_ratio.map(|util| format!("{:.0}%", util * 100.0)),
            self.memory_used_bytes.map(|used| format!("{:.1}{total}GB", gib(used))),
            self.temperature_celsius.map(|t| format!("{t:.0}°C")),
        ])
    }
}

/// What is known, with commas between; `None` when nothing is.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// `Memory 8420MB / 24564MB (34.3%)`, or as much of it as is known.
fn memory(used: Option<f64>, total: Option<f64>, ratio: Option<f64>) -> Option<String> {
    let used = format!("Memory {:.0}MB", mib(used?));
    Some(match total.zip(ratio) {
        Some((total, ratio)) => format!("{used} / {:.0}MB ({})", mib(total), percent(ratio)),
        None => used,
    })
}

fn percent(ratio: f64) -> String {
    format!("{:.1}%", ratio * 100.0)
}

fn mib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

fn gib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 30)
}
