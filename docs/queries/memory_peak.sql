-- Where was most memory in use, by the label of the reading?
-- source, device: process, or torch_cuda and the number of a GPU; label: of the reading; allocated_mib: most that was in use there;
-- rank: of the reading with the most
WITH ordered AS (
    SELECT
        source,
        device,
        label,
        rank,
        allocated_bytes,
        ROW_NUMBER() OVER (
            PARTITION BY source, device, label
            ORDER BY allocated_bytes DESC, process, at_ns
        ) AS place
    FROM memory
    WHERE label IS NOT NULL
)
SELECT source, device, label, allocated_bytes / 1048576e0 AS allocated_mib, rank
FROM ordered
WHERE place = 1
ORDER BY allocated_bytes DESC, source, device, label
