//! Every call of a collective that a trace has.

use super::TraceContext;
use super::collective::{CollectiveKind, ToldBy, element_bytes};
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::function_name::function_of;
use crate::import::chrome::{Class, Inputs, Trace, is_host_collective};
use crate::intervals::Interval;

/// One call as this rank saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectiveCall<'a> {
    pub(super) name: &'a str,
    pub(super) told_by: ToldBy,
    pub(super) group: Option<&'a str>,
    pub(super) group_size: Option<u64>,
    pub(super) element_type: Option<&'a str>,
    /// Elements that went in; as everything that follows `None` when the trace does not say.
    pub(super) n_in: Option<u64>,
    pub(super) n_out: Option<u64>,
    pub(super) time: Interval,
    /// The call's own row.
    pub(super) row: u32,
    /// The row of the module or range that it was launched in.
    pub(super) launched_in: Option<u32>,
}

/// The communication kernels of a device in order of time.
///
/// What a kernel says of its collective comes first, then the range around its launch (`nccl:all_to_all`), then its name.
pub(super) fn device_calls<'a>(
    context: &TraceContext<'a>,
    timeline: &DeviceTimeline,
) -> Vec<CollectiveCall<'a>> {
    let work = timeline.work.iter();
    let kernels = work.filter(|work| work.kind == WorkKind::Communication);
    kernels.map(|work| device_call(context, work)).collect()
}

fn device_call<'a>(context: &TraceContext<'a>, work: &DeviceWork) -> CollectiveCall<'a> {
    let trace = context.trace;
    let row = trace.work.get(work.origin as usize).map(|work| work.row);
    let said = row.and_then(|row| trace.collective_of(row));
    let text = |number: Option<u32>| number.map(|number| trace.texts.get(number));
    let range = work.launch.and_then(|call| range_around(context, call));
    let around = range.and_then(|range| context.host.parent(range));
    let inputs = [range, around].into_iter().flatten().find_map(|row| trace.inputs_of(row));
    let named = text(said.and_then(|said| said.name)).map(|name| (name, ToldBy::Metadata));
    let ranged = || {
        let name = trace.name_of(range?).split_once(':')?.1;
        Some((name, ToldBy::Annotation))
    };
    let kernel = trace.names.get(work.name);
    let by_kernel = || {
        let word = CollectiveKind::of(kernel).word();
        let function = function_of(kernel);
        let short = function.split('<').next().unwrap_or(function);
        (word.unwrap_or(short), ToldBy::KernelName)
    };
    let (name, told_by) = named.or_else(ranged).unwrap_or_else(by_kernel);
    // The inputs of the range are those of one kernel only where it launches one, and the kernel says nothing.
    let input = inputs.filter(|_| said.is_none());
    let said_type = text(said.and_then(|said| said.element_type));
    CollectiveCall {
        name,
        told_by,
        group: text(said.and_then(|said| said.group)),
        group_size: said.and_then(|said| said.group_size),
        element_type: said_type.or_else(|| input.and_then(|input| first_type(trace, input))),
        n_in: said
            .and_then(|said| said.n_elements_in)
            .or_else(|| input.and_then(|input| first_elements(trace, input))),
        n_out: said.and_then(|said| said.n_elements_out),
        time: work.interval(),
        row: row.unwrap_or(u32::MAX),
        launched_in: work.launch.and_then(|call| place_around(context, call)),
    }
}

/// The calls that the host does itself, by beginning.
pub(super) fn host_calls<'a>(context: &TraceContext<'a>) -> Vec<CollectiveCall<'a>> {
    let trace = context.trace;
    let wanted: Vec<bool> = trace.names.iter().map(is_host_collective).collect();
    let rows = (0_u32..).zip(&trace.rows.name);
    let mut found: Vec<CollectiveCall<'a>> = rows
        .filter(|(row, name)| {
            let is_named = wanted.get(**name as usize).copied().unwrap_or_default();
            is_named && trace.class_of(*row) == Class::Annotation && context.has_row(*row)
        })
        .map(|(row, _)| host_call(context, row))
        .collect();
    found.sort_by_key(|call| (call.time.start_ns, call.time.end_ns));
    found
}

fn host_call<'a>(context: &TraceContext<'a>, row: u32) -> CollectiveCall<'a> {
    let trace = context.trace;
    let inputs = trace.inputs_of(row);
    let name = trace.name_of(row);
    CollectiveCall {
        name: name.split_once(':').map_or(name, |(_, name)| name),
        told_by: ToldBy::Annotation,
        group: None,
        group_size: None,
        element_type: inputs.and_then(|inputs| first_type(trace, inputs)),
        n_in: inputs.and_then(|inputs| first_elements(trace, inputs)),
        n_out: None,
        time: trace.rows.time_of(row),
        row,
        launched_in: place_around(context, row),
    }
}

/// The range of NCCL or RCCL around a call: `nccl:all_reduce`.
fn range_around(context: &TraceContext<'_>, call: u32) -> Option<u32> {
    let trace = context.trace;
    context.host.around(call).find(|row| {
        let is_range = trace.class_of(*row) == Class::Annotation;
        is_range && trace.name_of(*row).starts_with("nccl:")
    })
}

/// The innermost module, or range that the program named, around a row; not the ranges of backends.
fn place_around(context: &TraceContext<'_>, row: u32) -> Option<u32> {
    let trace = context.trace;
    context.host.around(row).find(|row| match trace.class_of(*row) {
        Class::Annotation => {
            let name = trace.name_of(*row);
            !is_host_collective(name) && !name.starts_with("nccl:")
        }
        Class::PythonFunction => trace.name_of(*row).starts_with("nn.Module: "),
        _ => false,
    })
}

/// The type of the first input; `None` when it is no tensor.
fn first_type(trace: &Trace, inputs: Inputs) -> Option<&str> {
    trace.first_type(inputs).filter(|first| element_bytes(first).is_some())
}

/// Elements of the first input, the product of its sizes; `None` when it is no tensor.
fn first_elements(trace: &Trace, inputs: Inputs) -> Option<u64> {
    let mut sizes = trace.sizes_of(inputs, 0)?.split(',').map(|size| size.trim().parse().ok());
    sizes.try_fold(1_u64, |all, size: Option<u64>| all.checked_mul(size?))
}
