-- Where did the time go? By section, all ranks together; self time counts every moment of a thread once.
-- name: of the section; calls: completed ones; total_ms: with what is under it; self_ms: without, null where that is not known;
-- slowest_ms: longest call
SELECT
    name,
    SUM(calls) AS calls,
    SUM(total_ns) / 1e6 AS total_ms,
    CASE WHEN COUNT(self_ns) = COUNT(*) THEN SUM(self_ns) / 1e6 END AS self_ms,
    MAX(max_ns) / 1e6 AS slowest_ms
FROM totals
WHERE NOT is_iteration
GROUP BY name
ORDER BY total_ms DESC, name
LIMIT 20
