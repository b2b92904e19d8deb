// The blocks of a document, one component a kind of block.

import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";

import type { Block, Facts, ListedFinding, ListedFindings, Table as TableContents } from "../../model/page";
import { counted } from "../data/quantity";
import { FactList } from "./facts";
import { sectionAt, useSection } from "../data/selection";
import { TimeLink } from "./controls";
import { Long, Name, visible } from "./name";
import { Swatch } from "./selected";
import { Table } from "./table";

/** Fewer tables need no list of them. */
const LISTED = 6;
/** Characters of a sentence that are shown at once. */
const SENTENCE = 600;

type Placed = { table: TableContents; id: string };

/** Tables of these blocks by what the address and files call them: their key, with a number where several have the same. */
function placed(blocks: readonly Block[], seen = new Map<string, number>()): Placed[] {
  return blocks.flatMap((block): Placed[] => {
    if (block.kind === "aside") {
      return placed(block.content[1], seen);
    }
    if (block.kind !== "table" || isOfFacts(block.content)) {
      return [];
    }
    const { key } = block.content;
    const n = (seen.get(key) ?? 0) + 1;
    seen.set(key, n);
    return [{ table: block.content, id: n === 1 ? key : `${key}-${n}` }];
  });
}

const Ids = createContext<ReadonlyMap<TableContents, string>>(new Map());

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  const tables = useMemo(() => placed(blocks), [blocks]);
  const ids = useMemo(() => new Map(tables.map(({ table, id }) => [table, id])), [tables]);
  return (
    <Ids.Provider value={ids}>
      {tables.length >= LISTED && <TablesThere tables={tables} />}
      <Each blocks={blocks} />
    </Ids.Provider>
  );
}

type Around = { around?: string | undefined };

function Each({ blocks, around }: { blocks: readonly Block[] } & Around) {
  return <>{blocks.map((block, at) => <One key={at} block={block} around={around} />)}</>;
}

function One({ block, around }: { block: Block } & Around) {
  const ids = useContext(Ids);
  switch (block.kind) {
    case "title":
      return (
        <h2>
          <Name text={block.content} limit={160} />
        </h2>
      );
    case "text":
      return (
        <p class="paragraph">
          <Long text={block.content} limit={SENTENCE} />
        </p>
      );
    case "verbatim":
      return <pre class="command">{block.content}</pre>;
    case "facts":
      return <FactsBlock facts={block.content} />;
    case "findings":
      return <FindingsBlock findings={block.content} />;
    case "table": {
      if (isOfFacts(block.content)) {
        return <FactsBlock facts={factsOf(block.content)} />;
      }
      const id = ids.get(block.content) ?? block.content.key;
      return (
        <div id={`at-${id}`} class="block">
          <Table table={block.content} id={id} around={around} tools={ids.size >= LISTED && <Back />} />
        </div>
      );
    }
    case "aside":
      return (
        <details>
          <summary>{visible(block.content[0])}</summary>
          <Each blocks={block.content[1]} around={block.content[0]} />
        </details>
      );
  }
}

/** A table of facts is a list of them. */
function isOfFacts({ columns }: TableContents): boolean {
  return columns.length === 2 && columns[0]?.key === "fact" && columns[1]?.key === "value";
}

function factsOf({ title, rows, notes }: TableContents): Facts {
  const texts = rows.map((row) => row.map((cell) => (cell.unit === "absent" ? "" : String(cell.value ?? ""))));
  const facts = [...texts.map(([fact = "", value = ""]) => [fact, value] as [string, string]), ...notes.map((note) => ["", note] as [string, string])];
  return { title: title === "" ? null : title, rows: facts };
}

/** A label that repeats is shown once. */
function FactsBlock({ facts: { title, rows } }: { facts: Facts }) {
  const facts = rows.map(([label, sentence], at) => ({
    what: label === rows[at - 1]?.[0] ? "" : visible(label),
    value: <Long text={sentence} limit={SENTENCE} />,
  }));
  return (
    <section class="facts-block">
      {title !== null && <h2>{visible(title)}</h2>}
      <FactList facts={facts} />
    </section>
  );
}

function FindingsBlock({ findings: { found, checks } }: { findings: ListedFindings }) {
  return (
    <section>
      <h2>Findings</h2>
      {found.map((finding, at) => (
        <Card key={at} finding={finding} />
      ))}
      <p class="muted">
        {found.length === 0 && "None. "}
        {visible(checks)}.
      </p>
    </section>
  );
}

/** How much a finding matters, in colour besides words. */
const TONES: Record<string, string> = { High: "bad", Medium: "warn" };

function Card({ finding: { severity, issue, evidence, place, node, longest, remedy, saving } }: { finding: ListedFinding }) {
  const section = sectionAt(node);
  const isSelected = useSection() === section && section !== undefined;
  const selection = longest && { ...(section !== undefined && { section }), range: `${longest.start_ns}-${longest.end_ns}` };
  const facts = [
    evidence !== "" && { what: "evidence", value: <Long text={evidence} limit={SENTENCE} /> },
    place !== null && {
      what: "where",
      value: (
        <>
          {section !== undefined && <Swatch name={section} />}
          {longest && selection ? <TimeLink {...around(longest.start_ns, longest.end_ns)} selection={selection}>{visible(place)}</TimeLink> : <Name text={place} limit={300} />}
        </>
      ),
    },
    saving !== null && { what: "saves", value: <Long text={saving} limit={SENTENCE} /> },
  ];
  return (
    <article class={`card finding${isSelected ? " is-chosen" : ""}`}>
      <div class="finding-head">
        <span class={`severity ${TONES[severity] ?? ""}`}>{severity.toLowerCase()}</span>
        <h3>{visible(issue)}</h3>
      </div>
      <p>
        <Long text={remedy} limit={SENTENCE} />
      </p>
      <FactList facts={facts} />
    </article>
  );
}

/** The time with some on either side, so that it is seen where it is. */
function around(start: number, end: number): { from: number; to: number } {
  const margin = Math.max((end - start) / 4, 1e6);
  return { from: Math.max(0, start - margin), to: end + margin };
}

/** Links to the tables, where there are so many that one has to look for them. */
function TablesThere({ tables }: { tables: readonly Placed[] }) {
  const go = (id: string) => {
    const table = document.getElementById(`at-${id}`);
    const folded = table?.closest("details");
    if (folded) {
      folded.open = true;
    }
    table?.scrollIntoView({ block: "start" });
    table?.querySelector<HTMLElement>(".table-scroll")?.focus({ preventScroll: true });
  };
  return (
    <nav class="contents" tabIndex={-1} aria-label={counted(tables.length, "table", "tables")}>
      {tables.map(({ table, id }) => (
        <button key={id} type="button" class="link" onClick={() => go(id)}>
          <Name text={table.title || table.key} limit={48} />
        </button>
      ))}
    </nav>
  );
}

/** To the list of tables, where that does not stay in sight. */
function Back() {
  const go = () => {
    const contents = document.querySelector<HTMLElement>(".contents");
    contents?.scrollIntoView({ block: "start" });
    contents?.focus({ preventScroll: true });
  };
  return (
    <button type="button" class="quiet back" onClick={go}>
      All tables
    </button>
  );
}
