-- Which denoising steps took longest, the warm-up aside?
-- rank: null outside a job of several; turn: place of the step in its process, step: its number in its loop; duration_ms; is_outlier:
-- far beyond the other steps of its process; is_cached: a cache answered, null where none said anything
SELECT
    rank,
    turn,
    step,
    duration_ns / 1e6 AS duration_ms,
    is_outlier,
    is_cached
FROM steps
WHERE NOT is_warm_up AND duration_ns IS NOT NULL
ORDER BY duration_ns DESC, process, turn
LIMIT 10
