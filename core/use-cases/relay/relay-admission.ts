import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { MAX_OWED_WINDOWS, RateLimiter } from "../../../ports/rate-limiter.ts";
import { type Address, addressToBytes } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../protocol/addresses/well-known-addresses.ts";
import { verifyEd25519 } from "../../protocol/crypto/strict-ed25519.ts";
import { computeBudgetFault, computeRequest } from "../../protocol/instructions/compute-budget.ts";
import { NEVER_RUNS, transactionLimitFault } from "../../protocol/transaction/never-runs.ts";
import {
  decodeWireTransaction,
  isVersion1,
  MAX_TRANSACTION_BYTES,
  type WireTransaction,
} from "../../protocol/transaction/wire-transaction.ts";
import {
  ComputeBudgetExceeded,
  ComputeBudgetInvalid,
  DurableNonceNotAllowed,
  FeePayerRateLimited,
  LookupTableNotAllowed,
  ProgramNotAllowed,
  SignatureInvalid,
  SignatureMissing,
  TransactionMalformed,
  TransactionTooLarge,
} from "./relay-errors.ts";

/** A fee payer has a budget of its own, as large as a client's, whichever clients it sends through. */
const payerKey = (feePayer: Address): string => `fee_payer:${feePayer}`;

/**
 * Takes one relay from the fee payer's budget, and returns whether it did: once a window for the same bytes. Call it
 * after the signature and the blockhash are checked. They show that the payer signed just now; anyone can send old
 * public transactions. Somebody else may hold a fresh transaction that has not landed, and sending it repeatedly must
 * not use up the payer's budget.
 */
export const takePayerBudget = Effect.fnUntraced(function* (
  feePayer: Address,
  signature: LedgerSignature,
) {
  const limiter = yield* RateLimiter;
  const { limits } = limiter;
  const bytesKey = `transaction:${signature}`;
  const seen = yield* limiter.take("relay", bytesKey, 0);
  if (seen.remaining < limits.relay) return false;
  const { allowed, resetSeconds } = yield* limiter.take("relay", payerKey(feePayer), 1);
  if (!allowed) return yield* new FeePayerRateLimited({ signature, resetSeconds });
  yield* limiter.take("relay", bytesKey, 1);
  return true;
});

/** The budget keys of a relay. Null stands for a fee payer that is not charged, or a client that is not known. */
const keysOf = (feePayer: Address | null, client: string | null): ReadonlyArray<string> => [
  ...(feePayer === null ? [] : [payerKey(feePayer)]),
  ...(client === null ? [] : [client]),
];

/** Takes the extra cost of a relay that would have failed, or as much of it as is left. */
export const chargeFailedPreflight = Effect.fnUntraced(function* (
  feePayer: Address | null,
  client: string | null,
) {
  const limiter = yield* RateLimiter;
  for (const key of keysOf(feePayer, client)) {
    const extra = RELAY_POLICY.failedPreflightCost - 1;
    const { allowed, remaining } = yield* limiter.take("relay", key, extra);
    if (!allowed && remaining > 0) yield* limiter.take("relay", key, remaining);
  }
});

/**
 * Makes a repetition of a request that still runs cost a read in place of a relay: it sends nothing, and its client is
 * right to ask. Without reads it stays a relay, so that even these are limited.
 */
export const chargeRepetition = Effect.fnUntraced(function* (client: string) {
  const limiter = yield* RateLimiter;
  const { allowed } = yield* limiter.take("reads", client, 1);
  if (allowed) yield* limiter.charge("relay", client, -1);
});

/**
 * Takes the extra cost of an expired relay. It was in the queue for a blockhash's lifetime, so the cost falls into
 * later windows and may be owed.
 */
export const chargeExpired = Effect.fnUntraced(function* (
  feePayer: Address,
  client: string | null,
) {
  const limiter = yield* RateLimiter;
  for (const key of keysOf(feePayer, client))
    yield* limiter.charge("relay", key, RELAY_POLICY.expiredCost - 1);
});

/** The programs that a relayed transaction may call at top level. At least one call must be to one of the first two. */
const allowedPrograms = (deployment: Deployment): ReadonlyArray<Address> => [
  deployment.custodyProgram,
  deployment.attestorProgram,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  MEMO_PROGRAM,
  LIGHTHOUSE_PROGRAM,
];

/**
 * With AdvanceNonceAccount as its first instruction, a transaction's lifetime is a nonce (Agave
 * `system_instruction.rs`: 4).
 */
const usesDurableNonce = ({ instructions }: WireTransaction): boolean => {
  const [first] = instructions;
  return first?.program === SYSTEM_PROGRAM && first.data[0] === 4;
};

const checkComputeBudget = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const { signature } = transaction;
  const { unitLimit, unitPrice } = computeRequest(transaction.instructions);
  const requested = [
    { limit: "units", actual: BigInt(unitLimit ?? 0), max: BigInt(RELAY_POLICY.maxComputeUnits) },
    { limit: "unit_price", actual: unitPrice ?? 0n, max: RELAY_POLICY.maxComputeUnitPrice },
  ] as const;
  const excess = requested.find(({ actual, max }) => actual > max);
  if (excess !== undefined) return yield* new ComputeBudgetExceeded({ signature, ...excess });
  const fault = computeBudgetFault(transaction.instructions);
  if (fault !== null) return yield* new ComputeBudgetInvalid({ signature, ...fault });
});

const checkSignatures = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const { signatures, staticAccounts, message, signature: name } = transaction;
  for (const [i, signature] of signatures.entries()) {
    const signer = staticAccounts[i] ?? transaction.feePayer;
    if (signature.every((byte) => byte === 0)) return yield* new SignatureMissing({ signer });
    if (!verifyEd25519(signature, message, addressToBytes(signer)))
      return yield* new SignatureInvalid({ signer, signature: name });
  }
});

/**
 * The transaction inside a relay request, checked without the ledger. The checks: strict base64, size, exactly one
 * transaction within the ledger's limits, all signatures present and valid, allowed programs only, no durable nonce,
 * and a compute budget within the policy. See docs/relay.md, "Admission", rules 1, 2 and 4.
 */
export const admitTransaction = Effect.fnUntraced(function* (signedTransaction: string) {
  const bytes = decodeBase64(signedTransaction);
  if (bytes === undefined)
    return yield* new TransactionMalformed({ detail: "is not canonical base64 with padding" });
  if (bytes.length > MAX_TRANSACTION_BYTES && !isVersion1(bytes))
    return yield* new TransactionTooLarge({ actual: bytes.length, max: MAX_TRANSACTION_BYTES });
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) {
    const { malformed, programFromTable } = decoded;
    return yield* programFromTable === null
      ? new TransactionMalformed({ detail: malformed })
      : new LookupTableNotAllowed({
          signature: programFromTable,
          detail: "an address table supplies a program id; name programs in the transaction itself",
        });
  }
  const transaction = decoded.value;
  const detail = transactionLimitFault(transaction);
  if (detail !== undefined) return yield* new TransactionMalformed({ detail });
  yield* checkSignatures(transaction);
  const { deployment } = yield* Instance;
  const { signature } = transaction;
  const programs = transaction.instructions.map((instruction) => instruction.program);
  const allowed = allowedPrograms(deployment);
  const stranger = programs.find((program) => !allowed.includes(program));
  if (stranger !== undefined) return yield* new ProgramNotAllowed({ program: stranger, signature });
  const ours = new Set([deployment.custodyProgram, deployment.attestorProgram]);
  if (!programs.some((program) => ours.has(program)))
    return yield* new ProgramNotAllowed({ program: null, signature });
  if (usesDurableNonce(transaction)) return yield* new DurableNonceNotAllowed({ signature });
  yield* checkComputeBudget(transaction);
  return { transaction, bytes };
});

/** Every rule and limit of the relay, from the code that enforces them. */
export const readRelayPolicy = Effect.gen(function* () {
  const { deployment, confirmTimeoutMs, enforceBetaLimits } = yield* Instance;
  const { limits, windowSeconds } = yield* RateLimiter;
  return {
    ...RELAY_POLICY,
    maxTransactionBytes: MAX_TRANSACTION_BYTES,
    neverSkipped: NEVER_RUNS,
    requiredPrograms: [deployment.custodyProgram, deployment.attestorProgram],
    allowedPrograms: allowedPrograms(deployment),
    confirmTimeoutMs,
    enforceBetaLimits,
    rateLimit: { requests: limits.relay, windowSeconds, maxOwedWindows: MAX_OWED_WINDOWS },
  };
});
