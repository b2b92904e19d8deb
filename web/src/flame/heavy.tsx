// The left-heavy flame graph: calls of one call path put together, wide as the time that they took.

import { useMemo } from "preact/hooks";

import type { CallPath } from "../../model/page";
import { duration } from "../data/quantity";
import { setState, useAddress } from "../data/state";
import { Name } from "../parts/name";
import { FlameCanvas } from "./canvas";
import { treePicture } from "./picture";
import { FrameTip } from "./tip";
import { type Frame, leftHeavy } from "./tree";

export function HeavyFlame({ tree, search }: { tree: readonly CallPath[]; search: string }) {
  const flame = useMemo(() => leftHeavy(tree), [tree]);
  const picture = useMemo(() => treePicture(flame), [flame]);
  const { focus } = useAddress();
  const focused = focus === undefined ? null : (flame.frames.find((frame) => String(frame.rows[0]?.node) === focus) ?? null);
  const [from, to] = focused ? [focused.from, focused.to] : [0, flame.width];
  return (
    <>
      <Crumbs focused={focused} whole={flame.width} />
      <FlameCanvas
        label="Call paths, the longest first"
        picture={picture}
        from={from}
        to={to}
        search={search}
        tip={({ frame }) => frame && <FrameTip frame={frame} whole={flame.width} of="all sections" />}
        onOpen={({ frame }) => setFocus(frame === focused ? (frame?.parent ?? null) : (frame ?? null))}
        onBack={() => setFocus(focused?.parent ?? null)}
      />
      <p class="muted">Wide as the time of all calls in all threads. Click zooms in, a click on what fills the width goes back out.</p>
    </>
  );
}

function setFocus(frame: Frame | null) {
  setState({ focus: frame ? String(frame.rows[0]?.node) : null });
}

function Crumbs({ focused, whole }: { focused: Frame | null; whole: number }) {
  const path: Frame[] = [];
  for (let frame = focused; frame; frame = frame.parent) {
    path.unshift(frame);
  }
  return (
    <nav class="crumbs" aria-label="What is shown">
      <button type="button" class="link" disabled={focused === null} onClick={() => setFocus(null)}>
        all sections
      </button>
      {path.map((frame) => (
        <span key={frame.rows[0]?.node}>
          {" › "}
          <button type="button" class="link" disabled={frame === focused} onClick={() => setFocus(frame)}>
            <Name text={frame.name} limit={40} />
          </button>
        </span>
      ))}
      <span class="muted"> {duration(focused ? focused.time : whole)}</span>
    </nav>
  );
}
