// Values that all parts of a report are made of.

/** Index into the nodes of the run: a call path. `Places` gives its name. */
export type NodeId = number;

export type Interval = { start_ns: number; end_ns: number };

export type Value = null | boolean | number | string | Value[];

export type NamedValues = Record<string, Value>;
