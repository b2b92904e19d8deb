-- What share of its wall time did each process spend in each outermost section?
-- rank: null outside a job of several; name: of the section; total_ms: in all threads and calls; share: of the wall time, above 1 where
-- several threads were in it
SELECT
    totals.rank AS rank,
    totals.name AS name,
    totals.total_ns / 1e6 AS total_ms,
    CAST(totals.total_ns AS DOUBLE) / processes.wall_ns AS share
FROM totals
JOIN processes ON processes.process = totals.process
WHERE totals.depth = 0 AND processes.wall_ns > 0
ORDER BY totals.process, totals.total_ns DESC, totals.name
