-- How long did a viewer wait from block to block?
-- rank: null outside a job of several; generation: which one of the process; block: its number; between_ms: from the end of the block
-- before to its end; idle_ms: the part of that in which it was not computed, null where its duration is not known
WITH ordered AS (
    SELECT
        process,
        rank,
        generation,
        turn,
        block,
        end_ns,
        start_ns,
        LAG(end_ns) OVER (PARTITION BY process, generation ORDER BY end_ns, turn) AS before_ns
    FROM blocks
)
SELECT
    rank,
    generation,
    block,
    (end_ns - before_ns) / 1e6 AS between_ms,
    (CASE WHEN start_ns > before_ns THEN start_ns - before_ns WHEN start_ns <= before_ns THEN 0 END) / 1e6 AS idle_ms
FROM ordered
WHERE before_ns IS NOT NULL
ORDER BY process, generation, turn
