//! Which modules (`nn.Module`) took the time of host and devices?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::launches::launches;
use super::owners::{HostKind, MODULE};

/// Modules as the profiler writes them with `with_stack=True` (`nn.Module: Linear_26`): a type and a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Modules {
    /// By path of modules that call each other, the one with most time of its device first, then of the host.
    pub rows: Vec<ModuleRow>,
    /// By type, likewise.
    pub types: Vec<ModuleRow>,
}

/// All calls of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ModuleRow {
    /// Its path, from the outermost: `FluxTransformer2DModel_0 / Linear_26`; or its type. A path has at most 32 parts: what
    /// is deeper belongs to the 32nd.
    pub name: String,
    /// How many modules around it are in its path.
    pub depth: u64,
    /// How many modules of a type there are; 1 for a path.
    pub n_modules: u64,
    /// How often it was called.
    pub count: u64,
    /// Its time on the host without that of other modules in it.
    pub self_ns: u64,
    /// Its time on the host. A call within a call of the same type counts once for the type.
    pub total_ns: u64,
    /// Kernels, copies and fills launched within it; `None` when the trace has no device.
    pub n_launched: Option<u64>,
    /// The durations of those that were launched outside of other modules in it, likewise.
    pub device_self_ns: Option<u64>,
    /// The durations of all that were launched within it, likewise.
    pub device_total_ns: Option<u64>,
}

/// Parts of the longest path.
const MOST_DEPTH: usize = 32;

/// What is added up for a path or a type.
#[derive(Clone, Default)]
struct Sums {
    count: u64,
    self_ns: u64,
    total_ns: u64,
    n_launched: u64,
    device_self_ns: u64,
    device_total_ns: u64,
}

/// A path: names of modules from the outermost, by their numbers.
type Path = Vec<u32>;

/// The calls of modules in the part that is asked about; empty when the trace has none.
///
/// ```text
/// block   |------------------|     self 3 + 4, total 18
/// linear     |---| |-----|         launches of linear belong to linear, and to block with all
/// ```
///
/// O(n d) for n calls in d modules.
pub fn modules(context: &TraceContext<'_>) -> Modules {
    let mut modules = Modules::default();
    if !context.owners.has_modules() {
        return modules;
    }
    let paths = by_path(context);
    modules.types = types(context, &paths);
    let has_device = !context.trace.work.is_empty();
    modules.rows = paths
        .iter()
        .map(|(path, sums)| {
            let names: Vec<&str> = path.iter().map(|name| shown(context, *name)).collect();
            row(names.join(" / "), path.len(), 1, sums, has_device)
        })
        .collect();
    in_order(&mut modules.rows);
    modules
}

/// The path of a call of a module.
fn path_of(context: &TraceContext<'_>, row: u32) -> Path {
    let is_module = |row: &u32| context.owners.kind(context.trace, *row) == Some(HostKind::Module);
    let around = std::iter::once(row).chain(context.owners.around(row));
    let name = |row: u32| context.trace.rows.name.get(row as usize).copied();
    let mut path: Path = around.filter(is_module).filter_map(name).collect();
    path.reverse();
    path.truncate(MOST_DEPTH);
    path
}

fn by_path(context: &TraceContext<'_>) -> BTreeMap<Path, Sums> {
    let trace = context.trace;
    let mut paths: BTreeMap<Path, Sums> = BTreeMap::new();
    let is_asked = |row: &u32| {
        context.owners.kind(trace, *row) == Some(HostKind::Module) && context.has_row(*row)
    };
    let rows = (0_u32..).take(trace.rows.len()).filter(is_asked);
    let mut within: Vec<(Path, u64)> = Vec::new();
    for row in rows {
        let duration_ns = trace.rows.duration_of(row);
        let path = path_of(context, row);
        let around = context.owners.innermost(trace, row, HostKind::Module);
        let around = around.filter(is_asked);
        let outer = around.map(|around| path_of(context, around));
        let is_counted = outer.as_ref() == Some(&path);
        if let (Some(around), Some(outer)) = (around, outer) {
            // What sticks out of the module around it is no time of that one.
            let end_ns = trace.rows.end_ns(row).min(trace.rows.end_ns(around));
            within.push((outer, end_ns.saturating_sub(trace.rows.start_of(row))));
        }
        let sums = paths.entry(path).or_default();
        sums.count += 1;
        sums.self_ns = sums.self_ns.saturating_add(duration_ns);
        if !is_counted {
            sums.total_ns = sums.total_ns.saturating_add(duration_ns);
        }
    }
    for (outer, shared_ns) in within {
        if let Some(sums) = paths.get_mut(&outer) {
            sums.self_ns = sums.self_ns.saturating_sub(shared_ns);
        }
    }
    add_launched(context, &mut paths);
    paths
}

fn add_launched(context: &TraceContext<'_>, paths: &mut BTreeMap<Path, Sums>) {
    for launch in launches(context.trace, &context.timelines) {
        let owner = context.owners.innermost(context.trace, launch.row, HostKind::Module);
        let Some(owner) = owner else { continue };
        let mut path = path_of(context, owner);
        if let Some(sums) = paths.get_mut(&path) {
            sums.device_self_ns = sums.device_self_ns.saturating_add(launch.total_ns);
        }
        while !path.is_empty() {
            if let Some(sums) = paths.get_mut(&path) {
                sums.n_launched += launch.n_ops;
                sums.device_total_ns = sums.device_total_ns.saturating_add(launch.total_ns);
            }
            path.pop();
        }
    }
}

/// Sums of types, from those of paths: a path counts in full for a type that is not in it already.
fn types(context: &TraceContext<'_>, paths: &BTreeMap<Path, Sums>) -> Vec<ModuleRow> {
    let mut types: BTreeMap<&str, (Sums, Vec<u32>)> = BTreeMap::new();
    for (path, of_path) in paths {
        let Some((last, before)) = path.split_last() else {
            continue;
        };
        let name = type_of(shown(context, *last));
        let (sums, modules) = types.entry(name).or_default();
        modules.push(*last);
        sums.count += of_path.count;
        sums.self_ns = sums.self_ns.saturating_add(of_path.self_ns);
        sums.device_self_ns = sums.device_self_ns.saturating_add(of_path.device_self_ns);
        if before.iter().all(|outer| type_of(shown(context, *outer)) != name) {
            sums.total_ns = sums.total_ns.saturating_add(of_path.total_ns);
            sums.n_launched += of_path.n_launched;
            sums.device_total_ns = sums.device_total_ns.saturating_add(of_path.device_total_ns);
        }
    }
    let has_device = !context.trace.work.is_empty();
    let mut rows: Vec<ModuleRow> = types
        .into_iter()
        .map(|(name, (sums, mut modules))| {
            modules.sort_unstable();
            modules.dedup();
            row(name.to_owned(), 1, modules.len() as u64, &sums, has_device)
        })
        .collect();
    in_order(&mut rows);
    rows
}

/// A module without what the profiler writes before it.
fn shown<'a>(context: &TraceContext<'a>, name: u32) -> &'a str {
    let name = context.trace.names.get(name);
    name.strip_prefix(MODULE).unwrap_or(name)
}

/// A module without its number.
fn type_of(module: &str) -> &str {
    match module.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => module,
    }
}

fn row(name: String, depth: usize, n_modules: u64, sums: &Sums, has_device: bool) -> ModuleRow {
    ModuleRow {
        name,
        depth: depth.saturating_sub(1) as u64,
        n_modules,
        count: sums.count,
        self_ns: sums.self_ns,
        total_ns: sums.total_ns,
        n_launched: has_device.then_some(sums.n_launched),
        device_self_ns: has_device.then_some(sums.device_self_ns),
        device_total_ns: has_device.then_some(sums.device_total_ns),
    }
}

fn in_order(rows: &mut [ModuleRow]) {
    rows.sort_by(|a, b| {
        let time = |row: &ModuleRow| Reverse((row.device_total_ns, row.total_ns));
        time(a).cmp(&time(b)).then_with(|| (a.depth, &a.name).cmp(&(b.depth, &b.name)))
    });
}
