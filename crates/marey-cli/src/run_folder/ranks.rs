//! What several ranks of a job did together.

use std::collections::BTreeSet;

use marey_analysis::ranks::ranks;
use marey_report::{LaunchFacts, RankedJob};

use super::JobFolder;
use crate::aggregation::{Inputs, Jobs, n_threads, summaries};
use crate::thresholds::thresholds;

impl JobFolder {
    /// All ranks; `None` of fewer than two, where they do not make one job, and where one of them was asked for. Reads their captures when
    /// it is first asked.
    pub(crate) fn ranks(&self) -> Option<&RankedJob> {
        let ranks = self.ranks.get_or_init(|| self.read_ranks());
        ranks.as_ref()
    }

    fn read_ranks(&self) -> Option<RankedJob> {
        let numbers = self.processes.iter().filter_map(|process| process.rank);
        if self.how.is_partial() || numbers.collect::<BTreeSet<u32>>().len() < 2 {
            return None;
        }
        let inputs = Inputs::of(std::slice::from_ref(&self.path), &Jobs::Newest).ok()?;
        let limits = thresholds(&self.how.thresholds);
        let answers = ranks(&summaries(&inputs.files, n_threads()), &limits);
        let launched = self.launched.as_ref();
        let launch = launched.map(|of_job| LaunchFacts::new(&of_job.launch));
        RankedJob::of(answers, launch)
    }
}
