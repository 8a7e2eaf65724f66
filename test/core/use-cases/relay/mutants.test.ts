import { ed25519 } from "@noble/curves/ed25519.js";
import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import fc from "fast-check";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { admitTransaction } from "../../../../core/use-cases/relay/relay-admission.ts";
import { Instance } from "../../../../ports/instance.ts";
import { createAssociatedTokenInstruction } from "../../../../core/protocol/accounts/token.ts";
import { runs } from "../../../arbitraries/runs.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { testInstance } from "../test-instance.ts";
import { signedBytes } from "./signed.ts";

const payer = wallet("another payer");
const originals = [
  signedBytes([s.attestInstruction(), s.releaseInstruction()], [s.stranger]),
  signedBytes([s.createInstruction({ payer: payer.address })], [payer, s.agent]),
  signedBytes(
    [
      createAssociatedTokenInstruction({
        payer: s.agent.address,
        owner: s.agent.address,
        mint: s.mint,
      }),
      s.refundInstruction(),
    ],
    [s.agent],
  ),
];
const [release = new Uint8Array(), create = new Uint8Array(), refund = new Uint8Array()] =
  originals;

const admits = (bytes: Uint8Array): boolean =>
  Exit.isSuccess(
    Effect.runSyncExit(
      Effect.provideService(admitTransaction(encodeBase64(bytes)), Instance, testInstance()),
    ),
  );

/** Whether every signature of exactly these bytes is present and valid, by an independent check. */
const isWellSigned = (bytes: Uint8Array): boolean => {
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) return false;
  const { signatures, message, staticAccounts } = decoded.value;
  return signatures.every((signature, i) => {
    const key = staticAccounts[i];
    return key !== undefined && ed25519.verify(signature, message, addressToBytes(key));
  });
};

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const at = (bytes: Uint8Array, part: number): number => Math.floor(part * bytes.length);

/** Changes to bytes, by accident or on purpose. */
const mutation: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc.oneof(
  fc.tuple(place, fc.nat({ max: 7 })).map(([part, bit]) => (b: Uint8Array) => {
    const copy = b.slice();
    copy.set([(b[at(b, part)] ?? 0) ^ (1 << bit)].slice(0, b.length), at(b, part));
    return copy;
  }),
  place.map((part) => (b: Uint8Array) => b.slice(0, at(b, part))),
  fc
    .uint8Array({ minLength: 1, maxLength: 200 })
    .map((tail) => (b: Uint8Array) => Uint8Array.from([...b, ...tail])),
  fc.nat({ max: 2 }).map((n) => (b: Uint8Array) => {
    const other = originals[n] ?? b;
    return Uint8Array.from([...b.slice(0, 1), ...other.slice(1, 65), ...b.slice(65)]);
  }),
  fc.constant((b: Uint8Array) =>
    b[0] === 2 ? Uint8Array.from([2, ...b.slice(65, 129), ...b.slice(1, 65), ...b.slice(129)]) : b,
  ),
  fc.constant((b: Uint8Array) => b.slice().fill(0, 1, 65)),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40 })).map(
    ([part, bytes]) =>
      (b: Uint8Array) =>
        Uint8Array.from([...b.slice(0, at(b, part)), ...bytes, ...b.slice(at(b, part))]),
  ),
  fc.tuple(place, place).map(([from, to]) => (b: Uint8Array) => {
    const copy = b.slice();
    copy.copyWithin(at(b, to), at(b, from), at(b, from) + 32);
    return copy;
  }),
);

test("the originals are accepted", () => {
  for (const bytes of originals) expect(admits(bytes)).toBe(true);
});

test("no mutant with a bad signature is accepted", () => {
  let mutants = 0;
  let slowestMs = 0;
  const details = fc.check(
    fc.property(
      fc.constantFrom(release, create, refund),
      fc.array(mutation, { minLength: 1, maxLength: 2 }),
      (original, mutations) => {
        let bytes = original;
        for (const mutate of mutations) bytes = mutate(bytes);
        if (bytes.length === original.length && bytes.every((byte, i) => byte === original[i]))
          return;
        mutants += 1;
        const startedAt = performance.now();
        const taken = admits(bytes);
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        if (taken) expect(isWellSigned(bytes)).toBe(true);
        // No change keeps the signatures of these transactions valid, so none may be accepted.
        expect(taken).toBe(false);
      },
    ),
    runs(2000),
  );
  console.log(`${mutants} mutants, seed ${details.seed}, slowest ${slowestMs.toFixed(1)} ms`);
  if (details.failed) throw new Error(fc.defaultReportMessage(details) ?? "failed");
});
