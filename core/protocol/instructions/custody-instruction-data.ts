import type { Hash32 } from "../../domain/hash32.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf } from "../accounts/byte-fields.ts";
import { instructionDiscriminator } from "../accounts/discriminator.ts";

/** A custody instruction's arguments, as its data carries them. */
export type CustodyInstructionData =
  | { readonly name: "initialize_custody" }
  | {
      readonly name: "create_escrow";
      readonly taskHash: Hash32;
      readonly amount: bigint;
      readonly ttlSeconds: number;
    }
  | {
      readonly name: "release_escrow";
      readonly proofHash: Hash32;
      readonly timestamp: UnixSeconds;
    }
  | {
      readonly name: "release_partial";
      readonly proofHash: Hash32;
      readonly timestamp: UnixSeconds;
      readonly amount: bigint;
    }
  | { readonly name: "claim_refund" };

/** Data length in bytes of each instruction, its discriminator included. */
const LENGTHS = {
  initialize_custody: 8,
  create_escrow: 52,
  release_escrow: 48,
  release_partial: 56,
  claim_refund: 8,
} as const;
type Name = keyof typeof LENGTHS;

const NAMES = (Object.keys(LENGTHS) as ReadonlyArray<Name>).map((name) => ({
  name,
  discriminator: instructionDiscriminator(name),
}));

/** The arguments inside a custody instruction's data, or undefined when it is none. */
export const decodeCustodyInstruction = (data: Uint8Array): CustodyInstructionData | undefined => {
  const name = NAMES.find(({ discriminator }) =>
    discriminator.every((byte, i) => data[i] === byte),
  )?.name;
  if (name === undefined || data.length !== LENGTHS[name]) return undefined;
  const fields = fieldsOf(data);
  switch (name) {
    case "initialize_custody":
    case "claim_refund":
      return { name };
    case "create_escrow":
      return { name, taskHash: fields.hash(8), amount: fields.u64(40), ttlSeconds: fields.u32(48) };
    case "release_escrow":
      return { name, proofHash: fields.hash(8), timestamp: fields.i64(40) };
    case "release_partial":
      return {
        name,
        proofHash: fields.hash(8),
        timestamp: fields.i64(40),
        amount: fields.u64(48),
      };
  }
};
