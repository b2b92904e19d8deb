-- Where did the time go? By section, all ranks together; self time counts every moment of a thread once.
-- name: of the section; calls: completed ones; total_ms: with what is under it, calls within a section of the same name left out;
-- self_ms: without what is under it, null where that is not known; slowest_ms: longest call
WITH sections_of_totals AS (
    SELECT * FROM totals WHERE NOT is_iteration
),
repeated AS (
    -- Call paths below one that ends with the same name.
    SELECT DISTINCT below.process AS process, below.node AS node
    FROM sections_of_totals AS below
    JOIN sections_of_totals AS above ON above.process = below.process AND above.name = below.name
    WHERE above.depth < below.depth AND SUBSTR(below.path, 1, LENGTH(above.path) + 3) = above.path || ' / '
)
SELECT
    totals.name AS name,
    SUM(totals.calls) AS calls,
    SUM(CASE WHEN repeated.node IS NULL THEN totals.total_ns ELSE 0 END) / 1e6 AS total_ms,
    CASE WHEN COUNT(totals.self_ns) = COUNT(*) THEN SUM(totals.self_ns) / 1e6 END AS self_ms,
    MAX(totals.max_ns) / 1e6 AS slowest_ms
FROM sections_of_totals AS totals
LEFT JOIN repeated ON repeated.process = totals.process AND repeated.node = totals.node
GROUP BY totals.name
ORDER BY total_ms DESC, name
LIMIT 20
