import type { Address } from "../address.ts";
import type { Hash32 } from "../hash32.ts";

/** The two programs that one instance of the service reads. */
export type Deployment = {
  readonly custodyProgram: Address;
  readonly attestorProgram: Address;
};

/** The hashes (`programHash`) that each program may have; an empty list pins nothing. */
export type ProgramPins = {
  readonly custody: ReadonlyArray<Hash32>;
  readonly attestor: ReadonlyArray<Hash32>;
};

/** Pins that allow any program. */
export const NO_PINS: ProgramPins = { custody: [], attestor: [] };
