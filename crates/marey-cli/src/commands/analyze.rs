//! `marey analyze`: what files of torch say.

mod inputs;
mod read;

use std::path::{Path, PathBuf};

use marey_analysis::Change;
use marey_analysis::quantity::counted;
use marey_folder::aggregation::{Inputs, Jobs};
use marey_folder::content::is_dump;
use marey_folder::run_folder::{Asked, trace_page};
use marey_folder::side_by_side::n_threads;
use marey_folder::thresholds::{Limit, thresholds};
use marey_report::{
    Document, FirstScreen, SnapshotFile, Table, TraceFile, TraceRanks, all_rank_tables,
    html_snapshots, ranks_document, snapshot_document, snapshot_json, snapshot_tables,
    trace_document, trace_file_tables, trace_json, what_if_document,
};

use super::aggregate;
use super::output::{self, Format, Found, Output};
use crate::console::Console;
use crate::exit::Exit;

use inputs::Input;
use read::Said;

/// Analyze traces of torch.profiler and memory snapshots
///
/// A trace of torch.profiler (`*.json`, `*.json.gz`), or of a tool that writes the same: how busy each device was and why it was not,
/// kernels, attention, transfers, communication, and what is the matter. A CUDA memory snapshot of torch (`*.pickle`): how much there was
/// when, what it was at its peak, and why memory ran out. Dumps of NCCL's flight recorder (`nccl_trace_rank_0`) of all ranks, named together,
/// or a folder of them: who had not come to a call that hangs, as `marey aggregate` says it, also of traces that are named with them.
/// Reading runs no code of the files.
#[derive(Debug, clap::Args)]
#[command(mut_arg("format", |arg| {
    arg.value_parser(Format::parser("trace.html or snapshot.html in this folder", &[]))
}))]
pub(crate) struct Arguments {
    /// Files, folders of them, a job's folder of Marey, or a capture: of those the traces and snapshots that its windows wrote
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The recording of the process that wrote the snapshots, a job's folder or a capture: what was allocated is then shown by sections and
    /// steps, too
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// A trace in which the graphs (CUDA graphs) that the traces replay were recorded, or of the same work without a graph; or a folder of
    /// such traces: replayed kernels then have the operators, shapes and modules of their recording. May be given several times
    #[arg(long = "graph-capture", value_name = "TRACE")]
    graph_captures: Vec<PathBuf>,
    #[command(flatten)]
    output: output::Arguments,
    /// Rows of each table of text and Markdown; 0 for all. By itself 15, of one --table all
    #[arg(long, value_name = "N", value_parser = super::most_rows)]
    rows: Option<usize>,
    /// Only this denoising step, or call of the denoiser, from 0 on: what it launched, and what the host did in it
    #[arg(long, value_name = "N", group = "part", conflicts_with = "brief")]
    step: Option<u64>,
    /// Only this `ProfilerStep`, by the number in its name
    #[arg(long, value_name = "N", group = "part", conflicts_with = "brief")]
    profiler_step: Option<u64>,
    /// Only this phase, as the trace calls it or by what it does: `text encoder`, `denoising`, `vae`
    #[arg(long, value_name = "NAME", group = "part", conflicts_with = "brief")]
    phase: Option<String>,
    /// What it would have taken if this were different: `no-sync`, `overlap-copies`, `gemm=fp8`, `attention=sage`, or kernels of a class so
    /// many times as fast, `gemm=1.5x`; may be given several times, for all together
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["part", "brief", "full"])]
    what_if: Vec<Change>,
    /// A limit of findings, such as `gpu_utilization_ratio=0.8`; may be given several times. `docs/findings.md` has them all
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    thresholds: Vec<Limit>,
}

impl Arguments {
    fn asked(&self) -> anyhow::Result<Asked> {
        let numbered = |kind: &str, number: Option<u64>| number.map(|n| format!("{kind} {n}"));
        let phase = self.phase.as_ref().map(|name| format!("phase {name}"));
        let profiler_step = numbered("profiler step", self.profiler_step);
        let captures = inputs::of(&self.graph_captures, None)?;
        Ok(Asked {
            thresholds: thresholds(&self.thresholds),
            part: numbered("step", self.step).or(profiler_step).or(phase),
            what_if: self.what_if.clone(),
            graph_captures: captures
                .iter()
                .map(read::graph_capture)
                .collect::<anyhow::Result<_>>()?,
        })
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let Arguments { paths, output, rows, thresholds: limits, .. } = arguments;
    let (dumps, others): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.iter().flat_map(|path| read_together(path)).partition(|path| is_dump(path));
    if !dumps.is_empty() && others.is_empty() || paths.iter().any(|path| is_dump(path)) {
        let ranks = aggregate::Arguments::of_files(paths, output, *rows, limits);
        return aggregate::run(&ranks, console);
    }
    if !dumps.is_empty() {
        let n_dumps = counted(dumps.len() as u64, "dump", "dumps");
        console.say(&format!(
            "{n_dumps} of NCCL's flight recorder left out: `marey aggregate` reads them"
        ));
    }
    let output = output.output(&[], *rows)?;
    let inputs = inputs::of(&arguments.paths, arguments.run.as_deref())?;
    output.keep(inputs.iter().map(|input| &*input.path))?;
    let asked = arguments.asked()?;
    let said = read::all(&inputs, &asked, n_threads());
    let problems: Vec<(&str, &str)> = said.iter().filter_map(Said::problem).collect();
    let is_what_if = !asked.what_if.is_empty();
    for (file, problem) in &problems {
        let what = if is_what_if { "no answer of" } else { "cannot read" };
        console.say(&format!("{what} {file}: {problem}"));
    }
    if problems.len() == said.len() {
        return Ok(Exit::USAGE);
    }
    for remark in said.iter().filter_map(Said::remark) {
        console.say(remark);
    }
    let ranks = read::together(&said, &asked.thresholds);
    let is_of_part = asked.part.is_some();
    output.show(&Files { inputs: &inputs, said: &said, ranks, is_of_part, is_what_if }, console)?;
    Ok(if problems.is_empty() { Exit::SUCCESS } else { Exit::FAILED })
}

/// A file, or what `marey aggregate` reads of a folder.
fn read_together(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let inputs = Inputs::of(&[path.to_owned()], &Jobs::All).unwrap_or_default();
    inputs.files.into_iter().map(|file| file.path).collect()
}

/// What was read: each file, and what ranks say together.
struct Files<'a> {
    inputs: &'a [Input],
    said: &'a [Said],
    ranks: Option<TraceRanks>,
    /// A part of a trace is asked for, which has tables and no first screen.
    is_of_part: bool,
    /// It is asked what would be if something were different, and nothing else.
    is_what_if: bool,
}

impl Files<'_> {
    fn read(&self) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(|said| said.problem().is_none())
    }

    /// Traces and memory snapshots, also those that could not be read.
    fn by_kind(&self) -> (Vec<TraceFile>, Vec<SnapshotFile>) {
        let (mut traces, mut snapshots) = (Vec::new(), Vec::new());
        for one in self.said {
            match one {
                Said::Trace(file, _) => traces.push((**file).clone()),
                Said::Snapshot(file, _) => snapshots.push((**file).clone()),
            }
        }
        (traces, snapshots)
    }

    /// The first trace that could be read.
    fn first_trace(&self) -> Option<&Path> {
        let is_read = |said: &Said| matches!(said, Said::Trace(..)) && said.problem().is_none();
        let mut each = self.inputs.iter().zip(self.said);
        each.find(|(_, said)| is_read(said)).map(|(input, _)| &*input.path)
    }
}

impl Found for Files<'_> {
    /// The screen of each file that was read, or all of it where it has none; then what ranks say together.
    fn text(&self, output: &Output<'_>) -> String {
        if output.asked.full || self.is_of_part || self.is_what_if {
            return output.whole(&self.document(output));
        }
        let files = self.read().map(|said| match screen(said) {
            Some(screen) => output.screen(&screen),
            None => output.whole(&document(said, output)),
        });
        let ranks = self.ranks.iter();
        let ranks = ranks.map(|ranks| output.whole(&ranks_document(ranks, output::ROWS)));
        files.chain(ranks).collect::<Vec<_>>().join("\n")
    }

    fn document(&self, output: &Output<'_>) -> Document {
        if self.is_what_if {
            let (traces, _) = self.by_kind();
            let blocks = traces.iter().flat_map(|file| what_if_document(file).blocks);
            return Document::from(blocks.collect::<Vec<_>>());
        }
        let files = self.read().map(|said| document(said, output));
        let together = self.ranks.iter().map(|ranks| ranks_document(ranks, output.rows()));
        let blocks = files.chain(together).flat_map(|document| document.blocks);
        Document::from(blocks.collect::<Vec<_>>())
    }

    fn tables(&self) -> Vec<Table> {
        let of_files = self.read().flat_map(|said| match said {
            Said::Trace(file, _) => trace_file_tables(file),
            Said::Snapshot(file, _) => snapshot_tables(file),
        });
        of_files.chain(self.ranks.iter().flat_map(all_rank_tables)).collect()
    }

    /// A memory snapshot by itself has a document of its own.
    fn json(&self, output: &Output<'_>) -> Vec<u8> {
        match self.said {
            said if output.asked.brief => {
                let screens = said.iter().filter_map(screen);
                screens.map(|screen| screen.json()).collect::<String>().into_bytes()
            }
            [Said::Snapshot(file, _)] => snapshot_json(file),
            _ => {
                let (traces, snapshots) = self.by_kind();
                trace_json(&traces, self.ranks.as_ref(), &snapshots)
            }
        }
    }

    /// Of all files, with the timeline of the first trace; of memory snapshots where there is none.
    fn page(&self) -> anyhow::Result<Vec<u8>> {
        let (traces, snapshots) = self.by_kind();
        match self.first_trace() {
            Some(path) => trace_page(&traces, self.ranks.as_ref(), &snapshots, path),
            None => Ok(html_snapshots(&snapshots)),
        }
    }

    fn page_name(&self) -> PathBuf {
        if self.first_trace().is_some() { "trace.html" } else { "snapshot.html" }.into()
    }
}

fn screen(said: &Said) -> Option<FirstScreen> {
    match said {
        Said::Trace(file, _) => FirstScreen::of_trace(file),
        Said::Snapshot(file, _) => FirstScreen::of_snapshot(file),
    }
}

fn document(said: &Said, output: &Output<'_>) -> Document {
    match said {
        Said::Trace(file, _) => trace_document(file, output.rows(), output.asked.full),
        Said::Snapshot(file, _) => snapshot_document(file),
    }
}
