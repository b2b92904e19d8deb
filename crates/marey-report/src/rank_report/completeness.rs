//! What is there of a job, and what is not.

use marey_analysis::ranks::{ClockMethod, JobAnswers, MemberState, RanksAnswers};

use super::places::{Places, ranges};
use crate::model::{Cell, Table};
use crate::quantity::{counted, duration_ns};

/// A row a fact.
pub(super) fn table(job: &JobAnswers) -> Table {
    let mut table = Table::new(
        "completeness",
        title(job),
        &[("fact", "Fact"), ("value", "Value")],
    );
    let mut fact = |fact: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row(vec![Cell::text(fact), Cell::Text(value)]);
        }
    };
    fact("ranks", Some(ranks(job)));
    let is_incomplete = !job.missing.is_empty();
    fact("missing", is_incomplete.then(|| ranges(&job.missing)));
    for (state, word) in [
        (MemberState::Cut, "cut short"),
        (MemberState::Damaged, "damaged"),
        (MemberState::Running, "still running"),
    ] {
        let of_state = (0..).zip(&job.members).filter(|(_, m)| m.state == state);
        let places: Vec<u32> = of_state.map(|(place, _)| place).collect();
        let is_any = !places.is_empty();
        fact(word, is_any.then(|| Places(&job.members).list(&places)));
    }
    let sizes = &job.other_world_sizes;
    fact(
        "world sizes",
        (!sizes.is_empty()).then(|| {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            format!("files disagree: {}", sizes.join(", "))
        }),
    );
    fact("hosts", hosts(job));
    fact("versions", versions(job));
    fact("span", (job.span_ns > 0).then(|| duration_ns(job.span_ns)));
    fact("clocks", Some(clocks(job)));
    table
}

/// Files of which nothing could be read.
pub(super) fn unread(answers: &RanksAnswers) -> Table {
    let mut table = Table::new(
        "unread",
        "Not read",
        &[("rank", "Rank"), ("file", "File"), ("why", "Why")],
    );
    for file in &answers.unread {
        table.row(vec![
            Cell::known(file.rank.map(|rank| rank.to_string()), Cell::Text),
            Cell::text(file.file.as_str()),
            Cell::text(file.why.as_str()),
        ]);
    }
    table
}

fn title(job: &JobAnswers) -> String {
    if job.job_id.is_empty() {
        return "Job".into();
    }
    format!("Job {}", job.job_id)
}

fn ranks(job: &JobAnswers) -> String {
    let n_ranks = job.members.len() as u64;
    let mut said = match job.world_size {
        Some(size) => format!("{n_ranks} of {size}"),
        None => n_ranks.to_string(),
    };
    let others = job.n_processes.saturating_sub(n_ranks);
    if others > 0 {
        said += ", and ";
        said += &counted(others, "other process", "other processes");
    }
    said
}

fn hosts(job: &JobAnswers) -> Option<String> {
    let places = Places(&job.members);
    let host = |row: &marey_analysis::ranks::HostRow| {
        let ranks = places.list(&row.places);
        match row.host.as_str() {
            "" => format!("not known ({ranks})"),
            host => format!("{host} ({ranks})"),
        }
    };
    let hosts: Vec<String> = job.hosts.iter().take(MAX_LISTED).map(host).collect();
    listed(hosts, job.hosts.len())
}

fn versions(job: &JobAnswers) -> Option<String> {
    let places = Places(&job.members);
    if let [only] = job.versions.as_slice() {
        return only
            .marey
            .as_ref()
            .map(|version| format!("marey {version}"));
    }
    let version = |row: &marey_analysis::ranks::VersionRow| {
        let name = row.marey.as_deref().map_or_else(
            || "not known".to_owned(),
            |version| format!("marey {version}"),
        );
        format!("{name} ({})", places.list(&row.places))
    };
    let versions: Vec<String> = job.versions.iter().take(MAX_LISTED).map(version).collect();
    listed(versions, job.versions.len())
}

/// Hosts and versions that are listed.
const MAX_LISTED: usize = 8;

fn listed(mut shown: Vec<String>, n: usize) -> Option<String> {
    if n > shown.len() {
        shown.push(format!("… and {} more", n - shown.len()));
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn clocks(job: &JobAnswers) -> String {
    let clocks = &job.clocks;
    let methods = [
        (ClockMethod::SameClock, "the same clock"),
        (ClockMethod::Collectives, "by collectives"),
        (ClockMethod::StartMarks, "by marks at the start"),
        (ClockMethod::WallClock, "by wall clock"),
        (ClockMethod::NotKnown, "not known"),
    ];
    let counted = methods.iter().filter_map(|(method, words)| {
        let of_method = clocks.each.iter().filter(|clock| clock.method == *method);
        let n = of_method.count();
        (n > 0).then(|| format!("{n} {words}"))
    });
    let mut said = vec![counted.collect::<Vec<_>>().join(", ")];
    said.extend(
        clocks
            .error_ns
            .map(|error_ns| format!("right within {}", duration_ns(error_ns))),
    );
    said.push(clocks.note.clone());
    said.retain(|part| !part.is_empty());
    said.join("; ")
}
