//! A process of the job, and what it has done so far.

use marey::live::Look;

use super::figures::Figures;
use super::program::program;
use super::readings::{Newest, readings};
use super::sections::sections;

/// Which process of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberLabels {
    /// Its place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Its process id.
    pub pid: u32,
}

/// A process that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Which it is.
    pub labels: MemberLabels,
    /// What it showed.
    pub look: &'a Look,
}

/// What one process has done so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Which process.
    pub labels: MemberLabels,
    /// Its figures.
    pub figures: Figures,
}

impl Group {
    /// A process of which nothing is known.
    pub(super) fn of(member: &Member<'_>) -> Self {
        Self {
            labels: member.labels,
            figures: Figures::new(),
        }
    }

    /// Adds what a look at it says; what GPUs say is told of the machine.
    pub(super) fn add(&mut self, look: &Look, gpus: &mut Newest) {
        program(look, &mut self.figures);
        sections(look, &mut self.figures);
        readings(look, &mut self.figures, gpus);
    }
}
