//! What differs around the program: configuration, command, machine, versions.

use std::collections::{BTreeMap, BTreeSet};

use marey::{Launch, Run, RunInfo};
use serde::Serialize;

/// A fact that differs. Values are as recorded; they are not safe to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Difference {
    /// What kind of fact.
    pub category: EnvironmentCategory,
    /// Its name: `command`, `profiling.max_data_points`, `nvidia.driver`.
    pub name: String,
    /// What the runs of the baseline say, each value once, sorted; empty when they say nothing.
    pub baseline: Vec<String>,
    /// What the runs of the candidate say.
    pub candidate: Vec<String>,
}

/// What kind of fact differs, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentCategory {
    /// How the program was called.
    Command,
    /// What was configured of Marey itself: `profiling.…`.
    Configuration,
    /// Machine, processors, GPUs, memory, ranks.
    Machine,
    /// Versions of anything.
    Version,
    /// Everything else.
    Other,
}

/// Facts that differ between any two runs: they name the process, its start, or a place for its files.
const OF_A_PROCESS: [&str; 11] = [
    "pid",
    RunInfo::BEFORE_RECORDING,
    "start_time",
    "boot_id",
    "pid_namespace",
    "ring_folder",
    "forked_from",
    "outside_of",
    "profiling.output_dir",
    "trace_id",
    "traceName",
];

/// Facts of which the runs of one side say something else than those of the other, by category, then by name.
pub(super) fn differences(baseline: &[Run], candidate: &[Run]) -> Vec<Difference> {
    let (mut baseline, mut candidate) = (all_facts(baseline), all_facts(candidate));
    let names: BTreeSet<String> = baseline.keys().chain(candidate.keys()).cloned().collect();
    let mut found: Vec<Difference> = names
        .into_iter()
        .filter_map(|name| {
            let sides = [&mut baseline, &mut candidate].map(|facts| facts.remove(&name));
            let [baseline, candidate] = sides.map(Option::unwrap_or_default);
            let is_different = baseline != candidate;
            is_different.then(|| Difference {
                category: category(&name),
                name,
                baseline: baseline.into_iter().collect(),
                candidate: candidate.into_iter().collect(),
            })
        })
        .collect();
    found.sort_by(|a, b| (a.category, &a.name).cmp(&(b.category, &b.name)));
    found
}

fn all_facts(runs: &[Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(facts) {
        all.entry(name).or_default().insert(value);
    }
    all
}

/// What a side says nothing of. Without a fact of its own the configuration is the default where the command is known.
pub(super) fn unknown(baseline: &[Run], candidate: &[Run]) -> Vec<EnvironmentCategory> {
    use EnvironmentCategory as Category;
    let said = |runs: &[Run]| -> BTreeSet<Category> {
        let names = all_facts(runs).into_keys();
        // Which clock it was says nothing of the machine.
        let names = names.filter(|name| name != "clock");
        names.map(|name| category(&name)).collect()
    };
    let sides = [said(baseline), said(candidate)];
    let is_known = |of: Category| sides.iter().all(|said| said.contains(&of));
    let all = [Category::Command, Category::Configuration, Category::Machine, Category::Version];
    let is_default = |of: &Category| *of == Category::Configuration && is_known(Category::Command);
    let unknown = all.into_iter();
    unknown.filter(|of| !is_known(*of) && !is_default(of)).collect()
}

/// What a run says; of a fact that it gives several times, the last, which holds.
fn facts(run: &Run) -> BTreeMap<String, String> {
    let info = &run.info;
    let mut facts: BTreeMap<String, String> = info.facts.iter().cloned().collect();
    facts.retain(|name, _| !OF_A_PROCESS.contains(&name.as_str()) && !Launch::is_fact(name));
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    add("command", Some(info.command.join(" ")));
    add("host", Some(info.host.clone()));
    add("clock", Some(info.clock.clone()));
    add("world_size", info.world_size.map(|ranks| ranks.to_string()));
    facts
}

fn category(name: &str) -> EnvironmentCategory {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "command" {
        return EnvironmentCategory::Command;
    }
    if begins(&["profiling."]) {
        return EnvironmentCategory::Configuration;
    }
    let is_version = name.contains("version") || name.contains("driver") || name.contains("kernel");
    if is_version || matches!(name, "marey" | "nvidia.nvml" | "python" | "torch" | "cuda") {
        return EnvironmentCategory::Version;
    }
    let is_machine = begins(&["host", "gpu.", "gpu ", "cgroup.", "processor"]);
    if is_machine || matches!(name, "clock" | "world_size") {
        return EnvironmentCategory::Machine;
    }
    EnvironmentCategory::Other
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn run(command: &[&str], facts: &[(&str, &str)]) -> Run {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RunBuilder::new()
            .with(|run| {
                run.info.command = command.iter().map(|word| (*word).to_owned()).collect();
                run.info.facts = facts.iter().map(owned).collect();
            })
            .finish(10)
    }

    fn shown(found: &[Difference]) -> Vec<(&str, String, String)> {
        let row = |d: &Difference| (d.baseline.join(" | "), d.candidate.join(" | "));
        let rows = found.iter().map(|d| (d.name.as_str(), row(d)));
        rows.map(|(name, (a, b))| (name, a, b)).collect()
    }

    #[test]
    fn what_differs_is_shown_with_the_command_first() {
        let before = run(
            &["generate", "--steps", "50"],
            &[("torch", "2.9"), ("nvidia.driver", "580"), ("start_time", "1")],
        );
        let after = run(
            &["generate", "--steps", "40"],
            &[
                ("torch", "2.10"),
                ("nvidia.driver", "580"),
                ("start_time", "2"),
                ("profiling.max_data_points", "10"),
            ],
        );
        let found = differences(&[before], &[after]);
        let expected = [
            ("command", "generate --steps 50", "generate --steps 40"),
            ("profiling.max_data_points", "", "10"),
            ("torch", "2.9", "2.10"),
        ];
        let expected = expected.map(|(name, a, b)| (name, a.to_owned(), b.to_owned()));
        assert_eq!(shown(&found), expected);
    }

    #[test]
    fn repeats_that_disagree_among_themselves_are_shown_with_all_their_values() {
        let [old, new] = ["580", "590"].map(|driver| run(&[], &[("nvidia.driver", driver)]));
        let found = differences(&[new.clone(), old.clone()], std::slice::from_ref(&new));
        assert_eq!(shown(&found), [("nvidia.driver", "580 | 590".to_owned(), "590".to_owned())]);
        assert_eq!(differences(&[new.clone(), old.clone()], &[old, new]), []);
    }

    #[test]
    fn of_a_fact_that_was_set_twice_the_last_value_holds() {
        let twice = run(
            &[],
            &[("profiling.cpu_monitor_interval", "1"), ("profiling.cpu_monitor_interval", "2")],
        );
        let once = run(&[], &[("profiling.cpu_monitor_interval", "2")]);
        assert_eq!(differences(&[twice], &[once]), []);
    }
}
