//! Was the machine's memory enough?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::{Figures, Growth};
use crate::stats::float;

/// Memory of the machine, the process and its control group, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HostMemory {
    /// Memory of the machine; `None` when unknown.
    pub total_bytes: Option<u64>,
    /// In use on the machine.
    pub used: Option<Figures>,
    /// What programs could still get without swapping.
    pub available: Option<Figures>,
    /// Resident memory of the process. Its highest is the kernel's own count where that was read: then `peak` is the time between two
    /// readings of it.
    pub process_resident: Option<Figures>,
    /// The same, with pages that are shared counted by their share.
    pub process_proportional: Option<Figures>,
    /// Memory of the process that was swapped out.
    pub process_swapped: Option<Figures>,
    /// Resident memory of the processes below this one.
    pub children_resident: Option<Figures>,
    /// In use by the control group.
    pub cgroup_used: Option<Figures>,
    /// The same without file pages that the kernel would take back first.
    pub cgroup_working_set: Option<Figures>,
    /// What the control group may use.
    pub cgroup_limit: Option<Figures>,
    /// Most that the control group ever used, as the kernel counts it.
    pub cgroup_peak: Option<Figures>,
    /// Swap in use.
    pub swap_used: Option<Figures>,
    /// Bytes that were read back from swap.
    pub swapped_in: Option<Growth>,
    /// Bytes that were written to swap.
    pub swapped_out: Option<Growth>,
}

/// What bounds the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryBound {
    /// The limit is that of a control group, a container say; otherwise the machine's memory.
    pub is_of_group: bool,
    /// What it is, in bytes; not 0.
    pub limit_bytes: f64,
    /// What is in use of it.
    pub used: Figures,
}

impl HostMemory {
    /// Whichever is smaller: the machine's memory, or the limit of the control group. `None` when it is not known, or what is in use of it.
    pub fn bound(&self) -> Option<MemoryBound> {
        let total_bytes = self.total_bytes.filter(|bytes| *bytes > 0).map(float);
        let of_group = self.cgroup_limit.zip(self.cgroup_working_set);
        let of_group = of_group.map(|(limit, used)| MemoryBound {
            is_of_group: true,
            limit_bytes: limit.min,
            used,
        });
        let of_machine = total_bytes.zip(self.used);
        let of_machine = of_machine.map(|(limit_bytes, used)| MemoryBound {
            is_of_group: false,
            limit_bytes,
            used,
        });
        let is_smaller = |bound: &MemoryBound| {
            bound.limit_bytes > 0.0 && total_bytes.is_none_or(|all| bound.limit_bytes < all)
        };
        of_group.filter(is_smaller).or(of_machine)
    }

    /// Highest share of that which was in use, 0 to 1; `None` when it is not known.
    pub fn peak_used_ratio(&self) -> Option<f64> {
        let bound = self.bound()?;
        Some(bound.used.max / bound.limit_bytes)
    }

    /// Something was written to swap or read back, or the process lay there in part.
    pub fn has_swapped(&self) -> bool {
        let moved = [self.swapped_in, self.swapped_out];
        let has_moved = moved.iter().flatten().any(|growth| growth.total > 0.0);
        has_moved || self.process_swapped.is_some_and(|swapped| swapped.max > 0.0)
    }
}

pub(super) fn host_memory(sampled: &Sampled<'_>) -> Option<HostMemory> {
    let gauge = |name| sampled.gauge(name, "");
    let total_bytes = sampled.number_fact("host.memory_bytes");
    let found = HostMemory {
        total_bytes,
        used: gauge("host.memory.used"),
        available: gauge("host.memory.available"),
        process_resident: resident(sampled),
        process_proportional: gauge("process.memory.proportional"),
        process_swapped: gauge("process.memory.swapped"),
        children_resident: gauge("children.memory.resident"),
        cgroup_used: gauge("cgroup.memory.used"),
        cgroup_working_set: gauge("cgroup.memory.working_set"),
        cgroup_limit: gauge("cgroup.memory.limit"),
        cgroup_peak: gauge("cgroup.memory.peak"),
        swap_used: gauge("host.swap.used"),
        swapped_in: sampled.growth("host.swap.in", ""),
        swapped_out: sampled.growth("host.swap.out", ""),
    };
    let nothing = HostMemory { total_bytes, ..HostMemory::default() };
    (found != nothing).then_some(found)
}

/// Readings of what is resident see a peak by chance. The kernel's count does not miss one, but knows no time.
fn resident(sampled: &Sampled<'_>) -> Option<Figures> {
    let read = sampled.gauge("process.memory.resident", "")?;
    let counted = sampled.points("process.memory.peak", "").unwrap_or(&[]);
    let Some(highest) = counted.last().filter(|last| last.last >= read.max) else {
        return Some(read);
    };
    // The first reading that has it, and the one before: it was reached between them.
    let reached = counted.partition_point(|point| point.last < highest.last);
    let before = reached.checked_sub(1).map(|before| counted[before].last_ns);
    let end_ns = counted[reached].last_ns;
    Some(Figures {
        max: highest.last,
        peak: if highest.last > read.max {
            sampled.places.moment(before.unwrap_or(end_ns), end_ns)
        } else {
            read.peak
        },
        ..read
    })
}

#[cfg(test)]
mod tests {
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    use crate::telemetry;

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn a_peak_is_in_the_section_in_which_it_happened() {
        // 0         10        20        30
        // |--- generate ------|-- save --|
        //     |--decode--|
        //  1        5    3       2
        let run = RunBuilder::new()
            .section("generate", 0, 20, |s| {
                s.section("decode", 4, 14, |_| {});
            })
            .section("save", 20, 30, |_| {})
            .series(
                SeriesInfo::gauge("process.memory.resident", "", Unit::Bytes),
                &[(1, 1.0), (10, 5.0), (15, 3.0), (22, 2.0)],
            )
            .finish(30);
        let memory = telemetry(&run).memory.unwrap();
        let resident = memory.process_resident.unwrap();
        assert_eq!((resident.max, resident.peak.start_ns), (5.0, 10));
        let node = resident.peak.node.unwrap();
        assert_eq!(run.nodes[node as usize].name, "decode");
        assert_eq!((memory.used, memory.total_bytes), (None, None));
        assert!(!memory.has_swapped());
    }

    #[test]
    fn a_peak_between_two_readings_is_the_kernels() {
        // 0         10        20        30
        // |--- load ----|--- denoise -----|
        //  1        5         3         2      resident
        //  1        6         9         9      peak
        let series = |name| SeriesInfo::gauge(name, "", Unit::Bytes);
        let run = RunBuilder::new()
            .section("load", 0, 10, |_| {})
            .section("denoise", 10, 30, |_| {})
            .series(series("process.memory.resident"), &[(1, 1.0), (10, 5.0), (20, 3.0), (30, 2.0)])
            .series(series("process.memory.peak"), &[(1, 1.0), (10, 6.0), (20, 9.0), (30, 9.0)])
            .finish(30);
        let resident = telemetry(&run).memory.unwrap().process_resident.unwrap();
        assert_eq!((resident.max, resident.last), (9.0, 2.0));
        assert_eq!((resident.peak.start_ns, resident.peak.end_ns), (10, 20));
        let node = resident.peak.node.unwrap();
        assert_eq!(run.nodes[node as usize].name, "denoise");
    }

    #[test]
    fn a_container_with_less_than_the_machine_is_what_bounds_it() {
        // 400 of 24 000 MiB; 350 in use, of which 50 are file pages that the kernel takes back.
        let bound = |limit_mib: f64, with_set: bool| {
            let gauge = |name| SeriesInfo::gauge(name, "", Unit::Bytes);
            let mut builder = RunBuilder::new()
                .series(gauge("host.memory.used"), &[(0, 6000.0 * MIB)])
                .series(gauge("cgroup.memory.used"), &[(0, 350.0 * MIB)])
                .series(gauge("cgroup.memory.limit"), &[(0, limit_mib * MIB)]);
            if with_set {
                builder = builder.series(gauge("cgroup.memory.working_set"), &[(0, 300.0 * MIB)]);
            }
            let total = ("host.memory_bytes".into(), "25165824000".into());
            let run = builder.with(|run| run.info.facts.push(total)).finish(10);
            let memory = telemetry(&run).memory.unwrap();
            (memory.bound().unwrap().is_of_group, memory.peak_used_ratio())
        };
        assert_eq!(bound(400.0, true), (true, Some(0.75)));
        assert_eq!(bound(400.0, false), (false, Some(0.25)));
        assert_eq!(bound(30_000.0, true), (false, Some(0.25)));
    }

    #[test]
    fn swapping_is_what_moved_and_not_what_lay_there_before() {
        let swap = |out: f64| {
            let cumulative = |name| SeriesInfo::cumulative(name, "", Unit::Bytes);
            let run = RunBuilder::new()
                .series(SeriesInfo::gauge("host.swap.used", "", Unit::Bytes), &[(0, 9e9)])
                .series(cumulative("host.swap.out"), &[(0, 4e9), (10, 4e9 + out)])
                .finish(10);
            telemetry(&run).memory.unwrap().has_swapped()
        };
        assert!(!swap(0.0));
        assert!(swap(4096.0));
    }
}
