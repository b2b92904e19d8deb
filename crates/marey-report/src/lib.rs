//! A [`Report`] is everything that is shown about a run; each format turns it into bytes.
//!
//! Formats format: a number that any of them shows exists in the report first. Nothing here writes to a file or a
//! terminal, and everything that a user named is escaped for where it is shown.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let config = marey::Config { output_dir: Some(folder.path().into()), ..Default::default() };
//! let recording = marey::start(config)?;
//! drop(marey::section!("vae_decode"));
//! let capture = recording.finish().expect("recorded into a folder");
//!
//! let report = marey_report::Report::new(&marey::load(&capture)?);
//! assert!(marey_report::summary(&report).contains("vae_decode"));
//! let json: serde_json::Value = serde_json::from_slice(&marey_report::profiling_report(&report))?;
//! assert_eq!(json["timing_stats"]["vae_decode"]["count"], 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod escape;
pub mod live;
pub mod width;

#[cfg(feature = "parquet")]
pub mod parquet;

mod model;

mod compare;
mod document;
mod first_screen;
mod html;
mod json;
mod lanes;
mod rank_report;
mod render;
mod run_report;
mod short_names;
mod snapshot_report;
mod text;
mod trace;
mod trace_report;

pub use marey_analysis::quantity;

pub use compare::{
    ComparedRun, ComparedSide, ComparisonReport, Criterion, RankTimes, TrendReport,
    comparison_document, trend_document,
};
pub use document::{
    Block, Cell, Column, Document, Facts, ListedFinding, ListedFindings, Table, joined,
};
pub use first_screen::{
    AccountRows, Checks, DifferenceRow, Differences, Facts as ScreenFacts, FirstScreen, Headline,
    Labelled, Mood, Next, Part, Places, Row, RowFacts, ScreenFinding, Sentence, Shown,
};
pub use html::{html_comparison, html_ranks, html_report, html_snapshots, html_trace, page_schema};
pub use json::{
    aggregation_json, comparison_json, launch_object, memory_log, profiling_report,
    raw_profiling_data, raw_profiling_data_of_session, schemas, snapshot_json, status_object,
    trace_json, trend_json,
};
pub use model::{
    Activity, AttributeValue, AttributedCallFacts, CacheMoment, EventMoment, Loss, NamedValues,
    NotRead, OpenCall, Quality, Report, RunFacts, RunStatus, SessionFacts, SnapshotFile,
    StatusKind, TraceFile, TraceRanks, json_value, launch_text,
};
pub use rank_report::{RankedJob, aggregation_document, listed_ranks, ranks_tables};
pub use render::csv::csv;
pub use render::json::table_json;
pub use render::markdown::markdown_text;
pub use render::text::text as document_text;
pub use run_report::{cache_markdown, run_document, run_tables};
pub use snapshot_report::{snapshot_document, snapshot_tables};
pub use text::{aggregation_summary, iteration_summary, memory_summary, summary, timing_summary};
pub use trace::{Compression, JoinedTraces, TraceFormat, TraceWriter};
pub use trace_report::{
    all_rank_tables, rank_tables, ranks_document, trace_document, trace_file_tables, trace_tables,
    what_if_document,
};
