import type { Narrator } from "../../../app/demo/narrator.ts";

/** Tells nobody. */
export const silentNarrator: Narrator = {
  step: () => undefined,
  signs: () => undefined,
  request: () => undefined,
  result: () => undefined,
};
