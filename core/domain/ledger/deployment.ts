import type { Address } from "../address.ts";

/** The two programs that one instance of the service reads. */
export type Deployment = {
  readonly custodyProgram: Address;
  readonly attestorProgram: Address;
};
