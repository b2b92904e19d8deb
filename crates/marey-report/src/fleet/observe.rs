//! Live looks as figures of a fleet.

use std::collections::BTreeMap;

use super::figures::{Figures, Value, add, short};
use super::group::{Group, Member, MemberLabels};
use super::metric::Metric;
use super::past::Past;
use crate::quantity::float;

/// What all processes of a job on this machine have done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// Name of the machine.
    pub host: String,
    /// The job.
    pub job_id: String,
    /// Its processes, by rank and number.
    pub processes: Vec<Group>,
    /// GPUs, which several processes may read, and what was left out.
    pub machine: Figures,
}

/// What looks at the processes of a job say. `members` come by the start of their recording: one process may have made several, whose
/// counts are added, to those of `past`. `left_out` is the number of processes that were not looked at.
///
/// A GPU that several processes read is told once: the newest reading, of what grows the largest.
pub fn observe(
    host: &str,
    job_id: &str,
    past: &Past,
    members: &[Member<'_>],
    left_out: u64,
) -> Fleet {
    let mut groups: BTreeMap<MemberLabels, Group> = BTreeMap::new();
    let mut gpus = past.gpus.clone();
    for member in members {
        let group = groups.entry(member.labels).or_insert_with(|| {
            let past = past.processes.get(&member.labels);
            past.cloned().unwrap_or_else(|| Group::of(member))
        });
        group.add(member.look, &mut gpus);
    }
    let mut machine: Figures = gpus
        .into_iter()
        .map(|(key, (_, value))| (key, Value::Number(value)))
        .collect();
    if left_out > 0 {
        add(
            &mut machine,
            Metric::ProcessesLeftOut,
            vec![],
            float(left_out),
        );
    }
    Fleet {
        host: short(host),
        job_id: short(job_id),
        processes: groups.into_values().collect(),
        machine,
    }
}
