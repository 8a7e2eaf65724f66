import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { readEd25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { runs } from "../../arbitraries/runs.ts";
import type { InstructionVector } from "./ed25519-instruction-vectors.ts";
import { readInstruction } from "./independent-instruction.ts";

const FILE = join(import.meta.dir, "../../vectors/evidence/ed25519-instructions.json");
const vectors = (await Bun.file(FILE).json()) as ReadonlyArray<InstructionVector>;

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

/** The relay's reading of an instruction, in the form of the vectors. */
const claimOf = (data: Uint8Array): InstructionVector["claim"] => {
  const read = readEd25519Instruction(data);
  return read.kind === "claim"
    ? {
        public_key: read.publicKey,
        signature_hex: Buffer.from(read.signature).toString("hex"),
        message_hex: Buffer.from(read.message).toString("hex"),
      }
    : null;
};

test.each(vectors.map((vector) => [vector.name, vector] as const))(
  "Ed25519 instruction %s: both readers read what the vector says",
  (_, { data_hex, claim }) => {
    expect(claimOf(bytesOf(data_hex))).toEqual(claim);
    expect(readInstruction(bytesOf(data_hex))).toEqual(claim);
  },
);

test("both readers agree on an instruction with any of its bytes changed", () => {
  const [whole] = vectors;
  const data = bytesOf(whole?.data_hex ?? "");
  // The header and the first bytes after it. The rest is copied unchanged.
  const change = fc.record({
    at: fc.nat(19),
    value: fc.constantFrom(0, 1, 2, 16, 48, 112, 128, 255),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
      const changed = Uint8Array.from(data);
      for (const { at, value } of changes) changed[at] = value;
      expect(readInstruction(changed)).toEqual(claimOf(changed));
    }),
    runs(500),
  );
});
