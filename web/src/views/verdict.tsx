import type { View } from "./view";

export const verdict: View = {
  id: "overview",
  title: "Overview",
  isShown: () => true,
  Body: () => <p />,
};
