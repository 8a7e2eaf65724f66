import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { getProgramDerivedAddress } from "@solana/kit";
import fc from "fast-check";
import { type Address, address, addressToBytes } from "../../../../core/domain/address.ts";
import {
  findProgramDerivedAddress,
  programDerivedAddressAt,
} from "../../../../core/protocol/addresses/program-derived-address.ts";
import {
  anyAddress,
  anyDeployment,
  anyHash32,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import vectors from "../../../vectors/program-derived-addresses.json" with { type: "json" };
import {
  associatedTokenAddress,
  createEscrowAddresses,
  memoized,
  merchantAddress,
  vaultAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import {
  deployedIdl,
  LOCAL_DEPLOYMENT,
} from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { hash32ToBytes } from "../../../../core/domain/hash32.ts";
import { parseIdl } from "../../../../programs/idl.ts";
import attestor from "../../../../programs/attestor.idl.json" with { type: "json" };
import custody from "../../../../programs/custody.idl.json" with { type: "json" };
import { idlAddresses } from "../../../programs/fixture/idl-addresses.ts";

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

test("an escrow's vault is the associated token account that a search for the bump finds", () => {
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), (escrow) => {
      expect(vaultAddress(escrow)).toBe(associatedTokenAddress(escrow.address, escrow.mint));
    }),
    runs(50),
  );
});

test("a memoized function returns what the function returns, and never holds more than twice its capacity", () => {
  const pair = fc.tuple(fc.nat({ max: 12 }).map(String), fc.constantFrom("a", "a", "a", "b"));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(pair, { maxLength: 60 }),
      (capacity, pairs) => {
        let computed = 0;
        const ask = memoized(capacity, (first: string, second: string) => {
          computed++;
          return `${first} with ${second}`;
        });
        for (const [at, [first, second]] of pairs.entries()) {
          const before = computed;
          expect(ask(first, second)).toBe(`${first} with ${second}`);
          const latest = pairs
            .slice(0, at)
            .slice(-capacity)
            .findLast(([one]) => one === first);
          if (latest?.[1] === second) expect(computed).toBe(before);
        }
        const held = new Map(pairs);
        const before = computed;
        for (const [first, second] of held) ask(first, second);
        expect(computed - before).toBeGreaterThanOrEqual(held.size - 2 * capacity);
      },
    ),
    runs(200),
  );
});

test("memoized addresses equal the derived ones, whatever programs or owners came before", () => {
  fc.assert(
    fc.property(anyDeployment, anyAddress, anyAddress, (deployment, wallet, mint) => {
      for (let again = 0; again < 2; again++) {
        expect(merchantAddress(deployment, wallet)).toEqual(
          findProgramDerivedAddress(deployment.attestorProgram, [
            new TextEncoder().encode("merchant"),
            addressToBytes(wallet),
          ]),
        );
        expect(associatedTokenAddress(wallet, mint)).toBe(
          findProgramDerivedAddress(ASSOCIATED_TOKEN_PROGRAM, [
            addressToBytes(wallet),
            addressToBytes(TOKEN_PROGRAM),
            addressToBytes(mint),
          ]).address,
        );
      }
    }),
    runs(60),
  );
});

test("the local deployment's IDLs are the files", () => {
  expect(deployedIdl(custody, LOCAL_DEPLOYMENT)).toEqual(custody);
  expect(deployedIdl(attestor, LOCAL_DEPLOYMENT)).toEqual(attestor);
});

test("another deployment's IDL derives that deployment's addresses", () =>
  fc.assert(
    fc.asyncProperty(
      anyDeployment,
      anyAddress,
      anyAddress,
      anyAddress,
      anyHash32,
      async (deployment, agentOwner, merchant, mint, taskHash) => {
        const idl = parseIdl(JSON.stringify(deployedIdl(custody, deployment)));
        expect<string>(idl.address).toBe(deployment.custodyProgram);
        const found = await idlAddresses(idl, "create_escrow", {
          accounts: { agent_owner: agentOwner, merchant_wallet: merchant, mint },
          args: { task_hash: hash32ToBytes(taskHash) },
          field: () => agentOwner,
        });
        const expected = createEscrowAddresses(deployment, {
          agentOwner,
          merchant,
          mint,
          taskHash,
        });
        expect(found["escrow"]?.address).toBe(expected.escrow.address);
        expect(found["merchant"]?.address).toBe(expected.merchantAccount.address);
        expect(found["vault"]?.address).toBe(expected.vaultTokenAccount);
        expect(found["config"]?.address).toBe(expected.config);
        const release = idl.instructions.find(({ name }) => name === "release_escrow");
        expect<string | undefined>(
          release?.accounts.find(({ name }) => name === "attestor_program")?.address,
        ).toBe(deployment.attestorProgram);
      },
    ),
    runs(20),
  ));

test("another deployment's IDLs contain none of the local ledger's addresses", () =>
  fc.assert(
    fc.property(anyDeployment, (deployment) => {
      for (const idl of [custody, attestor]) {
        const there = JSON.stringify(deployedIdl(idl, deployment));
        for (const program of Object.values(LOCAL_DEPLOYMENT)) {
          expect(there).not.toContain(program);
          expect(there).not.toContain(addressToBytes(program).join());
        }
        expect(Object.keys(JSON.parse(there) as object)).toEqual(Object.keys(idl));
      }
    }),
    runs(20),
  ));
