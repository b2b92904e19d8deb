//! What recordings have counted that nobody looks at any more.

use std::collections::BTreeMap;

use super::group::{Group, Member, MemberLabels};
use super::metric::{Kind, Metric};
use super::readings::Newest;

/// What recordings that nobody looks at any more have counted: so what was counted stays counted.
#[derive(Clone, Debug, Default)]
pub struct Past {
    pub(super) processes: BTreeMap<MemberLabels, Group>,
    pub(super) gpus: Newest,
}

impl Past {
    /// Keeps the counts of a recording that is over, and nothing of what it read of its time.
    pub fn keep(&mut self, member: &Member<'_>) {
        let group = self
            .processes
            .entry(member.labels)
            .or_insert_with(|| Group::of(member));
        group.add(member.look, &mut self.gpus);
        let only_grows = |metric: Metric| matches!(metric.kind(), Kind::Counter | Kind::Summary);
        group.figures.retain(|(metric, _), _| only_grows(*metric));
        self.gpus.retain(|(metric, _), _| only_grows(*metric));
    }

    /// Of these processes nothing is kept any more.
    pub fn forget(&mut self, mut is_gone: impl FnMut(&MemberLabels) -> bool) {
        self.processes.retain(|labels, _| !is_gone(labels));
    }
}
