import { expect, test } from "bun:test";
import fc from "fast-check";
import { associatedTokenAddress, merchantAddress } from "../../../core/protocol/addresses.ts";
import { findProgramDerivedAddress } from "../../../core/protocol/program-derived-address.ts";
import { remembered } from "../../../core/protocol/remembered.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/well-known-addresses.ts";
import { anyAddress, anyDeployment } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

test("a remembered function gives what the function gives, and never holds more than twice its capacity", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat({ max: 12 }).map(String), { maxLength: 60 }),
      (capacity, texts) => {
        const computed: Array<string> = [];
        const ask = remembered(capacity, (text) => {
          computed.push(text);
          return `of ${text}`;
        });
        for (const [at, text] of texts.entries()) {
          const before = computed.length;
          expect(ask(text)).toBe(`of ${text}`);
          const recent = new Set(texts.slice(0, at).slice(-capacity));
          if (recent.has(text)) expect(computed).toHaveLength(before);
        }
        const held = new Set(texts);
        const before = computed.length;
        for (const text of held) ask(text);
        expect(computed.length - before).toBeGreaterThanOrEqual(held.size - 2 * capacity);
      },
    ),
    runs(200),
  );
});

test("remembered addresses are the derived ones, whatever program or owner was asked for before", () => {
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
