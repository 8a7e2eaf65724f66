import type { Narrator } from "../../../app/demo/narrator.ts";

/** Prints nothing. */
export const silentNarrator: Narrator = {
  step: () => undefined,
  signs: () => undefined,
  exchange: () => undefined,
  result: () => undefined,
};
