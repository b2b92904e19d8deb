// Answers that the drawn runs do not give, for the views that show them.

const MS = 1_000_000;

/** Puts findings of every severity and figures of steps into a report. `naming` makes a text of a text. */
export function enrich(report, naming = (text) => text) {
  const { activity } = report;
  const node = report.sections.tree[0].node;
  const finding = (severity, issue, more) => ({
    rule: "drawn-rule",
    category: "performance",
    severity,
    issue: naming(issue),
    remedy: naming("Do less of it, or do it once."),
    evidence: [
      { what: naming("share of the time"), figure: { value: 0.42, unit: "ratio" }, limit: 0.2 },
      { what: "time", figure: { value: 4_500 * MS, unit: "ns" }, limit: null },
    ],
    intervals: [{ start_ns: 2_000 * MS, end_ns: 2_900 * MS }],
    node,
    saving: { estimate_ns: 900 * MS, at_most_ns: 1_200 * MS, at_most_bytes: null, how: naming("the first call less the median of the others") },
    confidence: "medium",
    ...more,
  });
  activity.findings = {
    found: [
      finding("high", "The first step took 4.7 times as long as the others"),
      finding("medium", "Memory of the GPU was 93 % full at its peak", {
        category: "memory",
        evidence: [{ what: "peak in use", figure: { value: 23.8 * 2 ** 30, unit: "bytes" }, limit: 24 * 2 ** 30 }],
        saving: { estimate_ns: null, at_most_ns: null, at_most_bytes: 3 * 2 ** 30, how: "what the allocator held without use" },
        node: null,
      }),
      finding("low", "One step in thirty was an outlier", { saving: null, intervals: [] }),
    ],
    passed: [{ rule: "drawn-passed", checks: "the disk is what loading waits for", what: naming("2.1 GB/s were read") }],
    unchecked: [{ rule: "drawn-unchecked", checks: "the GPU is too hot", why: naming("no temperature was sampled") }],
  };
  const durations = (p50) => ({
    count: 21,
    total_ns: 21 * p50,
    min_ns: p50 * 0.9,
    mean_ns: p50,
    max_ns: p50 * 2.5,
    p50_ns: p50,
    p95_ns: p50 * 1.2,
    p99_ns: p50 * 2.4,
    std_dev_ns: p50 * 0.1,
  });
  activity.diffusion = {
    ...emptyDiffusion(),
    ...activity.diffusion,
    steps: {
      source: { iterations: naming("denoising_step") },
      n_loops: 7,
      per_loop_max: 4,
      warm_up: durations(1_110 * MS),
      steady: durations(240 * MS),
      total_ns: 6_000 * MS,
      each: [],
      outliers: [],
      timesteps: [250, 1000],
      frames: { min: 3, mean: 3, max: 3 },
    },
    caching: { cached: durations(70 * MS), computed: durations(246 * MS), n_cached: 6, n_computed: 22, saved_ns: 1_056 * MS },
    rates: [
      {
        kind: "pixel",
        frames: 81,
        over_ns: 7_000 * MS,
        per_second: 11.57,
        includes_text_encoding: false,
        includes_vae: true,
        meaning: naming("pixel frames a second of denoising and VAE decoding, without text encoding"),
      },
    ],
  };
  report.quality.unavailable.push({ what: naming("nvml"), why: naming("no driver answered") });
}

function emptyDiffusion() {
  const parts = ["steps", "blocks", "delivery", "caching", "guidance", "growth", "clean_passes", "models"];
  return { ...Object.fromEntries(parts.map((part) => [part, null])), rates: [] };
}
