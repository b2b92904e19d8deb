//! Ranks that files are named after.

/// The number after the last `rank` in a file's name, or else in the nearest folder's: `rank3.json`, `rank_0/report.json`,
/// `trace_rank-12.json.gz`. `None` when no name tells one.
pub fn rank_in_name(path: &str) -> Option<u32> {
    path.rsplit(['/', '\\']).find_map(of_name)
}

fn of_name(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let (_, after) = name.rsplit_once("rank")?;
    let digits = after.trim_start_matches(['-', '_', '.', ' ', '=']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
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
        assert_eq!(rank_in_name("ranking.json"), None);
        assert_eq!(rank_in_name("rank99999999999999999999.json"), None);
    }
}
