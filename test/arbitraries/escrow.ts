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

/** The fields that depend on the state: what was released, when it settled, and the attestation. */
type Settlement = Pick<Escrow, "amount" | "released" | "settledAt" | "attestation">;

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

const nothingReleased = (settledAt: fc.Arbitrary<bigint | null>): fc.Arbitrary<Settlement> =>
  fc.record({
    amount: amountFrom(1n),
    released: fc.constant(0n),
    settledAt,
    attestation: fc.constant(null),
  });

/** A settlement that paid `released` of `amount` to the merchant at a time in [from, until). */
const delivered = (
  parts: fc.Arbitrary<{ readonly amount: bigint; readonly released: bigint }>,
  from: bigint,
  until: bigint,
): fc.Arbitrary<Settlement> =>
  fc
    .tuple(parts, fc.bigInt({ min: from, max: until - 1n }), attestation(from, until))
    .map(([{ amount, released }, settledAt, attestation]) => ({
      amount,
      released,
      settledAt,
      attestation,
    }));

const wholeAmount = amountFrom(1n).map((amount) => ({ amount, released: amount }));

const partOfAmount = amountFrom(2n).chain((amount) =>
  fc.record({
    amount: fc.constant(amount),
    released: fc.oneof(fc.bigInt({ min: 1n, max: amount - 1n }), fc.constantFrom(1n, amount - 1n)),
  }),
);

const SETTLEMENT: {
  readonly [S in EscrowState]: (created: bigint, expires: bigint) => fc.Arbitrary<Settlement>;
} = {
  Pending: () => nothingReleased(fc.constant(null)),
  // Before expiry: cancelled by the merchant.
  Refunded: (created, expires) =>
    nothingReleased(
      fc.oneof(
        fc.bigInt({ min: expires, max: LAST_UNIX_SECOND }),
        fc.constant(expires),
        fc.bigInt({ min: created === 0n ? 1n : created, max: expires }),
      ),
    ),
  Fulfilled: (created, expires) => delivered(wholeAmount, created, expires),
  PartiallyFulfilled: (created, expires) => delivered(partOfAmount, created, expires),
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
    .record({ state: fc.constantFrom(...states), createdAt, ttl })
    .chain(({ state, createdAt, ttl }) => {
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
          settlement: SETTLEMENT[state](createdAt, expiresAt),
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
            createdAt,
            expiresAt,
            ...sequence,
            settledSeq,
          };
          return Object.assign(own, parties, settlement);
        });
    });
