//! The kinds of tables.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::column::ColumnFacts;
use super::kinds::recorded::{
    Cache, Counters, Events, GpuSpans, Memory, Open, SectionMemory, SectionResources, Sessions,
};
use super::kinds::reported::{Allocations, Deliveries, Layers, Models};
use super::kinds::steps::{Blocks, Steps};
use super::kinds::{processes::Processes, samples::Samples, sections::Sections, totals::Totals};
use super::process::Process;
use super::rows::{MakeColumns, facts_of, rows_of, schema_of};

/// The enum of all kinds, and what is said of each: what a row is, for `docs/tables.md` too, its name, and what its rows are made of.
macro_rules! kinds {
    ($($(#[doc = $about:literal])* $kind:ident($name:literal, $table:ty),)*) => {
        /// A kind of table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[doc = $about])* $kind,)*
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

            /// What a row of it is.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($about),*).trim_start(),)*
                }
            }

            /// What its columns are.
            pub fn columns(self) -> Vec<ColumnFacts> {
                match self {
                    $(Self::$kind => facts_of::<$table>(),)*
                }
            }

            /// How many rows it has of a process, and what makes them.
            pub(super) fn table(self, process: Arc<Process>) -> (usize, MakeColumns) {
                match self {
                    $(Self::$kind => rows_of::<$table>(process),)*
                }
            }
        }
    };
}

kinds! {
    /// One row a process.
    Processes("processes", Processes),
    /// One row a section, or iteration of a loop, that was recorded one by one; a file is in order of their start. Where records were dropped,
    /// `processes.sections_missing` says how many, and `totals` has them.
    Sections("sections", Sections),
    /// One row a call path of a process: exact figures of all its calls, those that were not recorded one by one, too.
    Totals("totals", Totals),
    /// One row a section that was open when the capture ended. Such sections are in no other table.
    Open("open", Open),
    /// One row a denoising step, in order of their ends: as the program reported them, otherwise loops and sections with such names.
    Steps("steps", Steps),
    /// One row an autoregressive block, or chunk of frames, in order of their ends; known from the same sources as steps.
    Blocks("blocks", Blocks),
    /// One row a report of a model, in order of time. In reports the last one of a name in a pipeline counts.
    Models("models", Models),
    /// One row a layer of a model that the program measured (`profile_layer`), in order of time.
    Layers("layers", Layers),
    /// One row a delivery of frames, or a report of dropped ones, in order of time.
    Deliveries("deliveries", Deliveries),
    /// One row a session, in order of their start.
    Sessions("sessions", Sessions),
    /// One row an event, in order of time.
    Events("events", Events),
    /// One row a reading of one of the program's counters, in order of time.
    Counters("counters", Counters),
    /// One row a memory reading, in order of time.
    Memory("memory", Memory),
    /// One row an allocation or a release that the program reported (`record_memory_event`), in order of time.
    Allocations("allocations", Allocations),
    /// One row what a section did to the memory of torch's allocator on one device, in order of its start. Most sections have none.
    SectionMemory("section_memory", SectionMemory),
    /// One row what an outer section used, in order of its start. Deeper sections, and those beyond the budget of readings, have none.
    SectionResources("section_resources", SectionResources),
    /// One row the work of a section on one stream of a GPU, in order of the section's start. Spans of a section and of those within it
    /// overlap.
    GpuSpans("gpu_spans", GpuSpans),
    /// One row a decision of a cache, in order of time.
    Cache("cache", Cache),
    /// One row a point of a series of samplers: one reading, or all readings of a time bucket. The names are in
    /// [series of the machine](explanation/series.md).
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
