//! A run of ten seconds on a machine with everything that samplers read: two GPUs, one of which is held back, disks, network,
//! swap, pressure; and memory that is read often.
//!
//! ```text
//! s        0         2                             8         10
//! main     |--load---|--denoise--------------------|--decode--|
//! saver         |----write_cache----|                            1 to 5
//! GPU 0              90 %                            30 %
//! throttle                     power 4 to 7
//! ```

use marey::{MemoryReading, MemorySource, Resources, Run, SeriesInfo, Spent, Unit};
use marey_testing::RunBuilder;

use crate::video::Naming;

const S: u64 = 1_000_000_000;
const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

/// The run, every name in it that a program or a driver gives made by `naming`.
pub(crate) fn run(naming: Naming) -> Run {
    let gpus = ["GPU-a", "GPU-b"].map(naming);
    let mut builder = RunBuilder::new()
        .with(|run| {
            run.info.pid = 4712;
            run.info.facts = vec![
                ("gpu.0.uuid".into(), gpus[0].clone()),
                ("gpu.0.name".into(), naming("NVIDIA H200")),
                ("gpu.1.uuid".into(), gpus[1].clone()),
                ("gpu.1.name".into(), naming("NVIDIA L4")),
                ("host.cpus".into(), "8".into()),
                ("host.memory_bytes".into(), (64_u64 << 30).to_string()),
            ];
            run.threads[0].name = naming("main");
        })
        .section(&naming("load"), 0, 2 * S, |_| {})
        .section(&naming("denoise"), 2 * S, 8 * S, |s| {
            s.section(&naming("attention"), 3 * S, 6 * S, |_| {});
        })
        .section(&naming("decode"), 8 * S, 10 * S, |_| {})
        .used(&naming("denoise"), used_by_denoise);
    for (info, values) in gauges(&gpus) {
        builder = builder.series(info, &each_second(values));
    }
    for (info, values) in sums(naming) {
        builder = builder.series(info, &each_second(values));
    }
    for second in 0..=20_u32 {
        // Rises to 6 GiB at 5 s, where it stays.
        let allocated = u64::from(second.min(10)) * (600 << 20);
        builder = builder.memory(MemoryReading {
            at_ns: u64::from(second) * S / 2,
            label: None,
            source: MemorySource::Process,
            allocated_bytes: allocated,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        });
    }
    builder
        .thread(&naming("saver"))
        .section(&naming("write_cache"), S, 5 * S + S / 2, |_| {})
        .finish(10 * S)
}

/// 600 MiB more every half second from 2 s to 5 s; two processors busy, half of it by its own thread.
fn used_by_denoise(length_ns: u64) -> Resources {
    let spent = |cpu_ns| Spent { cpu_ns, read_bytes: Some(3 << 30), written_bytes: Some(0) };
    Resources {
        process: spent(2 * length_ns),
        thread: Some(spent(length_ns)),
        resident_before: Some(4 * (600 << 20)),
        resident_after: Some(10 * (600 << 20)),
        peak_bytes: None,
    }
}

type Values = fn(f64) -> f64;

fn each_second(value: Values) -> Vec<(u64, f64)> {
    (0..=10_u32).map(|second| (u64::from(second) * S, value(second.into()))).collect()
}

fn gauges([a, b]: &[String; 2]) -> Vec<(SeriesInfo, Values)> {
    let first = |name, unit| SeriesInfo::gauge(name, a, unit);
    let second = |name, unit| SeriesInfo::gauge(name, b, unit);
    let host = |name, unit| SeriesInfo::gauge(name, "", unit);
    vec![
        (first("gpu.utilization", Unit::Ratio), |t| match t {
            t if t < 2.0 => 0.0,
            t if t < 8.0 => 0.9,
            _ => 0.3,
        }),
        (second("gpu.utilization", Unit::Ratio), |_| 0.25),
        (first("gpu.memory_controller.utilization", Unit::Ratio), |_| 0.2),
        (first("gpu.memory.used", Unit::Bytes), |t| (10.0 + 5.0 * t.min(6.0)) * GIB),
        (first("gpu.memory.total", Unit::Bytes), |_| 141.0 * GIB),
        (second("gpu.memory.used", Unit::Bytes), |_| GIB),
        (first("gpu.power", Unit::Watts), |t| if (2.0..8.0).contains(&t) { 690.0 } else { 90.0 }),
        (first("gpu.power.limit", Unit::Watts), |_| 700.0),
        (
            first("gpu.clock.sm", Unit::Hertz),
            |t| {
                if (4.0..7.0).contains(&t) { 1.2e9 } else { 1.98e9 }
            },
        ),
        // Held back for power.
        (first("gpu.throttle", Unit::Bits), |t| if (4.0..7.0).contains(&t) { 4.0 } else { 0.0 }),
        (first("gpu.temperature", Unit::Celsius), |t| 40.0 + 3.0 * t),
        (
            first("gpu.pcie.received", Unit::BytesPerSecond),
            |t| {
                if t < 2.0 { 20.0 * GIB } else { 0.0 }
            },
        ),
        (host("host.memory.used", Unit::Bytes), |t| (8.0 + t) * GIB),
        (host("host.swap.used", Unit::Bytes), |t| if t < 6.0 { 0.0 } else { 512.0 * MIB }),
        (SeriesInfo::gauge("host.load", "1", Unit::Count), |t| 1.0 + t / 4.0),
    ]
}

fn sums(naming: Naming) -> Vec<(SeriesInfo, Values)> {
    let seconds = |name| SeriesInfo::cumulative(name, "", Unit::Seconds);
    let bytes = |name| SeriesInfo::cumulative(name, "", Unit::Bytes);
    let of = |name, subject: &str, unit| SeriesInfo::cumulative(name, &naming(subject), unit);
    vec![
        (seconds("host.cpu.busy"), |t| 4.0 * t),
        (seconds("host.cpu.iowait"), |t| 0.8 * t.min(2.0)),
        (seconds("process.cpu.user"), |t| 2.0 * t),
        (seconds("process.cpu.system"), |t| 0.5 * t),
        (seconds("pressure.io.some"), |t| 0.4 * t.min(2.0)),
        (seconds("pressure.io.full"), |t| 0.2 * t.min(2.0)),
        (seconds("pressure.memory.some"), |t| 0.1 * (t - 6.0).max(0.0)),
        (bytes("process.disk.read"), |t| 2.0 * GIB * t.min(2.0)),
        (bytes("process.disk.written"), |t| 256.0 * MIB * (t.min(5.0) - 1.0).max(0.0)),
        (bytes("host.swap.out"), |t| 128.0 * MIB * (t.min(6.0) - 2.0).max(0.0)),
        (of("disk.read", "nvme0n1", Unit::Bytes), |t| 2.0 * GIB * t.min(2.0)),
        (of("disk.busy", "nvme0n1", Unit::Seconds), |t| 0.95 * t.min(2.0)),
        (of("host.network.received", "eth0", Unit::Bytes), |t| 100.0 * MIB * t),
    ]
}
