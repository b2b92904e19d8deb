//! Which modules (`nn.Module`) took the time of host and devices?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::TraceContext;
use super::modelled_figures::{ModelledPart, Sums};
use super::nested_sums::launches;
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
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
    /// What all that had to do at least, and how fast it was; `None` when the trace has no shapes (`record_shapes=True`), either.
    pub modelled: Option<ModelledPart>,
}

/// Parts of the longest path.
const MOST_DEPTH: usize = 32;

/// A path of modules that call each other.
#[derive(Default)]
struct Path<'a> {
    /// The place of the path without its last module, before its own; [`OUTSIDE`] when it has but one.
    around: usize,
    /// The last module.
    module: &'a str,
    /// How many modules it has.
    length: usize,
    /// Without its name.
    row: ModuleRow,
    /// Time of its calls that modules in them had.
    within_ns: u64,
    /// Calls of operators in it.
    calls: Sums,
}

/// The place of the path without modules.
const OUTSIDE: usize = 0;

/// The calls of modules in the part that is asked about; empty when the trace has none.
///
/// ```text
/// block   |------------------|     self 3 + 4, total 18
/// linear     |---| |-----|         launches of linear belong to linear, and to block with all
/// ```
///
/// One pass over the rows of the host: O(n), and O(d) for a launch in d modules.
pub fn modules(context: &TraceContext<'_>) -> Modules {
    let mut modules = Modules::default();
    if !context.owners.has_modules() {
        return modules;
    }
    let paths = paths(context);
    let has_calls = !context.all_modelled_calls().is_empty();
    let modelled = |row: &ModuleRow, calls: Sums| {
        let work_ns = row.device_total_ns.filter(|_| has_calls)?;
        Some(calls.of_part(work_ns, 0))
    };
    let types = types(&paths).into_iter();
    let types = types.map(|(row, calls)| ModuleRow { modelled: modelled(&row, calls), ..row });
    modules.types = types.collect();
    let mut names: Vec<String> = Vec::with_capacity(paths.len());
    for path in paths {
        let before = names.get(path.around).filter(|before| !before.is_empty());
        let name = before.map_or_else(String::new, |before| format!("{before} / ")) + path.module;
        names.push(name.clone());
        let depth = path.length.saturating_sub(1) as u64;
        let modelled = modelled(&path.row, path.calls);
        modules.rows.push(ModuleRow { name, depth, n_modules: 1, modelled, ..path.row });
    }
    for rows in [&mut modules.rows, &mut modules.types] {
        rows.retain(|row| row.count > 0);
        rows.sort_by(|a, b| {
            let time = |row: &ModuleRow| Reverse((row.device_total_ns, row.total_ns));
            time(a).cmp(&time(b)).then_with(|| (a.depth, &a.name).cmp(&(b.depth, &b.name)))
        });
    }
    modules
}

/// All paths, those around a path before it.
fn paths<'a>(context: &TraceContext<'a>) -> Vec<Path<'a>> {
    let trace = context.trace;
    let none = (!trace.work.is_empty()).then_some(0);
    let nothing = ModuleRow {
        n_launched: none,
        device_self_ns: none,
        device_total_ns: none,
        ..ModuleRow::default()
    };
    let mut paths = vec![Path { row: nothing.clone(), ..Path::default() }];
    let mut known: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    let mut of_rows = vec![OUTSIDE; trace.rows.len()];
    for row in context.host.in_order().iter().copied() {
        let parent = context.host.parent(row).and_then(|parent| of_rows.get(parent as usize));
        let around = parent.copied().unwrap_or(OUTSIDE);
        let is_module = context.owners.kind(trace, row) == Some(HostKind::Module);
        let at = if is_module && paths[around].length < MOST_DEPTH {
            let name = trace.rows.name_of(row).unwrap_or_default();
            *known.entry((around, name)).or_insert_with(|| {
                let module = trace.names.get(name);
                let module = module.strip_prefix(MODULE).unwrap_or(module);
                let length = paths[around].length + 1;
                let row = nothing.clone();
                paths.push(Path { around, module, length, row, ..Path::default() });
                paths.len() - 1
            })
        } else {
            around
        };
        if let Some(of_row) = of_rows.get_mut(row as usize) {
            *of_row = at;
        }
        if !is_module || !context.has_row(row) {
            continue;
        }
        let duration_ns = trace.rows.duration_of(row);
        let outer = context.owners.innermost(trace, row, HostKind::Module);
        let outer = outer.filter(|outer| context.has_row(*outer));
        if let Some(outer) = outer {
            // What sticks out of the module around it is no time of that one.
            let end_ns = trace.rows.end_ns(row).min(trace.rows.end_ns(outer));
            let shared_ns = end_ns.saturating_sub(trace.rows.start_of(row));
            paths[around].within_ns = paths[around].within_ns.saturating_add(shared_ns);
        }
        let sums = &mut paths[at].row;
        sums.count += 1;
        sums.self_ns = sums.self_ns.saturating_add(duration_ns);
        if outer.is_none() || around != at {
            sums.total_ns = sums.total_ns.saturating_add(duration_ns);
        }
    }
    for path in &mut paths {
        path.row.self_ns = path.row.self_ns.saturating_sub(path.within_ns);
    }
    for launch in launches(trace, &context.timelines) {
        let mut at = of_rows.get(launch.row as usize).copied().unwrap_or(OUTSIDE);
        add(&mut paths[at].row.device_self_ns, Some(launch.total_ns));
        while at != OUTSIDE {
            let sums = &mut paths[at].row;
            add(&mut sums.n_launched, Some(launch.n_ops));
            add(&mut sums.device_total_ns, Some(launch.total_ns));
            at = paths[at].around;
        }
    }
    for calls in context.all_modelled_calls().values() {
        for call in &calls.calls {
            let at = of_rows.get(call.launch as usize).copied().unwrap_or(OUTSIDE);
            paths[at].calls.add(calls.sums_of(call));
        }
    }
    // Paths around a path come before it.
    for at in (1..paths.len()).rev() {
        let (around, calls) = (paths[at].around, paths[at].calls);
        paths[around].calls.add(calls);
    }
    paths
}

/// Adds to a sum that is of all or of nothing.
fn add(sum: &mut Option<u64>, more: Option<u64>) {
    *sum = sum.map(|sum| sum.saturating_add(more.unwrap_or_default())).or(more);
}

/// Sums of types, from those of paths: a path counts in full for a type that is not in it already.
fn types(paths: &[Path<'_>]) -> Vec<(ModuleRow, Sums)> {
    let mut types: BTreeMap<&str, (ModuleRow, BTreeSet<&str>, Sums)> = BTreeMap::new();
    for path in paths.iter().filter(|path| path.row.count > 0) {
        let (name, row) = (type_of(path.module), &path.row);
        let (sums, modules, calls) = types.entry(name).or_default();
        modules.insert(path.module);
        name.clone_into(&mut sums.name);
        sums.n_modules = modules.len() as u64;
        sums.count += row.count;
        sums.self_ns = sums.self_ns.saturating_add(row.self_ns);
        add(&mut sums.device_self_ns, row.device_self_ns);
        let mut before =
            std::iter::successors(paths.get(path.around), |path| paths.get(path.around))
                .take(path.length - 1);
        let is_whole = before.all(|outer| type_of(outer.module) != name);
        let of_whole = |figure: Option<u64>| figure.map(|figure| if is_whole { figure } else { 0 });
        sums.total_ns = sums.total_ns.saturating_add(if is_whole { row.total_ns } else { 0 });
        add(&mut sums.n_launched, of_whole(row.n_launched));
        add(&mut sums.device_total_ns, of_whole(row.device_total_ns));
        if is_whole {
            calls.add(path.calls);
        }
    }
    types.into_values().map(|(row, _, calls)| (row, calls)).collect()
}

/// A module without its number.
pub(super) fn type_of(module: &str) -> &str {
    match module.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => module,
    }
}
