// What every page holds, as marey-report's html/contents serializes it: what is shown first, and tabs of blocks. Texts are as the user gave them.

export type Contents = { title: string; screen: Screen | null; tabs: TabContents[] };

export type TabContents = { id: string; title: string; blocks: Block[] };

export type Block =
  | { kind: "title" | "text" | "verbatim"; content: string }
  | { kind: "facts"; content: Facts }
  | { kind: "findings"; content: Findings }
  | { kind: "table"; content: TableContents }
  /** Folded. */
  | { kind: "aside"; content: [title: string, blocks: Block[]] };

/** A label and a sentence each. */
export type Facts = { title: string | null; rows: [label: string, sentence: string][] };

export type Findings = { found: Finding[]; checks: string };

export type Finding = {
  severity: "High" | "Medium" | "Low";
  issue: string;
  evidence: string;
  place: string | null;
  /** When it was longest the matter. */
  longest: { start_ns: number; end_ns: number } | null;
  remedy: string;
  saving: string | null;
};

export type TableContents = {
  key: string;
  title: string;
  columns: { key: string; title: string }[];
  rows: Cell[][];
  notes: string[];
};

export type FigureUnit =
  | "count"
  | "ns"
  | "bytes"
  | "bytes_per_second"
  | "ratio"
  | "per_second"
  | "celsius"
  | "watts"
  | "joules"
  | "hertz"
  | "number";

export type Cell =
  | { unit: "absent"; value?: null }
  | { unit: "text" | "name"; value: string }
  | { unit: Measured; value: number | null }
  | { unit: "figure" | "difference"; value: { value: number | null; unit: FigureUnit } }
  | { unit: "change_between"; value: [low: number, high: number] }
  | { unit: "nested"; value: [depth: number, name: string] }
  | { unit: "path"; value: string[] }
  /** Not exact; that or more. */
  | { unit: "about" | "at_least"; value: Cell };

export type Measured =
  | "count"
  | "duration"
  | "mean"
  | "moment"
  | "bytes"
  | "bytes_per_second"
  | "ratio"
  | "number"
  | "parameters"
  | "per_second"
  | "growth"
  | "change";

export type Mood = "good" | "plain" | "bad";

/** What is read first. */
export type Screen = {
  subject: string;
  outcome: string;
  mood: Mood;
  after: string;
  bars: Bars[];
  lines: [label: string, said: string][];
  findings: { rule: string; title: string; evidence: string; tries: string }[];
  closing: [mood: Mood, text: string][];
  data: string | null;
};

/** Rows that add up. */
export type Bars = { head: string | null; columns: string[]; rows: BarRow[] };

export type BarRow = { name: string; part: "work" | "waiting" | "other"; ratios: number[]; figures: string[]; note: string | null };
