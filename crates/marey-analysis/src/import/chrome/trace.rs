//! A trace as values.

use super::category::Class;
use super::details::{Allocation, Collective, DeviceWait, Inputs, OperatorNumber, sizes};
use super::metadata::Metadata;
use super::names::Names;
use super::quality::Quality;
use super::rows::{Call, Categories, Rows, Work};
use super::tracks::{Process, Tracks};

/// What a trace of torch.profiler, or of any tool that writes that shape, says happened.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Every event with a duration.
    pub rows: Rows,
    /// Those that are work of a device, in the order of the rows.
    pub work: Vec<Work>,
    /// Those that are calls of the runtime or the driver, likewise.
    pub calls: Vec<Call>,
    /// The numbers of operators, in order of rows; only rows that have one.
    pub operator_numbers: Vec<OperatorNumber>,
    /// The inputs of operators, likewise; only rows that say them.
    pub inputs: Vec<Inputs>,
    /// What kernels of communication say about their collective, likewise.
    pub collectives: Vec<Collective>,
    /// Synchronisations on the rows of devices, likewise.
    pub waits: Vec<DeviceWait>,
    /// What allocators did, in the order of the file.
    pub allocations: Vec<Allocation>,
    /// Texts of these, by their numbers.
    pub texts: Names,
    /// Their names.
    pub names: Names,
    /// Their categories.
    pub categories: Categories,
    /// Where they happened.
    pub tracks: Tracks,
    /// When the first of them began, on the trace's own clock; `None` when there is none.
    pub first_ns: Option<i64>,
    /// What each document says about itself; ranks that a tool put into one are one document each.
    pub metadata: Vec<Metadata>,
    /// Ranks that were put into one document, in that which has most of them.
    pub n_merged_ranks: u64,
    /// What was read and what was not.
    pub quality: Quality,
}

impl Trace {
    /// The name of a row; empty when there is no such row.
    pub fn name_of(&self, row: u32) -> &str {
        let name = self.rows.name.get(row as usize);
        name.map_or("", |name| self.names.get(*name))
    }

    /// Rows with a name of which this holds, in order; each name is looked at once.
    pub fn rows_named(&self, is_meant: impl Fn(&str) -> bool) -> impl Iterator<Item = u32> {
        let is_meant: Vec<bool> = self.names.iter().map(is_meant).collect();
        let names = (0_u32..).zip(&self.rows.name);
        let named = names.filter(move |(_, name)| is_meant.get(**name as usize) == Some(&true));
        named.map(|(row, _)| row)
    }

    /// The process of a row, as an index into the processes.
    pub fn process_of(&self, row: u32) -> u32 {
        let track = self.rows.track.get(row as usize);
        let track = track.and_then(|track| self.tracks.each.get(*track as usize));
        track.map_or(0, |track| track.process)
    }

    /// Which document of the file a row is in.
    pub fn document_of(&self, row: u32) -> u32 {
        self.document_of_process(self.process_of(row))
    }

    /// Which document of the file a process, or a device, is in.
    pub fn document_of_process(&self, process: u32) -> u32 {
        let process = self.tracks.processes.get(process as usize);
        process.map_or(0, |process| process.document)
    }

    /// The number that the trace calls a process by; `None` when it is none.
    pub fn process_number(&self, process: u32) -> Option<i64> {
        self.tracks.processes.get(process as usize)?.pid.number()
    }

    /// What kind of thing a row is.
    pub fn class_of(&self, row: u32) -> Class {
        let category = self.rows.category.get(row as usize).copied();
        category.map_or(Class::Other, |category| self.categories.class(category))
    }

    /// What is known of a row as a call; `None` when it is none.
    pub fn call_of(&self, row: u32) -> Option<&Call> {
        of_row(&self.calls, row, |call| call.row)
    }

    /// The number of an operator; `None` when it has none.
    pub fn operator_number(&self, row: u32) -> Option<i64> {
        let operator = of_row(&self.operator_numbers, row, |operator| operator.row);
        operator.map(|operator| i64::from(operator.number))
    }

    /// The inputs of an operator; `None` when the trace does not say them.
    pub fn inputs_of(&self, row: u32) -> Option<Inputs> {
        of_row(&self.inputs, row, |inputs| inputs.row).copied()
    }

    /// The sizes of an input, as they are written; `None` when there are not as many.
    pub fn sizes_of(&self, inputs: Inputs, wanted: usize) -> Option<&str> {
        sizes(self.texts.get(inputs.shapes), wanted)
    }

    /// The type of the first input: of `["float", "Scalar"]` it is `float`.
    pub fn first_type(&self, inputs: Inputs) -> Option<&str> {
        self.texts.get(inputs.types?).split('"').nth(1)
    }

    /// What a kernel says about its collective; `None` when it says nothing.
    pub fn collective_of(&self, row: u32) -> Option<&Collective> {
        of_row(&self.collectives, row, |collective| collective.row)
    }

    /// What the trace calls a process.
    pub fn process_label(&self, process: u32) -> String {
        let process: Option<&Process> = self.tracks.processes.get(process as usize);
        process.map_or_else(String::new, |process| self.tracks.label(process.pid))
    }
}

/// The entry of a row, in entries that are in order of their rows.
fn of_row<T>(entries: &[T], row: u32, row_of: impl Fn(&T) -> u32) -> Option<&T> {
    entries.get(entries.binary_search_by_key(&row, row_of).ok()?)
}
