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
  type SettledBy,
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

/** The fields that change after the creation, but for the numbers. */
type Changed = Pick<
  Escrow,
  | "amount"
  | "released"
  | "deliveries"
  | "settledAt"
  | "settledBy"
  | "closesAt"
  | "attestation"
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

const nothingOfAmount = amountFrom(1n).map((amount) => ({ amount, released: 0n }));

const PAID = {
  Refunded: nothingOfAmount,
  Fulfilled: wholeAmount,
  PartiallyFulfilled: partOfAmount,
} as const;

/** When an escrow with this end was settled, and how: only a refund waits for the end. */
const settlementOf = (
  by: Exclude<SettledBy, null>,
  created: bigint,
  end: bigint,
): fc.Arbitrary<Pick<Changed, "settledAt" | "settledBy">> =>
  fc.record({
    settledBy: fc.constant(by),
    settledAt:
      by === "refund"
        ? fc.oneof(fc.bigInt({ min: end, max: LAST_UNIX_SECOND }), fc.constant(end))
        : fc.bigInt({ min: created, max: end - 1n }),
  });

/** The lives of a single payment: released, refunded or cancelled at once. */
const paymentOf = (
  state: EscrowState,
  created: bigint,
  expires: bigint,
): fc.Arbitrary<Changed> => {
  const nothing = { deliveries: 0, closesAt: null, attestation: null } as const;
  if (state === "Pending")
    return nothingOfAmount.map((paid) => ({
      ...paid,
      ...nothing,
      settledAt: null,
      settledBy: null,
    }));
  if (state === "Refunded")
    return fc
      .tuple(nothingOfAmount, fc.constantFrom("refund" as const, "cancel" as const))
      .chain(([paid, by]) =>
        settlementOf(by, created, expires).map((settled) => ({ ...paid, ...nothing, ...settled })),
      );
  return fc
    .tuple(PAID[state], settlementOf("release", created, expires), attestation(created, expires))
    .map(([paid, settled, attested]) => ({
      ...paid,
      ...nothing,
      ...settled,
      deliveries: 1,
      attestation: attested,
    }));
};

const endOfSession = (created: bigint, expires: bigint): fc.Arbitrary<bigint | null> =>
  fc.oneof(fc.constant(null), fc.bigInt({ min: created + 1n, max: expires }));

/** What was captured of a Pending session: nothing, a part or all of it. */
const captured = fc.oneof(nothingOfAmount, partOfAmount, wholeAmount);

/** The lives of a session: captured or not, closed by its agent or not, settled by anybody. */
const sessionOf = (state: EscrowState, created: bigint, expires: bigint): fc.Arbitrary<Changed> =>
  fc
    .record({
      paid: state === "Pending" ? captured : PAID[state],
      closesAt: endOfSession(created, expires),
      deliveries: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      by: fc.constantFrom("release" as const, "refund" as const, "cancel" as const),
    })
    .chain(({ paid, closesAt, deliveries, by }) => {
      const end = closesAt ?? expires;
      const settledBy = paid.released === 0n && by === "release" ? "cancel" : by;
      return fc
        .record({
          attestation: paid.released === 0n ? fc.constant(null) : attestation(created, end),
          settled:
            state === "Pending"
              ? fc.constant({ settledAt: null, settledBy: null })
              : settlementOf(settledBy, created, end),
        })
        .map(({ attestation, settled }) => ({
          ...paid,
          ...settled,
          closesAt,
          deliveries: paid.released === 0n ? 0 : deliveries,
          attestation,
        }));
    });

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
          changed: (sessionKey === null ? paymentOf : sessionOf)(state, createdAt, expiresAt),
        })
        .map(({ changed, sequence, ...parties }): Escrow => {
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
          return Object.assign(own, parties, changed);
        });
    });
