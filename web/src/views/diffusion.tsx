// Denoising steps, blocks of frames, rates, delivery, models and layers.

import { useMemo } from "preact/hooks";

import { BlocksPart } from "../diffusion/blocks";
import { LayersPart } from "../diffusion/layers";
import { ReportsPart } from "../diffusion/reports";
import { PipelinesPart } from "../diffusion/pipelines";
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
  isShown: (model) => isReported(model) || stepsOfTraces(model).length > 0,
  Body: ({ model }) => (isOfTrace(model) ? <TraceBody model={model} /> : <Body model={model} />),
};

function isReported({ report: { activity } }: Model): boolean {
  return activity.diffusion !== null || activity.streaming !== null || activity.layers !== null;
}

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
  const { pipelines, activity } = model.report;
  const { diffusion: answer, streaming, layers } = activity;
  const wall = model.report.run.wall_ns;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  const { steps, blocks, rates, delivery, guidance, models } = answer ?? NOTHING;
  const short = (list: string) => leftOut(model, `activity.diffusion.${list}.each`);
  return (
    <>
      {steps || delivery ? <PhaseStrip model={model} threads={threads} /> : null}
      {answer && steps ? <StepsPart diffusion={answer} steps={steps} wall={wall} bands={bands} leftOut={short("steps")} /> : null}
      {steps ? <StepMap steps={steps} /> : null}
      {answer && blocks ? <BlocksPart diffusion={answer} blocks={blocks} leftOut={short("blocks")} /> : null}
      {delivery ? <DeliveryPart delivery={delivery} streaming={streaming} wall={wall} leftOut={short("delivery")} /> : null}
      {streaming ? <ReportsPart streaming={streaming} leftOut={leftOut(model, "activity.streaming.each")} /> : null}
      {rates.length > 0 ? <RatesPart rates={rates} /> : null}
      {guidance ? <GuidancePart guidance={guidance} /> : null}
      {pipelines.length > 1 ? <PipelinesPart pipelines={pipelines} /> : null}
      {models ? <ModelsPart models={models} /> : null}
      {layers ? <LayersPart layers={layers} leftOut={leftOut(model, "activity.layers.each")} /> : null}
    </>
  );
}

/** Of a program that only reported layers, say. */
const NOTHING = { steps: null, blocks: null, rates: [], delivery: null, guidance: null, models: null };
