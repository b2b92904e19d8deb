//! What did the program say of its own allocations and releases?
//!
//! ```text
//! report    +4096   +1024   -4096   +2048
//! held       4096    5120    1024    3072      most: 5120, at the second report
//! ```
//!
//! What was allocated before the first report is not in it, so a program that releases more than it reported holds less than
//! nothing here.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{Allocation, Generation, Run};

/// Allocations and releases that the program reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocations {
    /// Each report, in order of time, with when it was since the start of the run.
    pub each: Vec<(u64, Allocation)>,
    /// By who made them and what for, those with most bytes allocated first.
    pub uses: Vec<AllocationUse>,
    /// Reports of allocations, and their bytes.
    pub all: Allocated,
    /// Most that was allocated and not yet released, of what was reported.
    pub peak_bytes: u64,
    /// When that was, since the start of the run.
    pub peak_at_ns: u64,
}

/// What one allocator did for one purpose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllocationUse {
    /// Who made them; `None` when not said.
    pub allocator: Option<String>,
    /// What for; `None` when not said.
    pub context: Option<String>,
    /// How much.
    pub sums: Allocated,
}

/// Sums of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// Allocations.
    pub n_allocations: u64,
    /// Bytes of them.
    pub allocated_bytes: u64,
    /// Releases.
    pub n_releases: u64,
    /// Bytes of them.
    pub released_bytes: u64,
    /// Allocated less released; below zero when more was released than was reported as allocated.
    pub held_bytes: i64,
}

/// `None` when the program reported none.
pub fn allocations(run: &Run) -> Option<Allocations> {
    let mut found = Allocations::default();
    let mut uses: BTreeMap<(Option<&str>, Option<&str>), Allocated> = BTreeMap::new();
    for record in &run.generation {
        if let Generation::Allocation(report) = &record.what {
            let whose = (report.allocator.as_deref(), report.context.as_deref());
            uses.entry(whose).or_default().add(report);
            found.add(record.at_ns, report);
        }
    }
    let each = uses.into_iter();
    let of_use =
        |((allocator, context), sums): ((Option<&str>, Option<&str>), Allocated)| AllocationUse {
            allocator: allocator.map(str::to_owned),
            context: context.map(str::to_owned),
            sums,
        };
    found.uses = each.map(of_use).collect();
    let key = |one: &AllocationUse| Reverse(one.sums.allocated_bytes);
    found.uses.sort_by_key(key);
    (!found.each.is_empty()).then_some(found)
}

impl Allocations {
    fn add(&mut self, at_ns: u64, report: &Allocation) {
        self.all.add(report);
        let held = u64::try_from(self.all.held_bytes).unwrap_or(0);
        if held > self.peak_bytes {
            (self.peak_bytes, self.peak_at_ns) = (held, at_ns);
        }
        self.each.push((at_ns, report.clone()));
    }
}

impl Allocated {
    fn add(&mut self, report: &Allocation) {
        let (count, sum) = if report.is_release {
            (&mut self.n_releases, &mut self.released_bytes)
        } else {
            (&mut self.n_allocations, &mut self.allocated_bytes)
        };
        *count += 1;
        *sum = sum.saturating_add(report.bytes);
        self.held_bytes = if report.is_release {
            self.held_bytes.saturating_sub_unsigned(report.bytes)
        } else {
            self.held_bytes.saturating_add_unsigned(report.bytes)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    type Report = (bool, u64, Option<&'static str>, Option<&'static str>);

    fn reported(reports: &[Report]) -> Run {
        let mut builder = RunBuilder::new();
        for (at_ns, (is_release, bytes, allocator, context)) in (10..).zip(reports) {
            let allocation = Allocation {
                is_release: *is_release,
                bytes: *bytes,
                allocator: allocator.map(str::to_owned),
                context: context.map(str::to_owned),
            };
            builder = builder.generation(at_ns, None, Generation::Allocation(allocation));
        }
        builder.finish(100)
    }

    #[test]
    fn most_held_is_what_was_allocated_and_not_yet_released() {
        // As drawn at the top of this file.
        let (cuda, latents) = (Some("cuda"), Some("latents"));
        let run = reported(&[
            (false, 4096, cuda, latents),
            (false, 1024, cuda, None),
            (true, 4096, cuda, latents),
            (false, 2048, None, None),
        ]);
        let found = allocations(&run).unwrap();
        assert_eq!((found.peak_bytes, found.peak_at_ns), (5120, 11));
        let expected = Allocated {
            n_allocations: 3,
            allocated_bytes: 7168,
            n_releases: 1,
            released_bytes: 4096,
            held_bytes: 3072,
        };
        assert_eq!(found.all, expected);
        let uses: Vec<_> = found
            .uses
            .iter()
            .map(|one| (one.allocator.as_deref(), one.context.as_deref(), one.sums.held_bytes))
            .collect();
        assert_eq!(uses, [(cuda, latents, 0), (None, None, 2048), (cuda, None, 1024)]);
        assert_eq!(found.each.len(), 4);
        assert!(found.each[2].1.is_release && found.each[2].0 == 12);
    }

    #[test]
    fn releases_of_what_nobody_reported_hold_less_than_nothing() {
        let found = allocations(&reported(&[(true, 5, None, None)])).unwrap();
        assert_eq!((found.all.held_bytes, found.peak_bytes), (-5, 0));
        assert_eq!(allocations(&RunBuilder::new().finish(1)), None);
    }
}
