import type { Narrator } from "../../../app/demo/narrator.ts";

/** Prints nothing. */
export const silentNarrator: Narrator = {
  step: () => undefined,
  signs: () => undefined,
  request: () => undefined,
  result: () => undefined,
};
