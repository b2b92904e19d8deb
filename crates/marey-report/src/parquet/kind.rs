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

/// The enum of all kinds, and what is said of each: its name, and what its rows are made of.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident($name:literal, $table:ty),)*) => {
        /// A kind of table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$about])* $kind,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Its name in folders and in SQL.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// What its columns are.
            pub fn columns(self) -> Vec<ColumnFacts> {
                match self {
                    $(Self::$kind => facts_of::<$table>(),)*
                }
            }

            /// What makes its rows of a process.
            pub(super) fn table(self, process: Arc<Process>) -> Box<dyn MakeBatch> {
                match self {
                    $(Self::$kind => rows_of::<$table>(process),)*
                }
            }
        }
    };
}

kinds! {
    /// Processes.
    Processes("processes", Processes),
    /// Sections that were recorded one by one.
    Sections("sections", Sections),
    /// Exact figures of each call path.
    Totals("totals", Totals),
    /// Sections that were open at the end.
    Open("open", Open),
    /// Denoising steps.
    Steps("steps", Steps),
    /// Autoregressive blocks.
    Blocks("blocks", Blocks),
    /// Models that the program named.
    Models("models", Reports<Models>),
    /// Layers that the program measured.
    Layers("layers", Reports<Layers>),
    /// Frames that were delivered or dropped.
    Deliveries("deliveries", Reports<Deliveries>),
    /// Sessions.
    Sessions("sessions", Sessions),
    /// Points in time with a name.
    Events("events", Events),
    /// Readings of counters.
    Counters("counters", Counters),
    /// Memory readings.
    Memory("memory", Memory),
    /// Allocations and releases that the program reported.
    Allocations("allocations", Reports<Allocations>),
    /// What sections did to torch's memory.
    SectionMemory("section_memory", SectionMemory),
    /// What outer sections used.
    SectionResources("section_resources", SectionResources),
    /// What GPUs did for sections.
    GpuSpans("gpu_spans", GpuSpans),
    /// What caches did.
    Cache("cache", Cache),
    /// What samplers read.
    Samples("samples", Samples),
}

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The Arrow schema of its columns.
    pub fn schema(self) -> SchemaRef {
        schema_of(&self.columns())
    }
}
