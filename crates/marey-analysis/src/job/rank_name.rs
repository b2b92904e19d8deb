//! Ranks that files are named after.

/// The number after the last `rank` in a file's name, or else in the nearest folder's: `rank3.json`, `rank_0/report.json`,
/// `trace_rank-12.json.gz`. `None` when no name tells one.
pub fn rank_in_name(path: &str) -> Option<u32> {
    path.rsplit(['/', '\\']).find_map(of_name)
}

fn of_name(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let (_, after) = name.rsplit_once("rank")?;
    if is_of_dump(&name) {
        return number_at_end(&name);
    }
    let digits = after.trim_start_matches(['-', '_', '.', ' ', '=']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

/// Dumps of flight recorders are called so, with the rank at the end: `nccl_trace_rank_node-7_3`, `comm_lib_trace_rank_3`.
pub fn is_of_dump(name: &str) -> bool {
    let is_called = |part: &&str| name.contains(part);
    ["nccl_trace_rank_", "lib_trace_rank_"].iter().any(is_called) && number_at_end(name).is_some()
}

/// The number that a file's name ends in, before an ending such as `.json`.
pub(super) fn number_at_end(file: &str) -> Option<u32> {
    let name = ["json", "pickle", "pkl"].iter().find_map(|ending| {
        let name = file.strip_suffix(ending)?;
        name.strip_suffix('.')
    });
    let name = name.unwrap_or(file);
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name.get(digits..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_tells_the_rank() {
        assert_eq!(rank_in_name("a/rank3.json"), Some(3));
        assert_eq!(rank_in_name("rank1/trace_Rank-12.pt.trace.json.gz"), Some(12));
        assert_eq!(rank_in_name("rank_4/profiling_report.json"), Some(4));
        assert_eq!(rank_in_name("kind=x/rank=7/a.json"), Some(7));
        assert_eq!(rank_in_name("dumps/nccl_trace_rank_node-7_3"), Some(3));
        assert_eq!(rank_in_name("comm_lib_trace_rank_12.pkl"), Some(12));
        assert_eq!(rank_in_name("ranking.json"), None);
        assert_eq!(rank_in_name("rank99999999999999999999.json"), None);
    }
}
