//! Reads this machine's GPUs for a while and prints what was read, and what reading cost:
//! `readings [rounds] [milliseconds between two] [all]`. Prints nothing while it reads.
//!
//! Where a list of GPUs and no reading is wanted, `marey doctor` is the better way.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool that prints and measures"
)]

use std::time::{Duration, Instant};

use marey::{SeriesInfo, Source};
use marey_gpu::GpuOptions;
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| {
        let given = arguments.get(place).and_then(|text| text.parse::<u32>().ok());
        given.unwrap_or(default)
    };
    let (rounds, interval_ms) = (number(0, 100), number(1, 100));
    let options = GpuOptions {
        all_devices: arguments.iter().any(|word| word == "all"),
        ..GpuOptions::default()
    };
    let begun = Instant::now();
    let mut source = marey_gpu::source(&options);
    println!("opened in {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    for (key, value) in source.facts() {
        println!("fact         {key} = {value}");
    }
    let measured = measure(&mut source, rounds, Duration::from_millis(interval_ms.into()));
    for missing in source.unavailable() {
        println!("unavailable  {}: {}", missing.what, missing.why);
    }
    for (place, info) in source.series().iter().enumerate() {
        println!("{}", line(info, measured.values.iter().map(|round| round[place])));
    }
    let share = |cpu_s: f64| cpu_s / measured.length_s * 100.0;
    println!(
        "CPU time over {:.1} s: {:.3} % of a core in rounds, {:.3} % in the whole process",
        measured.length_s,
        share(measured.cpu_us.iter().sum::<f64>() / 1e6),
        share(measured.process_cpu_s)
    );
    show_costs("everything", measured);
    for (name, options) in one_at_a_time(&options) {
        let mut source = marey_gpu::source(&options);
        let interval = Duration::from_millis(interval_ms.into());
        show_costs(name, measure(&mut source, rounds.div_ceil(4), interval));
    }
}

fn show_costs(what: &str, measured: Measured) {
    let (wall, cpu) = (spread(measured.wall_us), spread(measured.cpu_us));
    println!("a round of {what:<12} wall time {wall}; CPU time {cpu}");
}

/// The same GPUs with one switch each.
fn one_at_a_time(options: &GpuOptions) -> [(&'static str, GpuOptions); 4] {
    let none = GpuOptions {
        memory: false,
        utilization: false,
        temperature: false,
        power: false,
        ..options.clone()
    };
    let (mut memory, mut utilization) = (none.clone(), none.clone());
    let (mut temperature, mut power) = (none.clone(), none);
    memory.memory = true;
    utilization.utilization = true;
    temperature.temperature = true;
    power.power = true;
    [
        ("memory", memory),
        ("utilization", utilization),
        ("temperature", temperature),
        ("power", power),
    ]
}

struct Measured {
    values: Vec<Vec<f64>>,
    wall_us: Vec<f64>,
    cpu_us: Vec<f64>,
    process_cpu_s: f64,
    length_s: f64,
}

fn measure(source: &mut dyn Source, rounds: u32, interval: Duration) -> Measured {
    let n_series = source.series().len();
    let mut measured = Measured {
        values: Vec::new(),
        wall_us: Vec::new(),
        cpu_us: Vec::new(),
        process_cpu_s: 0.0,
        length_s: 0.0,
    };
    let (begun, process_us) = (Instant::now(), cpu_time_us(ClockId::ProcessCPUTime));
    for round in 0..rounds {
        let mut values = vec![f64::NAN; n_series];
        let (start, cpu) = (Instant::now(), cpu_us());
        source.read(&mut values);
        let took = cpu_us() - cpu;
        measured.cpu_us.push(took);
        measured.wall_us.push(start.elapsed().as_secs_f64() * 1e6);
        measured.values.push(values);
        let next = interval * (round + 1);
        std::thread::sleep(next.saturating_sub(begun.elapsed()));
    }
    measured.process_cpu_s = (cpu_time_us(ClockId::ProcessCPUTime) - process_us) / 1e6;
    measured.length_s = begun.elapsed().as_secs_f64();
    measured
}

/// CPU time of this thread, microseconds. What threads of the driver's library use is not in it.
fn cpu_us() -> f64 {
    cpu_time_us(ClockId::ThreadCPUTime)
}

#[allow(clippy::cast_precision_loss, reason = "2^53 ns are 100 days")]
fn cpu_time_us(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Lowest, mean and highest reading, and in how many rounds there was one.
fn line(info: &SeriesInfo, values: impl Iterator<Item = f64>) -> String {
    let (mut read, mut rounds, mut sum) = (0.0, 0, 0.0);
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        rounds += 1;
        if value.is_nan() {
            continue;
        }
        read += 1.0;
        sum += value;
        (lowest, highest) = (lowest.min(value), highest.max(value));
    }
    let (name, subject, unit) = (&info.name, &info.subject, info.unit.symbol());
    if read == 0.0 {
        return format!("{name:<34} {subject}  never read");
    }
    let mean = sum / read;
    format!(
        "{name:<34} {subject}  min {lowest} mean {mean} max {highest} {unit}  read {read} of {rounds}"
    )
}

fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match (values.get(values.len() / 2), values.last()) {
        (Some(median), Some(most)) => format!("median {median:.0} µs, most {most:.0} µs"),
        _ => "no round".into(),
    }
}
