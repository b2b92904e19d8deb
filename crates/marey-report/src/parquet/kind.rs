//! The kinds of tables.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::column::ColumnFacts;
use super::kinds::{
    allocations::Allocations, blocks::Blocks, cache::Cache, counters::Counters,
    deliveries::Deliveries, events::Events, gpu_spans::GpuSpans, layers::Layers, memory::Memory,
    models::Models, open::Open, processes::Processes, samples::Samples,
    section_memory::SectionMemory, section_resources::SectionResources, sections::Sections,
    sessions::Sessions, steps::Steps, totals::Totals,
};
use super::process::Process;
use super::reported::Reports;
use super::table::{MakeBatch, facts_of, rows_of, schema_of};

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Processes.
    Processes,
    /// Sections that were recorded one by one.
    Sections,
    /// Exact figures of each call path.
    Totals,
    /// Sections that were open at the end.
    Open,
    /// Denoising steps.
    Steps,
    /// Autoregressive blocks.
    Blocks,
    /// Models that the program named.
    Models,
    /// Layers that the program measured.
    Layers,
    /// Frames that were delivered or dropped.
    Deliveries,
    /// Sessions.
    Sessions,
    /// Points in time with a name.
    Events,
    /// Readings of counters.
    Counters,
    /// Memory readings.
    Memory,
    /// Allocations and releases that the program reported.
    Allocations,
    /// What sections did to torch's memory.
    SectionMemory,
    /// What outer sections used.
    SectionResources,
    /// What GPUs did for sections.
    GpuSpans,
    /// What caches did.
    Cache,
    /// What samplers read.
    Samples,
}

/// Does the same for the table of a kind.
macro_rules! of_table {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            Kind::Processes => $function::<Processes>($($argument),*),
            Kind::Sections => $function::<Sections>($($argument),*),
            Kind::Totals => $function::<Totals>($($argument),*),
            Kind::Open => $function::<Open>($($argument),*),
            Kind::Steps => $function::<Steps>($($argument),*),
            Kind::Blocks => $function::<Blocks>($($argument),*),
            Kind::Models => $function::<Reports<Models>>($($argument),*),
            Kind::Layers => $function::<Reports<Layers>>($($argument),*),
            Kind::Deliveries => $function::<Reports<Deliveries>>($($argument),*),
            Kind::Sessions => $function::<Sessions>($($argument),*),
            Kind::Events => $function::<Events>($($argument),*),
            Kind::Counters => $function::<Counters>($($argument),*),
            Kind::Memory => $function::<Memory>($($argument),*),
            Kind::Allocations => $function::<Reports<Allocations>>($($argument),*),
            Kind::SectionMemory => $function::<SectionMemory>($($argument),*),
            Kind::SectionResources => $function::<SectionResources>($($argument),*),
            Kind::GpuSpans => $function::<GpuSpans>($($argument),*),
            Kind::Cache => $function::<Cache>($($argument),*),
            Kind::Samples => $function::<Samples>($($argument),*),
        }
    };
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Processes,
        Self::Sections,
        Self::Totals,
        Self::Open,
        Self::Steps,
        Self::Blocks,
        Self::Models,
        Self::Layers,
        Self::Deliveries,
        Self::Sessions,
        Self::Events,
        Self::Counters,
        Self::Memory,
        Self::Allocations,
        Self::SectionMemory,
        Self::SectionResources,
        Self::GpuSpans,
        Self::Cache,
        Self::Samples,
    ];

    /// Its name in folders and in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Sections => "sections",
            Self::Totals => "totals",
            Self::Open => "open",
            Self::Steps => "steps",
            Self::Blocks => "blocks",
            Self::Models => "models",
            Self::Layers => "layers",
            Self::Deliveries => "deliveries",
            Self::Sessions => "sessions",
            Self::Events => "events",
            Self::Counters => "counters",
            Self::Memory => "memory",
            Self::Allocations => "allocations",
            Self::SectionMemory => "section_memory",
            Self::SectionResources => "section_resources",
            Self::GpuSpans => "gpu_spans",
            Self::Cache => "cache",
            Self::Samples => "samples",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What its columns are.
    pub fn columns(self) -> Vec<ColumnFacts> {
        of_table!(self, facts_of())
    }

    /// The Arrow schema of its columns.
    pub fn schema(self) -> SchemaRef {
        schema_of(&self.columns())
    }

    /// What makes its rows of a process.
    pub(super) fn table(self, process: Arc<Process>) -> Box<dyn MakeBatch> {
        of_table!(self, rows_of(process))
    }
}
