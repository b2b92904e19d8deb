// What the drawn runs do not have, for the views that show it.

/** Puts findings of every severity above the other blocks of a page. `naming` makes a text of a text. */
export function enrich(model, naming = (text) => text) {
  const finding = (severity, issue, more) => ({
    severity,
    issue: naming(issue),
    remedy: naming("Do less of it, or do it once."),
    evidence: naming("share of the time 42.0 % (limit 20.0 %) · time 4.500 s"),
    place: naming("in block, 2.000 to 2.900 s"),
    longest: { start_ns: 2_000_000_000, end_ns: 2_900_000_000 },
    saving: naming("about 900 ms, at most 1.200 s: the first call less the median of the others"),
    ...more,
  });
  const found = [
    finding("High", "The first step took 4.7 times as long as the others"),
    finding("Medium", "Memory of the GPU was 93 % full at its peak", { place: null, longest: null }),
    finding("Low", "One step in thirty was an outlier", { saving: null, place: null, longest: null, evidence: "" }),
  ];
  model.contents.tabs[0].blocks.unshift({ kind: "findings", content: { found, checks: naming("1 check passed, 1 could not be made") } });
}
