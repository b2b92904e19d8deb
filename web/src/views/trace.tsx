// What traces of torch.profiler say: every table, file by file, in the order in which they are worth reading.

import { counted } from "../data/quantity";
import type { TraceFile } from "../data/trace";
import { Name } from "../parts/name";
import { ValuesTable } from "../parts/values_table";
import type { View } from "./view";

export const trace: View = {
  id: "trace",
  title: "Trace",
  isShown: ({ traces }) => traces.length > 0,
  Body: ({ model: { traces } }) => (
    <>
      {traces.map((file, at) => (
        <File key={at} file={file} id={traces.length > 1 ? `trace-${at}` : "trace"} />
      ))}
    </>
  ),
};

/** Rows of a table that are shown before all are asked for. */
const ROWS = 15;
/** Fewer tables need no list of them. */
const LISTED = 5;

function File({ file: { file, problem, tables }, id }: { file: TraceFile; id: string }) {
  const hasContents = tables.length >= LISTED;
  return (
    <section data-trace>
      <h2>
        Trace <Name text={file} limit={120} />
      </h2>
      {problem !== null ? (
        <p class="note warn">
          Not read: <Name text={problem} limit={300} />
        </p>
      ) : (
        <Contents id={id} tables={tables} />
      )}
      {tables.map((table, at) => (
        <div key={at} id={`${id}-${at}`}>
          <ValuesTable table={table} id={`${id}-${at}-${table.key}`} first={ROWS} tools={hasContents && <Back id={id} />} />
        </div>
      ))}
    </section>
  );
}

/** To the list of tables, where that does not stay in sight. */
function Back({ id }: { id: string }) {
  const go = () => {
    const contents = document.getElementById(`${id}-contents`);
    contents?.scrollIntoView({ block: "start" });
    contents?.focus({ preventScroll: true });
  };
  return (
    <button type="button" class="quiet back" onClick={go}>
      All tables
    </button>
  );
}

/** Links to the tables, where there are so many that one has to look for them. */
function Contents({ id, tables }: { id: string; tables: TraceFile["tables"] }) {
  if (tables.length === 0) {
    return <p>No work of devices is in it, and nothing else that a table would have.</p>;
  }
  if (tables.length < LISTED) {
    return null;
  }
  const go = (at: number) => {
    const table = document.getElementById(`${id}-${at}`);
    table?.scrollIntoView({ block: "start" });
    table?.querySelector<HTMLElement>(".table-scroll")?.focus({ preventScroll: true });
  };
  return (
    <nav class="contents" id={`${id}-contents`} tabIndex={-1} aria-label={counted(tables.length, "table", "tables")}>
      {tables.map(({ title }, at) => (
        <button key={at} type="button" class="link" onClick={() => go(at)}>
          <Name text={title} limit={48} />
        </button>
      ))}
    </nav>
  );
}
