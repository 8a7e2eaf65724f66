import { addressFromBytes } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";

/** The deployment and genesis hash of the ledger that store tests index. */
export const TEST_DEPLOYMENT: Deployment = {
  custodyProgram: addressFromBytes(new Uint8Array(32).fill(201)),
  attestorProgram: addressFromBytes(new Uint8Array(32).fill(202)),
};
export const TEST_GENESIS_HASH = addressFromBytes(new Uint8Array(32).fill(203));
