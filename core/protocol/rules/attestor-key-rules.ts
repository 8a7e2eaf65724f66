import { addressToBytes } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { canVerifyUnder } from "../crypto/strict-ed25519.ts";
import { readCalls } from "../instructions/program-call.ts";
import type { WireMessage } from "../transaction/wire-transaction.ts";

/**
 * The first attestor key that a transaction registers and under which no signature can ever verify: escrows of such a merchant
 * could not be released. The program accepts such a key.
 */
export const attestorKeyFault = (
  { instructions }: WireMessage,
  deployment: Deployment,
): (SettlementFault & { readonly instructionIndex: number }) | undefined => {
  for (const [instructionIndex, read] of readCalls(instructions, [], deployment).entries()) {
    if (read?.name !== "register_merchant" && read?.name !== "rotate_attestor") continue;
    const { attestor } = read.args;
    if (!canVerifyUnder(addressToBytes(attestor)))
      return {
        rule: "attestor_unusable",
        detail: `no signature verifies under the attestor key ${attestor}: it is not a point of the curve, or has small order`,
        instructionIndex,
      };
  }
  return undefined;
};
