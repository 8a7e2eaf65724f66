import fc from "fast-check";
import { ZERO_ADDRESS } from "../../core/domain/address.ts";
import { MAX_U64 } from "../../core/domain/amount.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  type Attestation,
  ESCROW_STATES,
  type Escrow,
  type EscrowState,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from "../../core/domain/escrow/escrow.ts";
import { LAST_UNIX_SECOND } from "../../core/domain/unix-time.ts";
import { associatedToken, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { anyAddress, anyHash32, bytesOfLength } from "./ledger-values.ts";

const MAX_TTL = BigInt(MAX_TTL_SECONDS);

/** A creation time that leaves room for any time to live. At least 1, because 0 in an account means "not yet". */
const createdAt = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 1_600_000_000n, max: 2_000_000_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: LAST_UNIX_SECOND - MAX_TTL }) },
  { weight: 1, arbitrary: fc.constantFrom(1n, LAST_UNIX_SECOND - MAX_TTL) },
);

const ttl = fc.oneof(
  fc.integer({ min: MIN_TTL_SECONDS, max: MAX_TTL_SECONDS }),
  fc.constantFrom(MIN_TTL_SECONDS, 2, MAX_TTL_SECONDS),
);

const amountFrom = (min: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min, max: 1_000_000_000n }) },
    { weight: 2, arbitrary: fc.bigInt({ min, max: MAX_U64 }) },
    { weight: 1, arbitrary: fc.constantFrom(min, MAX_U64) },
  );

/** The fields that depend on the state: what was released and how, and when it ended. */
type Settlement = Pick<
  Escrow,
  "amount" | "released" | "deliveries" | "closesAt" | "settledAt" | "settledBy" | "attestation"
>;

/** The last number that the custody program gives. */
const LAST_NUMBER = 2n ** 40n - 2n;

/** Numbers of a creation and of a settlement after it. */
const sequence = fc
  .tuple(fc.bigInt({ min: 1n, max: LAST_NUMBER - 1n }), fc.bigInt({ min: 1n, max: LAST_NUMBER }))
  .map(([createdSeq, more]) => ({
    createdSeq,
    settledSeq: createdSeq + more > LAST_NUMBER ? LAST_NUMBER : createdSeq + more,
  }));

const attestation = (from: bigint, until: bigint): fc.Arbitrary<Attestation> =>
  fc.record({
    // An attestation of zeros only looks like none. SHA-256 never returns that hash.
    proofHash: anyHash32.filter((hash) => /[1-9a-f]/.test(hash)),
    attestedAt: fc.bigInt({ min: from, max: until - 1n }),
    signature: bytesOfLength(64).map(encodeBase64),
  });

const wholeAmount = amountFrom(1n).map((amount) => ({ amount, released: amount }));

const partOfAmount = amountFrom(2n).chain((amount) =>
  fc.record({
    amount: fc.constant(amount),
    released: fc.oneof(fc.bigInt({ min: 1n, max: amount - 1n }), fc.constantFrom(1n, amount - 1n)),
  }),
);

const nothing = amountFrom(1n).map((amount) => ({ amount, released: 0n }));

type Amounts = { readonly amount: bigint; readonly released: bigint };

/** What can have been released in a state. */
const amountsIn = (state: EscrowState, isSession: boolean): fc.Arbitrary<Amounts> => {
  if (state === "Fulfilled") return wholeAmount;
  if (state === "PartiallyFulfilled") return partOfAmount;
  return state === "Refunded" || !isSession
    ? nothing
    : fc.oneof(nothing, partOfAmount, wholeAmount);
};

type Life = {
  readonly createdAt: bigint;
  /** When the agent closed the session at the earliest; the creation where it did not. */
  readonly closedFrom: bigint;
  readonly end: bigint;
};

/**
 * How an escrow can have been settled, and when: a release and a cancellation before the end, a refund from then on,
 * all of them after a closing.
 */
const settledIn = (
  state: EscrowState,
  isSession: boolean,
  { closedFrom, end }: Life,
): fc.Arbitrary<Pick<Settlement, "settledAt" | "settledBy">> => {
  if (state === "Pending") return fc.constant({ settledAt: null, settledBy: null });
  const by = (settledBy: "release" | "refund" | "cancel", settledAt: fc.Arbitrary<bigint>) =>
    settledAt.map((at) => ({ settledAt: at, settledBy }));
  const before = fc.bigInt({ min: closedFrom, max: end - 1n });
  const after = fc.oneof(fc.bigInt({ min: end, max: LAST_UNIX_SECOND }), fc.constant(end));
  const unpaid = [by("cancel", before), by("refund", after)];
  if (state === "Refunded") return fc.oneof(...unpaid);
  return isSession ? fc.oneof(by("release", before), ...unpaid) : by("release", before);
};

/** How far an attestation may be ahead of the clock of its payment, and at a release behind it. */
const [LEAD, AGE] = [30n, 300n];
/** How long a session goes on once it is closed. */
const CLOSING = 900n;

const least = (...times: ReadonlyArray<bigint>): bigint =>
  times.reduce((one, other) => (other < one ? other : one));
const greatest = (...times: ReadonlyArray<bigint>): bigint =>
  times.reduce((one, other) => (other > one ? other : one));

/** When the attestation of a payment can be from. */
const attestedIn = (
  { createdAt, end }: Life,
  { settledAt, settledBy }: Pick<Settlement, "settledAt" | "settledBy">,
): fc.Arbitrary<Attestation> => {
  const paidBefore = settledAt === null ? end : least(end, settledAt + 1n);
  const until = least(paidBefore + LEAD, LAST_UNIX_SECOND + 1n);
  return settledBy === "release" && settledAt !== null
    ? attestation(greatest(createdAt, settledAt - AGE), least(end, until))
    : attestation(createdAt, until);
};

const settlementIn = (
  state: EscrowState,
  isSession: boolean,
  { createdAt, expiresAt }: { readonly createdAt: bigint; readonly expiresAt: bigint },
): fc.Arbitrary<Settlement> => {
  const closing = fc.oneof(
    fc.constant(null),
    fc.bigInt({ min: least(createdAt + CLOSING, expiresAt), max: expiresAt }),
    fc.constant(expiresAt),
  );
  return (isSession ? closing : fc.constant(null)).chain((closesAt) => {
    const closedFrom = greatest(createdAt, (closesAt ?? createdAt) - CLOSING);
    const life = { createdAt, closedFrom, end: closesAt ?? expiresAt };
    const amounts = amountsIn(state, isSession);
    return fc.tuple(amounts, settledIn(state, isSession, life)).chain(([amounts, settled]) => {
      const isPaid = amounts.released > 0n;
      return fc
        .record({
          deliveries: isPaid
            ? isSession
              ? fc.oneof(fc.nat(1000), fc.nat(2 ** 32 - 1))
              : fc.constant(1)
            : fc.constant(0),
          attestation: isPaid ? attestedIn(life, settled) : fc.constant(null),
        })
        .map((paid) => ({ ...amounts, ...settled, ...paid, closesAt }));
    });
  });
};

/**
 * Any escrow that custody could have left on the ledger, in one of the given states and at its derived address. Times,
 * amounts and states agree as docs/protocol.md demands.
 */
export const anyEscrow = (
  deployment: Deployment,
  states: ReadonlyArray<EscrowState> = ESCROW_STATES,
): fc.Arbitrary<Escrow> =>
  fc
    .record({
      state: fc.constantFrom(...states),
      createdAt,
      ttl,
      sessionKey: fc.option(anyAddress.filter((key) => key !== ZERO_ADDRESS)),
    })
    .chain(({ state, createdAt, ttl, sessionKey }) => {
      const expiresAt = createdAt + BigInt(ttl);
      return fc
        .record({
          agentOwner: anyAddress,
          merchant: anyAddress,
          mint: anyAddress,
          rentPayer: anyAddress,
          taskHash: anyHash32,
          attestor: anyAddress.filter((key) => key !== ZERO_ADDRESS),
          sequence,
          settlement: settlementIn(state, sessionKey !== null, { createdAt, expiresAt }),
        })
        .map(({ settlement, sequence, ...parties }): Escrow => {
          const { address, bump } = escrowAddress(deployment, parties.agentOwner, parties.taskHash);
          const settledSeq = state === "Pending" ? null : sequence.settledSeq;
          const vaultBump = associatedToken(address, parties.mint).bump;
          const own = {
            address,
            bump,
            vaultBump,
            state,
            sessionKey,
            createdAt,
            expiresAt,
            ...sequence,
            settledSeq,
          };
          return Object.assign(own, parties, settlement);
        });
    });
