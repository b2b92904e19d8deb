// Charts of denoising steps, blocks of frames and their delivery.

import { useMemo } from "preact/hooks";

import { BlockCharts } from "../diffusion/blocks";
import { DeliveryChart } from "../diffusion/delivery";
import { StepMap } from "../diffusion/step_map";
import { StepChart } from "../diffusion/steps";
import type { RunModel } from "../data/page";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { Picture } from "./view";

export const diffusion: Picture = {
  id: "diffusion",
  title: "Diffusion",
  isShown: ({ pictures: { diffusion } }) => Boolean(diffusion?.steps ?? diffusion?.blocks ?? diffusion?.delivery),
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { diffusion, wall_ns: wall } = model.pictures;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  if (!diffusion) {
    return null;
  }
  const { steps, blocks, delivery } = diffusion;
  return (
    <>
      {steps || delivery ? <PhaseStrip model={model} threads={threads} /> : null}
      {steps ? <StepChart steps={steps} wall={wall} bands={bands} /> : null}
      {steps ? <StepMap steps={steps} /> : null}
      {blocks ? <BlockCharts blocks={blocks} diffusion={diffusion} /> : null}
      {delivery ? <DeliveryChart delivery={delivery} wall={wall} /> : null}
    </>
  );
}
