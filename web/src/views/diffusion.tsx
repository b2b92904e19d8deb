// Denoising steps, blocks of frames, rates, delivery and models.

import { useMemo } from "preact/hooks";

import { BlocksPart } from "../diffusion/blocks";
import { DeliveryPart } from "../diffusion/delivery";
import { GuidancePart, ModelsPart, RatesPart } from "../diffusion/rates";
import { StepMap } from "../diffusion/step_map";
import { StepsPart } from "../diffusion/steps";
import { leftOut } from "../data/left_out";
import type { Model } from "../data/page";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { View } from "./view";

export const diffusion: View = {
  id: "diffusion",
  title: "Diffusion",
  isShown: ({ report }) => report.activity.diffusion !== null,
  Body,
};

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
