-- Which rank is slowest in each section, and by how much?
-- name: of the section; rank: that took longest; total_ms: its time; fastest_ms: that of the fastest rank; ratio: one over the other,
-- null where the fastest took no time
WITH by_rank AS (
    SELECT rank, name, SUM(total_ns) AS total_ns
    FROM totals
    WHERE NOT is_iteration AND rank IS NOT NULL
    GROUP BY rank, name
),
ordered AS (
    SELECT
        rank,
        name,
        total_ns,
        MIN(total_ns) OVER (PARTITION BY name) AS fastest_ns,
        ROW_NUMBER() OVER (PARTITION BY name ORDER BY total_ns DESC, rank) AS place
    FROM by_rank
)
SELECT
    name,
    rank,
    total_ns / 1e6 AS total_ms,
    fastest_ns / 1e6 AS fastest_ms,
    CASE WHEN fastest_ns > 0 THEN CAST(total_ns AS DOUBLE) / fastest_ns END AS ratio
FROM ordered
WHERE place = 1
ORDER BY total_ns DESC, name
