-- How often did each cache help?
-- rank: null outside a job of several; cache: which one; hits, misses; hit_rate: hits over both, null where there is neither
SELECT
    rank,
    cache,
    SUM(CASE WHEN outcome = 'hit' THEN 1 ELSE 0 END) AS hits,
    SUM(CASE WHEN outcome = 'miss' THEN 1 ELSE 0 END) AS misses,
    CAST(SUM(CASE WHEN outcome = 'hit' THEN 1 ELSE 0 END) AS DOUBLE)
        / NULLIF(SUM(CASE WHEN outcome IN ('hit', 'miss') THEN 1 ELSE 0 END), 0) AS hit_rate
FROM cache
GROUP BY process, rank, cache
ORDER BY process, cache
