import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { indexedEscrowOf, projectAt } from "../../../../core/log/leaf/escrow-rows.ts";
import { leavesOfEscrow } from "../../../../core/log/leaf/escrow-leaves.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
  pendingEscrowBytes,
  termsIn,
  termsOf,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { anyHash32, bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { type Attested, captured, closed, settled } from "../../../doubles/escrow-steps.ts";

/** A session right after its creation, with a budget for some captures and time for some steps. */
const anySession = anyEscrow(LOCAL_DEPLOYMENT, ["Pending"])
  .filter(({ sessionKey, amount, expiresAt, createdAt }) =>
    Boolean(sessionKey !== null && amount >= 1000n && expiresAt - createdAt >= 100n),
  )
  .map((escrow): Escrow => ({
    ...escrow,
    released: 0n,
    deliveries: 0,
    attestation: null,
    closesAt: null,
  }));

const anyAttested = fc.record({
  proofHash: anyHash32.filter((hash) => /[1-9a-f]/.test(hash)),
  signature: bytesOfLength(64),
});

/** What a step adds: parts of the amount, and seconds since the step before. */
const anyCapture = fc.record({
  attested: anyAttested,
  units: fc.bigInt({ min: 1n, max: 100n }),
  deliveries: fc.nat(5),
  after: fc.bigInt({ min: 0n, max: 5n }),
});

const anySequence = fc.record({
  session: anySession,
  before: fc.array(anyCapture, { maxLength: 3 }),
  closes: fc.boolean(),
  behind: fc.array(anyCapture, { maxLength: 3 }),
  ends: fc.constantFrom("release", "refund", "cancel"),
  final: anyCapture,
});

/** The accounts of a session after every step: create, capture*, close, capture*, then release, refund or cancel. */
const lifeOf = ({
  session,
  before,
  closes,
  behind,
  ends,
  final,
}: typeof anySequence extends fc.Arbitrary<infer T> ? T : never): ReadonlyArray<Escrow> => {
  const life: Array<Escrow> = [session];
  let now = session.createdAt;
  const last = () => life.at(-1) ?? session;
  const attestedBy = ({ attested, units, deliveries, after }: typeof final): Attested => {
    now += after;
    return {
      ...attested,
      total: last().released + units,
      timestamp: now,
      deliveries: last().deliveries + deliveries,
    };
  };
  const capture = (step: typeof final) => life.push(captured(last(), attestedBy(step)));
  before.forEach(capture);
  if (closes) life.push(closed(last(), now));
  behind.forEach(capture);
  if (ends === "release") life.push(settled(last(), "release", now, attestedBy(final)));
  else if (ends === "cancel") life.push(settled(last(), "cancel", now));
  else life.push(settled(last(), "refund", last().closesAt ?? last().expiresAt));
  return life;
};

test("whatever was captured, closed or settled, an undo gives back the bytes of the creation, and the terms stay", () => {
  fc.assert(
    fc.property(anySequence, (sequence) => {
      const life = lifeOf(sequence);
      const [session] = life;
      if (session === undefined) throw new Error("a life begins");
      const created = encodeEscrowAccount(session);
      const terms = termsOf(session);
      expect(pendingEscrowBytes(created)).toEqual(created);
      for (const escrow of life) {
        const data = encodeEscrowAccount(escrow);
        const { address } = escrow;
        const account = { address, owner: LOCAL_DEPLOYMENT.custodyProgram, data };
        // The release pays after its attestation was signed, at the same second here.
        expect(decodeEscrowAccount(account, LOCAL_DEPLOYMENT)).toEqual({ value: escrow });
        expect(pendingEscrowBytes(data)).toEqual(created);
        expect([termsIn(data), termsOf(escrow)]).toEqual([terms, terms]);
      }
    }),
    runs(100),
  );
});

test("rows and leaves of a session know its creation and its settlement, and nothing of what was captured between", () => {
  fc.assert(
    fc.property(anySequence, (sequence) => {
      const life = lifeOf(sequence);
      const [session] = life;
      const last = life.at(-1);
      if (session === undefined || last === undefined) throw new Error("a life begins and ends");
      const row = (escrow: Escrow) => indexedEscrowOf(escrow, encodeEscrowAccount(escrow));
      const created = row(session);
      const leaves = (escrow: Escrow) => leavesOfEscrow(escrow, encodeEscrowAccount(escrow));
      for (const escrow of life.slice(0, -1)) {
        expect(row(escrow).account).toEqual(created.account);
        expect(row(escrow).pendingHash).toEqual(created.pendingHash);
        expect(row(escrow).escrow).toEqual(session);
        expect(leaves(escrow)).toEqual(leaves(session));
      }
      const settledRow = row(last);
      expect(settledRow.account).toEqual(encodeEscrowAccount(last));
      expect(leaves(last)[0]).toEqual(leaves(session)[0] ?? { seq: 0n, leaf: new Uint8Array() });
      const undone = projectAt(settledRow, last.createdSeq);
      expect(undone?.account).toEqual(created.account);
      expect(undone?.escrow).toEqual(session);
    }),
    runs(50),
  );
});
