import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { getProgramDerivedAddress } from "@solana/kit";
import fc from "fast-check";
import { type Address, address, addressToBytes } from "../../../../core/domain/address.ts";
import {
  findProgramDerivedAddress,
  programDerivedAddressAt,
} from "../../../../core/protocol/addresses/program-derived-address.ts";
import { anyAddress, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import vectors from "../../../vectors/program-derived-addresses.json" with { type: "json" };

const seed = fc.oneof(
  fc.uint8Array({ maxLength: 32 }),
  fc.constant(new Uint8Array(0)),
  bytesOfLength(32),
);
const seeds = fc.oneof(
  fc.array(seed, { maxLength: 15 }),
  fc.array(seed, { minLength: 15, maxLength: 15 }),
);

const isPoint = (digest: Uint8Array): boolean => {
  try {
    ed25519.Point.fromBytes(digest, true);
    return true;
  } catch {
    return false;
  }
};

/** The definition, written with node:crypto and noble. */
const byDefinition = (program: Address, seeds: ReadonlyArray<Uint8Array>, bump: number) => {
  const hash = createHash("sha256");
  for (const seed of seeds) hash.update(seed);
  hash.update(Uint8Array.of(bump)).update(addressToBytes(program)).update("ProgramDerivedAddress");
  const digest = new Uint8Array(hash.digest());
  return { digest, offCurve: !isPoint(digest) };
};

describe("program derived address", () => {
  test("kit derives the same address and bump from any seeds and program", async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, seeds, async (program, seeds) => {
        const [expected, bump] = await getProgramDerivedAddress({
          programAddress: program,
          seeds,
        });
        const derived = findProgramDerivedAddress(program, seeds);
        expect(derived).toEqual({ address: address(expected), bump });
        expect(programDerivedAddressAt(program, seeds, bump)).toBe(address(expected));
      }),
      runs(200),
    );
  });

  test("it is the first digest from bump 255 down that is not a point", () => {
    fc.assert(
      fc.property(anyAddress, seeds, (program, seeds) => {
        const derived = findProgramDerivedAddress(program, seeds);
        const found = byDefinition(program, seeds, derived.bump);
        const digest = Uint8Array.from(addressToBytes(derived.address));
        expect(found).toEqual({ digest, offCurve: true });
        for (let bump = 255; bump > derived.bump; bump--) {
          expect(byDefinition(program, seeds, bump).offCurve).toBe(false);
        }
      }),
      runs(100),
    );
  });

  test("seeds too many or too long are refused", () => {
    const program = address("11111111111111111111111111111111");
    const derive = (seeds: ReadonlyArray<Uint8Array>) => () =>
      findProgramDerivedAddress(program, seeds);
    expect(derive(Array.from({ length: 16 }, () => Uint8Array.of(1)))).toThrow("15 seeds");
    expect(derive([new Uint8Array(33)])).toThrow("32 bytes");
    expect(derive([])).not.toThrow();
  });

  test("the golden addresses hold", () => {
    for (const { program, seedsHex, address: expected, bump } of vectors.cases) {
      const seeds = seedsHex.map((hex) => Uint8Array.from(Buffer.from(hex, "hex")));
      expect(findProgramDerivedAddress(address(program), seeds)).toEqual({
        address: address(expected),
        bump,
      });
    }
  });
});
