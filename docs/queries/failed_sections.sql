-- Which sections were left by an error, and where?
-- rank: null outside a job of several; path: names from the outermost section on; at_ms: when the error left it, since the start of the
-- process; duration_ms: how long it took until then; step: the denoising step around it, null outside steps
SELECT
    rank,
    path,
    end_ns / 1e6 AS at_ms,
    duration_ns / 1e6 AS duration_ms,
    step
FROM sections
WHERE is_failed
ORDER BY process, end_ns, depth DESC
