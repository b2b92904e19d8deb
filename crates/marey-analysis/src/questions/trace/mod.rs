//! What a trace of torch.profiler says: where the time of host and devices went, and why.
//!
//! ```text
//! Trace ──► TraceContext ──► one question a file ──► TraceAnswers
//!  (columns)  (devices in order of time, nesting of the host, what is asked about)
//! ```

mod attention;
mod attention_calls;
mod attention_kernels;
mod attention_names;
mod collective;
mod communication;
mod compilation;
mod context;
mod device_timeline;
mod function_name;
mod gap_explanation;
mod graph_captures;
mod graph_replays;
mod host_rows;
mod idle_gaps;
mod kernel_class;
mod kernels;
mod launch_coverage;
mod launch_delay;
mod left_out;
mod modelled_calls;
mod modelled_figures;
mod modelled_work;
mod modules;
mod nested_sums;
mod operator_class;
mod operators;
mod owned_kernels;
mod owners;
mod part_list;
mod part_names;
mod part_work;
mod periods;
mod rank_communication;
mod scopes;
mod suspicious_durations;
mod synchronisation;
mod tensor_cores;
mod trace_account;
mod trace_memory;
mod trace_phases;
mod trace_steps;
mod transfers;
mod utilization;
mod what_if;

use serde::Serialize;

use crate::import::chrome::{Metadata, Quality, Trace};

use attention_calls::AttentionCalls;
use attention_kernels::{OwnersOfRows, attention_kernels, attention_owners, attention_uses};

pub use attention::{
    AttentionFallback, AttentionOperator, AttentionOwner, AttentionPath, AttentionUse,
    FallbackReason,
};
pub use attention_kernels::attention;
pub use collective::{CollectiveKind, ToldBy};
pub use communication::{Communication, communication, host_communication};
pub use compilation::{Compilation, Compilations, compilations, is_compiling};
pub use context::TraceContext;
pub(crate) use device_timeline::covered;
pub use device_timeline::{
    DeviceTimeline, DeviceWork, WorkKind, device_timelines, is_communication,
};
pub use function_name::{Brackets, function_of};
pub use graph_captures::GraphCaptures;
pub use host_rows::HostRows;
pub use idle_gaps::{
    CauseTime, Gap, GapCause, GapReason, HostOperation, IdleGaps, ReasonTime, idle_gaps,
};
pub use kernel_class::{KernelClass, kernel_class};
pub use kernels::{ClassRow, KernelRow, Kernels, kernels};
pub use launch_coverage::{LaunchCoverage, LaunchedCalls};
pub use launch_delay::{LaunchCall, LaunchDelay, LaunchQueue, Launches, launches};
pub use left_out::LeftOut;
pub use modelled_figures::{Bound, KNOWN_WORK, ModelledFigures, ModelledPart};
pub use modelled_work::{
    FormatPeak, ModelledClass, ModelledFormat, ModelledRow, ModelledWork, WorkPeaks, modelled_work,
};
pub use modules::{ModuleRow, Modules, modules};
pub use operator_class::operator_class;
pub use operators::{OperatorRow, Operators, operators};
pub use owned_kernels::{OwnedKernel, OwnedKernels, owned_kernels};
pub use owners::{HostKind, Owners};
pub use part_list::{
    PartFigures, PartList, PartSpread, PartWork, RestOfWork, RestPlace, StepGroup, StepKind,
    TracePart, TracePartLists,
};
pub use part_work::part_lists;
pub(crate) use rank_communication::collective_sums;
pub use rank_communication::{
    MatchedCollective, RankCommunication, RankWaiting, across_ranks, rank_calls,
};
pub use scopes::{Scope, find_scope};
pub use suspicious_durations::{SuspiciousDuration, SuspiciousDurations, suspicious_durations};
pub use synchronisation::{SyncCall, SyncPlace, Synchronisation, synchronisation};
pub use tensor_cores::{MatrixKernel, MatrixTime, TensorCores, tensor_cores, uses_tensor_cores};
pub use trace_account::{TraceAccount, TraceAccountRow, trace_account};
pub use trace_memory::{OperatorBytes, TraceMemory, trace_memory};
pub use trace_phases::{PhaseRole, TracePhase, trace_phases};
pub use trace_steps::{StepRule, TraceSteps, trace_steps};
pub use transfers::{
    LargeTransfer, TransferMemory, Transfers, largest_transfers, transfers, transfers_by_memory,
};
pub use utilization::{Overlap, StreamUse, Utilization, overlap, utilization};
pub use what_if::{Change, UnknownChange, WhatIf, WhatIfRow, what_if};

/// What a trace says, about all of it or a part. Moments count from the first event of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TraceAnswers {
    /// What is asked about; `None` for the whole trace.
    pub scope: Option<Scope>,
    /// What each document of the file says about itself: its rank, its devices, versions.
    pub documents: Vec<Metadata>,
    /// From the first beginning to the last end of any event; 0 when there are none.
    pub span_ns: u64,
    /// Events with a duration.
    pub n_rows: u64,
    /// Its steps and phases, and what devices did for them.
    pub parts: TracePartLists,
    /// Each device that did something, in order.
    pub devices: Vec<DeviceAnswers>,
    /// Operators, ranges and calls of the runtime.
    pub operators: Operators,
    /// Where the wall time went; `None` of a part.
    #[serde(skip)]
    pub account: Option<TraceAccount>,
    /// Ranks that a tool put into one document of the file; 0 where it says none.
    #[serde(skip)]
    pub n_merged_ranks: u64,
    /// How much of what was launched the trace has.
    pub coverage: LaunchCoverage,
    /// Modules.
    pub modules: Modules,
    /// Calls that wait for devices.
    pub synchronisation: Synchronisation,
    /// When torch.compile compiled.
    pub compilations: Compilations,
    /// What allocators gave out, by device; empty when the trace has none of it (`profile_memory=True`).
    pub memory: Vec<TraceMemory>,
    /// Which attention operators called, and whose it was.
    pub attention_operators: Vec<AttentionOperator>,
    /// Attention without a fused kernel where others are fused.
    pub attention_fallbacks: Vec<AttentionFallback>,
    /// Communication that the host did itself.
    pub host_communication: Vec<Communication>,
    /// What ranks waited for each other; `None` when the file has fewer than two.
    pub ranks: Option<RankCommunication>,
    /// What it would have taken if something were different; `None` where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// Lists that had too many rows, each with how many of them are not in it. Totals are of all rows.
    pub left_out: Vec<LeftOut>,
    /// What was read of the file and what was not.
    pub quality: Quality,
}

/// What a trace says about a device.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DeviceAnswers {
    /// Which document of the file it is in: 0 for the first.
    pub document: u32,
    /// What the trace calls it.
    pub device: String,
    /// Its model; `None` when the trace does not say.
    pub model: Option<String>,
    /// How busy it was.
    pub utilization: Utilization,
    /// Communication, compute and copies at the same time.
    pub overlap: Overlap,
    /// When it had nothing to do.
    pub idle_gaps: IdleGaps,
    /// How far it ran behind the host.
    pub launches: Launches,
    /// What it ran.
    pub kernels: Kernels,
    /// Who launched it.
    pub owned_kernels: OwnedKernels,
    /// Which attention.
    pub attention: Vec<AttentionUse>,
    /// Whose it was.
    pub attention_owners: Vec<AttentionOwner>,
    /// What it copied, by direction.
    pub transfers: Vec<Transfers>,
    /// Likewise, apart by the host's memory.
    pub transfers_by_memory: Vec<Transfers>,
    /// The largest copies.
    pub largest_transfers: Vec<LargeTransfer>,
    /// What it exchanged with other devices.
    pub communication: Vec<Communication>,
    /// How much of its work with matrices used tensor cores; `None` when there is no such work.
    pub tensor_cores: Option<TensorCores>,
    /// What it had to do at least, and how fast that was; `None` when the trace has no shapes (`record_shapes=True`).
    pub work: Option<ModelledWork>,
    /// Durations that cannot be true, and how much of its sums they are.
    pub suspicious_durations: SuspiciousDurations,
}

/// All answers about a trace, or about the part that `scope` is. A part has the work that was launched in it.
pub fn trace_answers(trace: &Trace, scope: Option<Scope>) -> TraceAnswers {
    answers_within(&TraceContext::new(trace, scope))
}

/// The same of a context, for those who ask it something else, too.
pub fn answers_within(context: &TraceContext<'_>) -> TraceAnswers {
    let trace = context.trace;
    let calls = AttentionCalls::new(context);
    let mut owners = OwnersOfRows::new(context);
    let mut left_out = Vec::new();
    let n_more = context.timelines.len().saturating_sub(left_out::MOST_DEVICES) as u64;
    let mut lists = left_out::Shortening { found: &mut left_out, device: None, most: 0 };
    lists.add("devices", n_more);
    let timelines = context.timelines.iter().take(left_out::MOST_DEVICES);
    let devices: Vec<DeviceAnswers> = timelines
        .map(|timeline| {
            let mut device = device_answers(context, &calls, &mut owners, timeline);
            left_out::shorten_device(&mut device, &mut left_out);
            device
        })
        .collect();
    let owned = devices.iter().flat_map(|device| &device.attention_owners);
    let attention_fallbacks = calls.fallbacks(&mut owners, owned);
    let mut answers = TraceAnswers {
        documents: trace.metadata.clone(),
        span_ns: trace.rows.last_end_ns(),
        n_rows: trace.rows.len() as u64,
        parts: part_lists(context),
        synchronisation: synchronisation(context, &devices),
        devices,
        operators: operators(context),
        account: trace_account(context),
        n_merged_ranks: trace.n_merged_ranks,
        coverage: context.coverage.clone(),
        modules: modules(context),
        compilations: compilations(context),
        memory: trace_memory(context),
        attention_operators: calls.operators(context),
        attention_fallbacks,
        host_communication: host_communication(context),
        ranks: across_ranks(&rank_calls(context)),
        what_if: None,
        left_out,
        quality: Quality { n_too_deep: context.host.n_too_deep, ..trace.quality.clone() },
        scope: context.scope.clone(),
    };
    left_out::shorten_host(&mut answers);
    answers
}

fn device_answers(
    context: &TraceContext<'_>,
    calls: &AttentionCalls,
    owners: &mut OwnersOfRows<'_, '_>,
    timeline: &DeviceTimeline,
) -> DeviceAnswers {
    let trace = context.trace;
    let attention = attention_kernels(trace, timeline);
    let idle_gaps = idle_gaps(context, timeline);
    let kernels = kernels(context, timeline);
    DeviceAnswers {
        document: trace.document_of_process(timeline.process),
        device: trace.process_label(timeline.process),
        model: context.model_of(timeline),
        utilization: utilization(trace, timeline),
        overlap: overlap(timeline),
        launches: launches(trace, timeline, &idle_gaps),
        idle_gaps,
        owned_kernels: owned_kernels(context, timeline),
        tensor_cores: tensor_cores(&kernels),
        kernels,
        attention_owners: attention_owners(owners, calls, &attention),
        attention: attention_uses(trace, timeline, &attention),
        transfers: transfers(trace, timeline),
        transfers_by_memory: transfers_by_memory(trace, timeline),
        largest_transfers: largest_transfers(context, timeline),
        communication: communication(context, timeline),
        work: modelled_work(context, timeline),
        suspicious_durations: suspicious_durations(trace, timeline),
    }
}
