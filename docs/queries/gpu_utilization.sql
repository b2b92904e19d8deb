-- How busy were the GPUs and the processors of each rank's machine?
-- rank: null outside a job of several; what: gpu, or processors of the host; subject: UUID of the GPU; busy: share of the time in which
-- the GPU ran a kernel, or how many processors were busy on average, null where there was one reading only
SELECT
    rank,
    CASE WHEN name = 'gpu.utilization' THEN 'gpu' ELSE 'processors' END AS what,
    subject,
    CASE
        WHEN name = 'gpu.utilization' THEN SUM(mean * readings) / SUM(readings)
        ELSE (MAX(last) - MIN(min)) / NULLIF((MAX(last_ns) - MIN(first_ns)) / 1e9, 0)
    END AS busy
FROM samples
WHERE name IN ('gpu.utilization', 'host.cpu.busy')
GROUP BY process, rank, name, subject
ORDER BY process, name, subject
