import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import {
  readEd25519Instruction,
  type SignedMessage,
} from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { runs } from "../../arbitraries/runs.ts";
import type { InstructionVector } from "./ed25519-instruction-vectors.ts";
import { base58, need } from "./independent-form.ts";

/** The header of each form, and where key, signature and message of each part lie: `key signature message end`. */
const FORMS = [
  { header: "01003000ffff1000ffff70008000ffff", parts: [[16, 48, 112, 240]] },
  {
    header: "02003e00ffff1e00ffffde008000ffff9e00ffff7e00ffff5e017800ffff",
    parts: [
      [30, 62, 222, 350],
      [126, 158, 350, 470],
    ],
  },
] as const;

/** A second reading of an Ed25519 instruction's data, by docs/verify-evidence.md, "The attestation on the ledger". */
const readInstruction = (bytes: Uint8Array) => {
  const data = Buffer.from(bytes);
  try {
    const form = FORMS.find(
      ({ header, parts }) =>
        data.length === parts.at(-1)?.[3] &&
        data.subarray(0, header.length / 2).toString("hex") === header,
    );
    need(form !== undefined);
    const [attested, vouched] = form.parts.map(([key, signature, message, end]) => ({
      public_key: base58(data.subarray(key, key + 32)),
      signature_hex: data.subarray(signature, signature + 64).toString("hex"),
      message_hex: data.subarray(message, end).toString("hex"),
    }));
    need(attested !== undefined);
    return { ...attested, voucher: vouched ?? null };
  } catch {
    return null;
  }
};

const FILE = join(import.meta.dir, "../../vectors/evidence/ed25519-instructions.json");
const vectors = (await Bun.file(FILE).json()) as ReadonlyArray<InstructionVector>;

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

/** The relay's reading of an instruction, in the form of the vectors. */
const claimOf = (data: Uint8Array): InstructionVector["claim"] => {
  const read = readEd25519Instruction(data);
  const told = ({ publicKey, signature, message }: SignedMessage) => ({
    public_key: publicKey,
    signature_hex: Buffer.from(signature).toString("hex"),
    message_hex: Buffer.from(message).toString("hex"),
  });
  if (read.kind !== "single" && read.kind !== "session") return null;
  const voucher = read.kind === "session" ? told(read.voucher) : null;
  return { ...told(read.attestation), voucher };
};

test.each(vectors.map((vector) => [vector.name, vector] as const))(
  "Ed25519 instruction %s: both readers read what the vector says",
  (_, { data_hex, claim }) => {
    expect(claimOf(bytesOf(data_hex))).toEqual(claim);
    expect(readInstruction(bytesOf(data_hex))).toEqual(claim);
  },
);

test.each(["full-release", "session"])(
  "both readers agree on %s with any of its bytes changed",
  (name) => {
    const whole = vectors.find((each) => each.name === name);
    const data = bytesOf(whole?.data_hex ?? "");
    // The header and the first bytes after it. The rest is copied unchanged.
    const change = fc.record({
      at: fc.nat(34),
      value: fc.constantFrom(0, 1, 2, 16, 30, 48, 62, 112, 120, 126, 128, 158, 255),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
        const changed = Uint8Array.from(data);
        for (const { at, value } of changes) changed[at] = value;
        expect(readInstruction(changed)).toEqual(claimOf(changed));
      }),
      runs(500),
    );
  },
);
