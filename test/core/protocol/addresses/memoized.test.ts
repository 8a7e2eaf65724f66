import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  associatedTokenAddress,
  memoized,
  merchantAddress,
} from "../../../../core/protocol/addresses/addresses.ts";
import { findProgramDerivedAddress } from "../../../../core/protocol/addresses/program-derived-address.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { anyAddress, anyDeployment } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

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
