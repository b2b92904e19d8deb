//! What is known now, as text for a console.

use super::{GpuNow, Metrics};
use crate::escape;

impl Metrics {
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
        let heading = format!("=== Profiling Metrics ({}) ===", escape::cut(session, 60));
        let mut block = heading;
        for line in lines {
            block.push('\n');
            block.push_str(&line);
        }
        block.push('\n');
        block
    }

    /// The same in one line, for a log.
    pub fn line(&self) -> String {
        self.lines().join(" | ")
    }

    /// The least that is worth knowing, for the end of a progress bar: `GPU 85%, 8.2/24.0GB, 72°C, CPU 45%, 15.8 FPS`.
    pub fn postfix(&self) -> String {
        let several = self.gpus.len() > 1;
        let mut parts: Vec<String> = Vec::new();
        for (number, gpu) in self.gpus.iter().enumerate() {
            let figures = gpu.short();
            if !figures.is_empty() {
                let name = if several {
                    format!("GPU{number}")
                } else {
                    "GPU".into()
                };
                parts.push(format!("{name} {figures}"));
            }
        }
        parts.extend(self.cpu_ratio.map(|cpu| format!("CPU {:.0}%", cpu * 100.0)));
        if self.gpus.is_empty() {
            let resident = |bytes: f64| match gib(bytes) {
                size if size < 1.0 => format!("RSS {:.0}MB", mib(bytes)),
                size => format!("RSS {size:.1}GB"),
            };
            parts.extend(self.process_memory_bytes.map(resident));
        }
        parts.extend(self.frames_per_second.map(|fps| format!("{fps:.1} FPS")));
        parts.join(", ")
    }

    fn lines(&self) -> Vec<String> {
        let several = self.gpus.len() > 1;
        let mut lines = Vec::new();
        for (number, gpu) in self.gpus.iter().enumerate() {
            let figures = gpu.figures();
            if !figures.is_empty() {
                let name = if several {
                    format!("GPU {number}")
                } else {
                    "GPU".into()
                };
                lines.push(format!("{name}: {figures}"));
            }
        }
        let mut cpu: Vec<String> = self.cpu_ratio.map(percent).into_iter().collect();
        cpu.extend(memory(
            self.memory_used_bytes,
            self.memory_total_bytes,
            self.memory_ratio(),
        ));
        if !cpu.is_empty() {
            lines.push(format!("CPU: {}", cpu.join(", ")));
        }
        let mut generation: Vec<String> = Vec::new();
        generation.extend(self.frames_per_second.map(|fps| format!("{fps:.1} FPS")));
        generation.extend(
            self.blocks_per_second
                .map(|rate| format!("{rate:.2} blocks/s")),
        );
        generation.extend(
            self.steps_per_second
                .map(|rate| format!("{rate:.2} steps/s")),
        );
        generation.extend(self.dropped_frames.map(|n| format!("{n} frames dropped")));
        if !generation.is_empty() {
            lines.push(format!("Generation: {}", generation.join(", ")));
        }
        lines
    }
}

impl GpuNow {
    fn figures(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(memory(
            self.memory_used_bytes,
            self.memory_total_bytes,
            self.memory_ratio(),
        ));
        parts.extend(
            self.utilization_ratio
                .map(|util| format!("Util {}", percent(util))),
        );
        parts.extend(self.temperature_celsius.map(|t| format!("Temp {t:.1}°C")));
        parts.extend(self.power_watts.map(|watts| format!("Power {watts:.1}W")));
        parts.join(", ")
    }

    fn short(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(
            self.utilization_ratio
                .map(|util| format!("{:.0}%", util * 100.0)),
        );
        let used = self.memory_used_bytes.map(gib);
        parts.extend(match (used, self.memory_total_bytes.map(gib)) {
            (Some(used), Some(total)) => Some(format!("{used:.1}/{total:.1}GB")),
            (Some(used), None) => Some(format!("{used:.1}GB")),
            _ => None,
        });
        parts.extend(self.temperature_celsius.map(|t| format!("{t:.0}°C")));
        parts.join(", ")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// The readings behind the documented example.
    fn example() -> Metrics {
        Metrics {
            gpus: vec![GpuNow {
                id: "GPU-1".into(),
                memory_used_bytes: Some(8420.0 * MIB),
                memory_total_bytes: Some(24564.0 * MIB),
                utilization_ratio: Some(0.852),
                temperature_celsius: Some(72.1),
                ..GpuNow::default()
            }],
            cpu_ratio: Some(0.453),
            memory_used_bytes: Some(12840.0 * MIB),
            memory_total_bytes: Some(32768.0 * MIB),
            ..Metrics::default()
        }
    }

    #[test]
    fn rates_have_a_line_of_their_own_and_what_is_not_known_has_none() {
        let mut metrics = example();
        metrics.frames_per_second = Some(15.84);
        metrics.blocks_per_second = Some(5.28);
        metrics.gpus.clear();
        metrics.cpu_ratio = None;
        let expected = "=== Profiling Metrics (a) ===\n\
            CPU: Memory 12840MB / 32768MB (39.2%)\n\
            Generation: 15.8 FPS, 5.28 blocks/s\n";
        assert_eq!(metrics.block("a"), expected);
        assert_eq!(Metrics::default().block("a"), "");
    }

    #[test]
    fn a_session_cannot_write_to_the_terminal_by_its_name() {
        let block = example().block("\u{1b}[2J\nGPU: fake");
        assert_eq!(block.lines().count(), 3);
        assert!(!block.contains('\u{1b}'));
    }

    #[test]
    fn without_a_gpu_the_postfix_has_the_memory_of_the_process() {
        let of = |bytes| Metrics {
            process_memory_bytes: Some(bytes),
            ..Metrics::default()
        };
        assert_eq!(of(20.4 * MIB).postfix(), "RSS 20MB");
        assert_eq!(of(1536.0 * MIB).postfix(), "RSS 1.5GB");
    }

    #[test]
    fn the_postfix_is_short_and_names_gpus_only_when_there_are_several() {
        let mut metrics = example();
        metrics.frames_per_second = Some(15.84);
        assert_eq!(
            metrics.postfix(),
            "GPU 85%, 8.2/24.0GB, 72°C, CPU 45%, 15.8 FPS"
        );
        metrics.gpus.push(GpuNow {
            power_watts: Some(80.0),
            utilization_ratio: Some(0.0),
            ..GpuNow::default()
        });
        assert_eq!(
            metrics.postfix(),
            "GPU0 85%, 8.2/24.0GB, 72°C, GPU1 0%, CPU 45%, 15.8 FPS"
        );
        let one = "GPU 0: Memory 8420MB / 24564MB (34.3%), Util 85.2%, Temp 72.1°C | GPU 1: Util 0.0%, Power 80.0W | ";
        assert!(metrics.line().starts_with(one), "{}", metrics.line());
    }
}
