import type { View } from "./view";

export const verdict: View = {
  id: "verdict",
  title: "Overview",
  isShown: () => true,
  Body: ({ model }) => <h1>{model.report.run.id}</h1>,
};
