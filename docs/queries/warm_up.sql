-- How much slower is the warm-up than the steps after it?
-- rank: null outside a job of several; warm_up_ms: the first step; steady_steps: all others; steady_ms: their mean; ratio: the first over
-- that mean, null where either is not known
SELECT
    rank,
    AVG(CASE WHEN is_warm_up THEN duration_ns END) / 1e6 AS warm_up_ms,
    SUM(CASE WHEN is_warm_up THEN 0 ELSE 1 END) AS steady_steps,
    AVG(CASE WHEN NOT is_warm_up THEN duration_ns END) / 1e6 AS steady_ms,
    AVG(CASE WHEN is_warm_up THEN duration_ns END)
        / NULLIF(AVG(CASE WHEN NOT is_warm_up THEN duration_ns END), 0) AS ratio
FROM steps
WHERE duration_ns IS NOT NULL
GROUP BY process, rank
ORDER BY process
