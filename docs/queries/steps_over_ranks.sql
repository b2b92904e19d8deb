-- How long did each denoising step take on the ranks, and where do they drift apart?
-- turn: place of the step in its process, from 0; ranks: that made it, 0 where no process says its rank; min_ms, median_ms (of an even
-- number the mean of the two in the middle), max_ms: over all processes, of which a rank may have several; spread_ms: between fastest and
-- slowest
WITH ordered AS (
    SELECT
        turn,
        rank,
        duration_ns,
        ROW_NUMBER() OVER (PARTITION BY turn ORDER BY duration_ns, process) AS place,
        COUNT(*) OVER (PARTITION BY turn) AS n
    FROM steps
    WHERE duration_ns IS NOT NULL
)
SELECT
    turn,
    COUNT(DISTINCT rank) AS ranks,
    MIN(duration_ns) / 1e6 AS min_ms,
    AVG(CASE WHEN 2 * place >= n AND 2 * place <= n + 2 THEN duration_ns END) / 1e6 AS median_ms,
    MAX(duration_ns) / 1e6 AS max_ms,
    (MAX(duration_ns) - MIN(duration_ns)) / 1e6 AS spread_ms
FROM ordered
GROUP BY turn
ORDER BY turn
