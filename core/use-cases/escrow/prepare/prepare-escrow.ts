import { Clock, Effect } from "effect";
import { type Address, addressToBytes, parseAddress } from "../../../domain/address.ts";
import { parseAmount } from "../../../domain/amount.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../domain/escrow/escrow.ts";
import { type Hash32, parseHash32 } from "../../../domain/hash32.ts";
import type { Deployment } from "../../../domain/ledger/deployment.ts";
import type { Instruction } from "../../../domain/ledger/instruction.ts";
import { formatUnixTime, parseUnixTime, type UnixSeconds } from "../../../domain/unix-time.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../../domain/escrow/task-hash.ts";
import {
  type CreateEscrowAddresses,
  createEscrowAddresses,
} from "../../../protocol/addresses/addresses.ts";
import { isCanonicalKey } from "../../../protocol/crypto/strict-ed25519.ts";
import { createEscrowInstruction } from "../../../protocol/instructions/custody-instructions.ts";
import { Instance } from "../../../../ports/instance.ts";
import { requirePinned } from "../../service/unpinned-programs.ts";
import { enforceBetaLimits } from "../beta-limits.ts";
import { AMOUNT_FAULT } from "./parse-claim.ts";
import { attestorFaults, nobodysFaults, payerFaults } from "./parse-sending.ts";
import {
  addressFault,
  type FieldFault,
  InvalidAddress,
  TaskRequired,
  ValidationFailed,
} from "../../request-errors.ts";

/** A request for an escrow. Only the types of its members are checked. */
export type PrepareEscrowRequest = {
  readonly agentOwner: string;
  readonly merchant: string;
  readonly mint: string;
  readonly amount: string;
  readonly ttlSeconds: number;
  /** The end itself, `YYYY-MM-DDThh:mm:ssZ`; undefined: `ttlSeconds` after the creation. */
  readonly expiresAt?: string | undefined;
  /** The key that signs a session's vouchers; undefined: a single payment. */
  readonly sessionKey?: string | undefined;
  readonly taskHash?: string | undefined;
  readonly taskIntent?: string | undefined;
  readonly nonce?: string | undefined;
  /** The key that must be the merchant's attestor when the escrow is made; undefined: any key. */
  readonly attestor?: string | undefined;
  /** Who pays the fee and the rent, and gets the rent back; undefined: the agent. */
  readonly payer?: string | undefined;
};

/** The terms of a valid request. */
type EscrowTerms = {
  readonly agentOwner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  /** Base units, [1, 2^64-1]. */
  readonly amount: bigint;
  readonly ttlSeconds: number;
  /** The end itself, which then counts in place of the time to live; null: `ttlSeconds` after the creation. */
  readonly expiresAt: UnixSeconds | null;
  /** Null: a single payment. */
  readonly sessionKey: Address | null;
  readonly taskHash: Hash32;
  readonly taskHashDerived: boolean;
  readonly taskIntent: string | null;
  /** Whether a supplied task hash is that of intent and nonce; null unless hash and intent were both supplied. */
  readonly taskIntentMatches: boolean | null;
  readonly nonce: string | null;
  /** Whether the nonce went into the task hash. */
  readonly nonceApplied: boolean;
  /** Null: any key. */
  readonly attestor: Address | null;
  /** Null: the agent pays. */
  readonly payer: Address | null;
};

/** Everything that follows from a request alone. None of it needs to exist on the ledger. */
export type PreparedEscrow = EscrowTerms & {
  readonly escrow: Address;
  readonly vaultTokenAccount: Address;
  readonly agentTokenAccount: Address;
  readonly merchantAccount: Address;
  readonly bumps: { readonly escrow: number; readonly merchant: number };
  /** The complete, unsigned `create_escrow`, with the agent as payer unless another is named. */
  readonly instruction: Instruction;
};

type Fault = FieldFault<keyof PrepareEscrowRequest>;

const textFaults = (
  field: "taskIntent" | "nonce",
  text: string | undefined,
  maxBytes: number,
): ReadonlyArray<Fault> => {
  const detail = text === undefined ? undefined : taskTextFault(text, maxBytes);
  return detail === undefined ? [] : [{ field, detail }];
};

const valueFaults = (
  request: PrepareEscrowRequest,
  {
    amount,
    hash,
    expiresAt,
  }: {
    readonly amount: bigint | undefined;
    readonly hash: Hash32 | undefined;
    readonly expiresAt: UnixSeconds | null | undefined;
  },
): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = [];
  if (amount === undefined) faults.push({ field: "amount", detail: AMOUNT_FAULT });
  const { ttlSeconds } = request;
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS)
    faults.push({
      field: "ttlSeconds",
      detail: `must be an integer from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`,
    });
  if (expiresAt === undefined)
    faults.push({ field: "expiresAt", detail: "must be a time as YYYY-MM-DDThh:mm:ssZ" });
  if (request.taskHash !== undefined && hash === undefined)
    faults.push({ field: "taskHash", detail: "must be 64 hex digits" });
  const { taskIntent, nonce } = request;
  return [
    ...faults,
    ...textFaults("taskIntent", taskIntent, MAX_TASK_INTENT_BYTES),
    ...textFaults("nonce", nonce, MAX_NONCE_BYTES),
  ];
};

const sessionKeyFaults = (sessionKey: Address | null): ReadonlyArray<Fault> =>
  sessionKey === null || isCanonicalKey(addressToBytes(sessionKey))
    ? []
    : [
        {
          field: "sessionKey",
          detail:
            "must be the canonical encoding of an Ed25519 public key that is not of small order: no voucher verifies under this one",
        },
      ];

/** The terms of a request. Fails like `prepareEscrow`. */
const escrowTerms = Effect.fnUntraced(function* (request: PrepareEscrowRequest) {
  const agentOwner = parseAddress(request.agentOwner);
  const merchant = parseAddress(request.merchant);
  const mint = parseAddress(request.mint);
  const attestor = request.attestor === undefined ? null : parseAddress(request.attestor);
  const payer = request.payer === undefined ? null : parseAddress(request.payer);
  const sessionKey = request.sessionKey === undefined ? null : parseAddress(request.sessionKey);
  const badAddresses: ReadonlyArray<Fault> = [
    ...(agentOwner === undefined ? [addressFault("agentOwner")] : []),
    ...(merchant === undefined ? [addressFault("merchant")] : []),
    ...(mint === undefined ? [addressFault("mint")] : []),
    ...(attestor === undefined ? [addressFault("attestor")] : []),
    ...(payer === undefined ? [addressFault("payer")] : []),
    ...(sessionKey === undefined ? [addressFault("sessionKey")] : []),
  ];
  const amount = parseAmount(request.amount);
  const supplied = request.taskHash === undefined ? undefined : parseHash32(request.taskHash);
  const expiresAt = request.expiresAt === undefined ? null : parseUnixTime(request.expiresAt);
  const { ttlSeconds } = request;
  const badValues: ReadonlyArray<Fault> = [
    ...valueFaults(request, { amount, hash: supplied, expiresAt }),
    // The merchant's wallet signed when it was registered.
    ...nobodysFaults({ agentOwner: agentOwner ?? null, merchant: merchant ?? null }),
    ...payerFaults(payer ?? null),
    ...attestorFaults(attestor ?? null),
    ...sessionKeyFaults(sessionKey ?? null),
  ];
  if (badValues.length > 0 || amount === undefined || expiresAt === undefined)
    return yield* new ValidationFailed([...badAddresses, ...badValues]);
  if (
    agentOwner === undefined ||
    merchant === undefined ||
    mint === undefined ||
    attestor === undefined ||
    payer === undefined ||
    sessionKey === undefined
  )
    return yield* new InvalidAddress(badAddresses);
  const { taskIntent, nonce } = request;
  const derived = taskIntent === undefined ? undefined : taskHash(taskIntent, nonce);
  const hash = supplied ?? derived;
  if (hash === undefined) return yield* new TaskRequired();
  yield* enforceBetaLimits({ mint, amount, ttlSeconds });
  const terms: EscrowTerms = {
    agentOwner,
    merchant,
    mint,
    amount,
    ttlSeconds,
    expiresAt,
    sessionKey,
    taskHash: hash,
    taskHashDerived: supplied === undefined,
    taskIntent: taskIntent ?? null,
    taskIntentMatches:
      supplied === undefined || derived === undefined ? null : supplied === derived,
    nonce: nonce ?? null,
    nonceApplied: hash === derived && nonce !== undefined,
    attestor,
    payer,
  };
  return terms;
});

/**
 * Fails with `ValidationFailed` for an end that is not in the future at a time of the ledger's clock, or further away
 * than the request's time to live.
 */
export const checkEnd = (
  { expiresAt, ttlSeconds }: Pick<EscrowTerms, "expiresAt" | "ttlSeconds">,
  now: UnixSeconds,
): Effect.Effect<void, ValidationFailed<"expiresAt">> => {
  const ahead = expiresAt === null ? 1n : expiresAt - now;
  return ahead >= 1n && ahead <= BigInt(ttlSeconds)
    ? Effect.void
    : Effect.fail(
        new ValidationFailed<"expiresAt">([
          {
            field: "expiresAt",
            detail: `must be in the future and at most ttl_seconds from now: ${formatUnixTime(now + 1n)} to ${formatUnixTime(now + BigInt(ttlSeconds))}`,
          },
        ]),
      );
};

/** `checkEnd` at the service's own time. */
export const checkEndNow = Effect.fnUntraced(function* (
  terms: Pick<EscrowTerms, "expiresAt" | "ttlSeconds">,
) {
  const nowMs = yield* Clock.currentTimeMillis;
  return yield* checkEnd(terms, BigInt(Math.floor(nowMs / 1000)));
});

/** The `create_escrow` of an escrow's terms, with a key as attestor unless any will do. */
export const creationOf = (
  deployment: Deployment,
  terms: EscrowTerms,
  addresses: CreateEscrowAddresses,
): Instruction =>
  createEscrowInstruction(
    deployment,
    {
      ...terms,
      payer: terms.payer ?? terms.agentOwner,
      attestor: terms.attestor ?? undefined,
      expiresAt: terms.expiresAt ?? undefined,
      // The program takes one of the two.
      ttlSeconds: terms.expiresAt === null ? terms.ttlSeconds : 0,
    },
    addresses,
  );

/**
 * The deterministic inputs of an escrow. Reads no ledger, store or clock, except for programs that are pinned, so the
 * same request always gets the same answer, or none by other programs. Fails with `ValidationFailed` for a value out of
 * its range and for an address that nobody can sign for (`checkEnd` judges the end), `InvalidAddress` when only
 * addresses are wrong, `TaskRequired` without hash and intent, and `BetaLimitExceeded` when the instance enforces the
 * beta's limits. See docs/protocol.md, "Task hash" and "Addresses".
 */
export const prepareEscrow = Effect.fnUntraced(function* (request: PrepareEscrowRequest) {
  const terms = yield* escrowTerms(request);
  yield* requirePinned;
  const { deployment } = yield* Instance;
  const addresses = createEscrowAddresses(deployment, terms);
  yield* Effect.annotateCurrentSpan({ escrow: addresses.escrow.address });
  const prepared: PreparedEscrow = {
    ...terms,
    escrow: addresses.escrow.address,
    vaultTokenAccount: addresses.vaultTokenAccount,
    agentTokenAccount: addresses.agentTokenAccount,
    merchantAccount: addresses.merchantAccount.address,
    bumps: { escrow: addresses.escrow.bump, merchant: addresses.merchantAccount.bump },
    instruction: creationOf(deployment, terms, addresses),
  };
  return prepared;
});
