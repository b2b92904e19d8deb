//! What the processes of a job have done so far, in the text format that Prometheus scrapes (version 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use marey::live::{Reading, Totals};
use marey::{NodeKind, Unit};

use super::figures::{FIGURES, Figure, Kind, LEFT_OUT, MAX_SECTIONS, Part, Read};
use super::{LiveSnapshot, STALE_NS, seconds};
use crate::escape;
use crate::quantity::float;

/// Characters of a label's value.
const MAX_LABEL: usize = 250;

/// What the processes of a job have done so far. Taken by the start of their recordings: one process may have made several, whose counts are
/// added. A GPU that several processes read is counted once: the newest reading, of what grows the largest.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// By rank and process id.
    processes: BTreeMap<(Option<u32>, u32), Samples>,
    /// GPUs, which several processes may read.
    machine: Samples,
}

type Label = (&'static str, String);

/// The name of a figure, the end of the value's own name, and labels.
type Key = (&'static str, &'static str, Vec<Label>);

/// Values with their ages in nanoseconds.
type Samples = BTreeMap<Key, (f64, u64)>;

/// One value of a figure.
struct Sample {
    /// The end of its own name.
    end: &'static str,
    labels: Vec<Label>,
    value: f64,
    age_ns: u64,
}

impl Fleet {
    /// Takes what is known of a process.
    pub fn take(&mut self, now: &LiveSnapshot) {
        let process = now.process.as_ref();
        let key = process.map_or((None, 0), |process| (process.rank, process.pid()));
        let process = self.processes.entry(key).or_default();
        for figure in &FIGURES {
            let is_of_machine = figure.name.starts_with("hw_");
            let samples = if is_of_machine { &mut self.machine } else { &mut *process };
            for sample in figure.samples(now) {
                take(samples, figure, sample);
            }
        }
    }

    /// Forgets processes beyond so many, but none that is running: what it has counted stays counted.
    pub fn forget(&mut self, n_kept: usize, is_running: impl Fn(u32) -> bool) {
        while self.processes.len() > n_kept {
            let mut over = self.processes.keys();
            let Some(first) = over.find(|(_, pid)| !is_running(*pid)).copied() else {
                return;
            };
            self.processes.remove(&first);
        }
    }

    /// Each figure once, with what it is, then its values. `left_out` is the number of processes that were not looked at.
    ///
    /// ```text
    /// # HELP diffusion_steps_total Denoising steps that the program reported
    /// # TYPE diffusion_steps_total counter
    /// diffusion_steps_total{host="a",job_id="j",rank="0",pid="4242"} 120
    /// ```
    pub fn exposition(&self, host: &str, job_id: &str, left_out: u64) -> String {
        let mut machine = self.machine.clone();
        if left_out > 0 {
            machine.insert((LEFT_OUT, "", vec![]), (float(left_out), 0));
        }
        let job = vec![("host", short(host)), ("job_id", short(job_id))];
        let mut groups: Vec<(Vec<Label>, &Samples)> = Vec::new();
        for ((rank, pid), samples) in &self.processes {
            let rank = rank.map(|rank| ("rank", rank.to_string()));
            let own = rank.into_iter().chain([("pid", pid.to_string())]);
            groups.push((job.iter().cloned().chain(own).collect(), samples));
        }
        groups.push((job, &machine));
        let mut text = String::new();
        for Figure { name, kind, help, .. } in &FIGURES {
            let begun = text.len();
            for (outer, samples) in &groups {
                let own = samples.range((*name, "", vec![])..);
                let own = own.take_while(|((figure, ..), _)| figure == name);
                for ((_, end, inner), (value, _)) in own {
                    let labels = outer.iter().chain(inner);
                    let pairs: Vec<String> = labels.map(pair).collect();
                    // Writing to a text cannot fail.
                    writeln!(text, "{name}{end}{{{}}} {value}", pairs.join(",")).ok();
                }
            }
            if text.len() > begun {
                let head = format!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.name());
                text.insert_str(begun, &head);
            }
        }
        text
    }
}

/// Of two recordings of a process, or two readers of a GPU.
fn take(samples: &mut Samples, figure: &Figure, new: Sample) {
    let Sample { end, labels, .. } = new;
    let key = (figure.name, end, labels);
    let Some((value, age_ns)) = samples.get_mut(&key) else {
        samples.insert(key, (new.value, new.age_ns));
        return;
    };
    match (figure.kind, &figure.read) {
        // The newest.
        (Kind::Gauge, _) if new.age_ns > *age_ns => {}
        (Kind::Gauge, _) => (*value, *age_ns) = (new.value, new.age_ns),
        (Kind::Summary, _) if end.is_empty() => *value = new.value,
        // The system counts for all of them.
        (_, Read::Series(..)) => *value = value.max(new.value),
        _ => *value += new.value,
    }
}

impl Sample {
    fn new(labels: impl IntoIterator<Item = Label>, value: f64) -> Self {
        Self { end: "", labels: labels.into_iter().collect(), value, age_ns: 0 }
    }
}

impl Figure {
    fn samples(&self, now: &LiveSnapshot) -> Vec<Sample> {
        match &self.read {
            Read::Process(read) => {
                let value = read(now).map(|value| Sample::new([], value));
                value.into_iter().collect()
            }
            Read::Parts(label, read) => {
                let part = |(of, value): (&str, f64)| Sample::new([(*label, of.into())], value);
                read(now).into_iter().map(part).collect()
            }
            Read::Sections(read) => {
                let sections = sections(now, NodeKind::Section);
                let sample = |(totals, path)| Sample::new([("section", path)], read(totals));
                sections.map(sample).collect()
            }
            Read::Iterations => iterations(now),
            Read::Series(unit, names) => {
                let names = names.iter();
                names.flat_map(|(name, part)| self.series(now, *unit, name, *part)).collect()
            }
            Read::Told => vec![],
        }
    }

    fn series(
        &self,
        now: &LiveSnapshot,
        unit: Unit,
        name: &str,
        part: Option<Part>,
    ) -> Vec<Sample> {
        let look = &now.look;
        let only_grows = self.kind == Kind::Counter;
        let is_told = |reading: &&Reading| {
            let is_now = look.is_running() && reading.age_ns <= STALE_NS;
            // A process of another version may count something else by that name.
            let is_it = reading.info.name == name && reading.info.unit == unit;
            is_it && (only_grows || is_now)
        };
        let sample = |reading: &Reading| {
            let id = short(&reading.info.subject);
            let gpu = [("hw_id", id), ("hw_type", "gpu".into())];
            let gpu = gpu.into_iter().filter(|_| name.starts_with("gpu."));
            let part = part.map(|(name, value)| (name, value.to_owned()));
            Sample { age_ns: reading.age_ns, ..Sample::new(gpu.chain(part), reading.value) }
        };
        look.series.iter().filter(is_told).map(sample).collect()
    }
}

/// Those of a kind that have series of their own, with their paths.
fn sections(now: &LiveSnapshot, kind: NodeKind) -> impl Iterator<Item = (&Totals, String)> {
    let look = &now.look;
    let first = look.totals.iter().take(MAX_SECTIONS);
    let of_kind = first.filter(move |totals| look.kind(totals.node) == kind);
    of_kind.map(|totals| (totals, short(&look.path(totals.node).join("/"))))
}

fn iterations(now: &LiveSnapshot) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (totals, path) in sections(now, NodeKind::Iteration) {
        let label = ("iteration", path);
        for of in [0.5, 0.95, 0.99] {
            let iterations = totals.iterations.as_ref();
            if let Some(ns) = iterations.and_then(|iterations| iterations.quantile_ns(of)) {
                let labels = [label.clone(), ("quantile", of.to_string())];
                samples.push(Sample::new(labels, seconds(ns)));
            }
        }
        for (end, value) in [("_sum", seconds(totals.sum_ns)), ("_count", float(totals.count))] {
            samples.push(Sample { end, ..Sample::new([label.clone()], value) });
        }
    }
    samples
}

/// Text of a user as a label: no control codes, and not long.
fn short(text: &str) -> String {
    escape::cut(text, MAX_LABEL)
}

/// A label with its value between quotes.
fn pair((name, value): &Label) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{name}=\"{}\"", value.replace('\n', "\\n"))
}
