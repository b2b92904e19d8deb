//! What is there of a job, and what is not.

use marey_analysis::ranks::{ClockMethod, JobAnswers, MemberState, RanksAnswers};

use super::places::{Places, ranges};
use crate::document::{Cell, Table};
use crate::quantity::{counted, duration_ns};

/// A row a fact.
pub(super) fn table(job: &JobAnswers) -> Table {
    let mut table = Table::new("completeness", "Job", &[("fact", "Fact"), ("value", "Value")]);
    let mut fact = |fact: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row(vec![Cell::text(fact), Cell::Text(value)]);
        }
    };
    fact("id", Some(id(job)));
    fact("ranks", Some(ranks(job)));
    let is_incomplete = !job.missing.is_empty();
    fact("missing", is_incomplete.then(|| ranges(&job.missing)));
    fact("cut short", of_state(job, MemberState::Cut));
    fact("damaged", damaged(job));
    fact("still running", of_state(job, MemberState::Running));
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
    let note = &job.clocks.note;
    table.notes.extend((!note.is_empty()).then(|| note.clone()));
    table
}

/// Files of which nothing could be read.
pub(super) fn unread(answers: &RanksAnswers) -> Table {
    let columns = "rank: Rank, file: File, why: Why";
    Table::of_fields("unread", "Not read", &answers.unread, columns)
}

fn id(job: &JobAnswers) -> String {
    match job.job_id.as_str() {
        "" => "not known".to_owned(),
        id => id.to_owned(),
    }
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

fn of_state(job: &JobAnswers, state: MemberState) -> Option<String> {
    let of_state = (0..).zip(&job.members).filter(|(_, m)| m.state == state);
    let places: Vec<u32> = of_state.map(|(place, _)| place).collect();
    (!places.is_empty()).then(|| Places(&job.members).list(&places))
}

/// Ranks whose files could be read in part, then those of whose files nothing could be.
fn damaged(job: &JobAnswers) -> Option<String> {
    let unread = job.unread.iter().take(MAX_LISTED).map(|file| {
        let rank = file.rank.map_or_else(String::new, |rank| rank.to_string());
        format!("{rank}: {} could not be read", file.file)
    });
    let said = of_state(job, MemberState::Damaged).into_iter().chain(unread);
    let n_more = job.unread.len().saturating_sub(MAX_LISTED);
    let more = (n_more > 0).then(|| format!("… and {n_more} more"));
    let said: Vec<String> = said.chain(more).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn hosts(job: &JobAnswers) -> Option<String> {
    let name = |host: &String| (!host.is_empty()).then(|| host.clone());
    by_ranks(job, job.hosts.iter().map(|row| (name(&row.host), &row.places[..])))
}

fn versions(job: &JobAnswers) -> Option<String> {
    let name = |marey: &String| format!("marey {marey}");
    if let [only] = job.versions.as_slice() {
        return only.marey.as_ref().map(name);
    }
    by_ranks(job, job.versions.iter().map(|row| (row.marey.as_ref().map(name), &row.places[..])))
}

/// Hosts, versions and files that are listed.
const MAX_LISTED: usize = 8;

/// Names with their ranks: `node-0 (0-3), not known (4)`.
fn by_ranks<'a>(
    job: &JobAnswers,
    rows: impl ExactSizeIterator<Item = (Option<String>, &'a [u32])>,
) -> Option<String> {
    let n_more = rows.len().saturating_sub(MAX_LISTED);
    let row = |(name, places): (Option<String>, &[u32])| {
        let name = name.as_deref().unwrap_or("not known");
        format!("{name} ({})", Places(&job.members).list(places))
    };
    let mut shown: Vec<String> = rows.take(MAX_LISTED).map(row).collect();
    shown.extend((n_more > 0).then(|| format!("… and {n_more} more")));
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn clocks(job: &JobAnswers) -> String {
    let clocks = &job.clocks;
    let methods = [
        (ClockMethod::SameClock, "the same clock"),
        (ClockMethod::Collectives, "by collectives"),
        (ClockMethod::StartMarks, "by start marks"),
        (ClockMethod::WallClock, "by wall clock"),
        (ClockMethod::NotKnown, "not known"),
    ];
    let counted = methods.iter().filter_map(|(method, words)| {
        let of_method = clocks.each.iter().filter(|clock| clock.method == *method);
        let n = of_method.count();
        (n > 0).then(|| format!("{n} {words}"))
    });
    let mut said = vec![counted.collect::<Vec<_>>().join(", ")];
    let is_assumed = clocks.each.iter().all(|clock| clock.method == ClockMethod::SameClock);
    said.extend(
        clocks
            .error_ns
            .filter(|_| !is_assumed)
            .map(|error_ns| format!("right within {}", duration_ns(error_ns))),
    );
    said.retain(|part| !part.is_empty());
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use marey_analysis::ranks::{Clocks, PlacedClock};

    use super::*;

    #[test]
    fn an_id_is_printed_as_it_is_and_what_is_assumed_of_clocks_is_a_note() {
        let note = "All ranks read the clock of one machine; that it was not set while they started is assumed.";
        let clock = PlacedClock {
            method: ClockMethod::SameClock,
            error_ns: Some(0),
            ..PlacedClock::default()
        };
        let mut job = JobAnswers {
            job_id: "Run-a709".into(),
            clocks: Clocks {
                each: vec![clock, clock],
                error_ns: Some(0),
                note: note.into(),
                ..Clocks::default()
            },
            ..JobAnswers::default()
        };
        let found = table(&job);
        assert_eq!(found.title, "Job");
        assert_eq!(found.rows[0][1], Cell::text("Run-a709"));
        let last = found.rows.last().unwrap();
        assert_eq!(last[1], Cell::text("2 the same clock"));
        assert_eq!(found.notes, [note]);
        job.job_id.clear();
        assert_eq!(table(&job).rows[0][1], Cell::text("not known"));
    }
}
