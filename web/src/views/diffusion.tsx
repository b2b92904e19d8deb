// Denoising steps, blocks of frames, rates, delivery and models.

import { useMemo } from "preact/hooks";

import { BlocksPart } from "../diffusion/blocks";
import { DeliveryPart } from "../diffusion/delivery";
import { GuidancePart, ModelsPart, RatesPart } from "../diffusion/rates";
import { StepMap } from "../diffusion/step_map";
import { StepsPart } from "../diffusion/steps";
import { leftOut } from "../data/left_out";
import { type Model, isOfTrace } from "../data/page";
import type { TraceTable } from "../data/trace";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import { ValuesTable } from "../parts/values_table";
import type { View } from "./view";

export const diffusion: View = {
  id: "diffusion",
  title: "Diffusion",
  isShown: (model) => model.report.activity.diffusion !== null || stepsOfTraces(model).length > 0,
  Body: ({ model }) => (isOfTrace(model) ? <TraceBody model={model} /> : <Body model={model} />),
};

/** The tables of steps of traces, where steps are known: what only repeats may be anything. */
function stepsOfTraces(model: Model): TraceTable[] {
  const known = isOfTrace(model) ? model.traces.filter(({ steps }) => steps.length > 0) : [];
  return known.flatMap(({ tables }) => tables.filter(({ key }) => key === "steps"));
}

function TraceBody({ model }: { model: Model }) {
  return (
    <>
      {stepsOfTraces(model).map((table, at) => (
        <ValuesTable key={at} table={table} id={`diffusion-${at}`} first={50} />
      ))}
    </>
  );
}

function Body({ model }: { model: Model }) {
  const { diffusion: answer, streaming } = model.report.activity;
  const wall = model.report.run.wall_ns;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  if (!answer) {
    return null;
  }
  const { steps, blocks, rates, delivery, guidance, models } = answer;
  const short = (list: string) => leftOut(model, `activity.diffusion.${list}.each`);
  return (
    <>
      {steps || delivery ? <PhaseStrip model={model} threads={threads} /> : null}
      {steps ? <StepsPart diffusion={answer} steps={steps} wall={wall} bands={bands} leftOut={short("steps")} /> : null}
      {steps ? <StepMap steps={steps} /> : null}
      {blocks ? <BlocksPart diffusion={answer} blocks={blocks} leftOut={short("blocks")} /> : null}
      {delivery ? <DeliveryPart delivery={delivery} streaming={streaming} wall={wall} leftOut={short("delivery")} /> : null}
      {rates.length > 0 ? <RatesPart rates={rates} /> : null}
      {guidance ? <GuidancePart guidance={guidance} /> : null}
      {models ? <ModelsPart models={models} /> : null}
    </>
  );
}
