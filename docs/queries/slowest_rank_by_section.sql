-- Which rank is slowest in each section, and by how much?
-- name: of the section; ranks: that have it; rank: that took longest; total_ms: its time, calls within a section of the same name left
-- out; fastest_ms: that of the fastest rank; ratio: one over the other, null where one rank alone has it, or the fastest took no time
WITH sections_of_ranks AS (
    SELECT * FROM totals WHERE NOT is_iteration AND rank IS NOT NULL
),
repeated AS (
    -- Call paths below one that ends with the same name.
    SELECT DISTINCT below.process AS process, below.node AS node
    FROM sections_of_ranks AS below
    JOIN sections_of_ranks AS above ON above.process = below.process AND above.name = below.name
    WHERE above.depth < below.depth AND SUBSTR(below.path, 1, LENGTH(above.path) + 3) = above.path || ' / '
),
by_rank AS (
    SELECT outermost.rank AS rank, outermost.name AS name, SUM(outermost.total_ns) AS total_ns
    FROM sections_of_ranks AS outermost
    LEFT JOIN repeated ON repeated.process = outermost.process AND repeated.node = outermost.node
    WHERE repeated.node IS NULL
    GROUP BY outermost.rank, outermost.name
),
ordered AS (
    SELECT
        rank,
        name,
        total_ns,
        COUNT(*) OVER (PARTITION BY name) AS ranks,
        MIN(total_ns) OVER (PARTITION BY name) AS fastest_ns,
        ROW_NUMBER() OVER (PARTITION BY name ORDER BY total_ns DESC, rank) AS place
    FROM by_rank
)
SELECT
    name,
    ranks,
    rank,
    total_ns / 1e6 AS total_ms,
    fastest_ns / 1e6 AS fastest_ms,
    CASE WHEN ranks > 1 AND fastest_ns > 0 THEN CAST(total_ns AS DOUBLE) / fastest_ns END AS ratio
FROM ordered
WHERE place = 1
ORDER BY total_ns DESC, name
