import { addressFromBytes, type Address } from "../../domain/address.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { canVerifyUnder } from "../crypto/strict-ed25519.ts";
import { ATTESTOR_INSTRUCTIONS } from "../generated/attestor.ts";
import type { WireMessage } from "../transaction/wire-message.ts";

const KEYS = [ATTESTOR_INSTRUCTIONS.register_merchant, ATTESTOR_INSTRUCTIONS.rotate_attestor].map(
  ({ discriminator, args }) => ({
    discriminator,
    at: args.attestor.at,
    end: args.attestor.at + 32,
  }),
);

const keyIn = (data: Uint8Array): Uint8Array | undefined => {
  const found = KEYS.find(
    ({ discriminator, end }) =>
      data.length >= end && discriminator.every((byte, i) => data[i] === byte),
  );
  return found && data.slice(found.at, found.end);
};

/**
 * The first attestor key that a transaction registers and under which no signature can ever verify: escrows of such a merchant
 * could not be released. The program accepts such a key.
 */
export const attestorKeyFault = (
  { instructions }: WireMessage,
  attestorProgram: Address,
): (SettlementFault & { readonly instructionIndex: number }) | undefined => {
  for (const [instructionIndex, { program, data }] of instructions.entries()) {
    const key = program === attestorProgram ? keyIn(data) : undefined;
    if (key !== undefined && !canVerifyUnder(key))
      return {
        rule: "attestor_unusable",
        detail: `no signature verifies under the attestor key ${addressFromBytes(key)}: it is not a point of the curve, or has small order`,
        instructionIndex,
      };
  }
  return undefined;
};
