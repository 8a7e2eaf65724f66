import { Effect } from "effect";
import { type Address, parseAddress } from "../../../domain/address.ts";
import { parseAmount } from "../../../domain/amount.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../domain/escrow/escrow.ts";
import { type Hash32, parseHash32 } from "../../../domain/hash32.ts";
import type { Instruction } from "../../../domain/ledger/instruction.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../../domain/escrow/task-hash.ts";
import { createEscrowAddresses } from "../../../protocol/addresses/addresses.ts";
import { createEscrowInstruction } from "../../../protocol/instructions/custody-instructions.ts";
import { Instance } from "../../../../ports/instance.ts";
import { requirePinned } from "../../service/unpinned-programs.ts";
import { enforceBetaLimits } from "../beta-limits.ts";
import { checkAttestorKey, nobodysFaults, payerFaults } from "./parse-sending.ts";
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
  { amount, hash }: { readonly amount: bigint | undefined; readonly hash: Hash32 | undefined },
): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = [];
  if (amount === undefined)
    faults.push({
      field: "amount",
      detail:
        "must be a decimal integer from 1 to 18446744073709551615 without sign or leading zero",
    });
  const { ttlSeconds } = request;
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS)
    faults.push({
      field: "ttlSeconds",
      detail: `must be an integer from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`,
    });
  if (request.taskHash !== undefined && hash === undefined)
    faults.push({ field: "taskHash", detail: "must be 64 hex digits" });
  const { taskIntent, nonce } = request;
  return [
    ...faults,
    ...textFaults("taskIntent", taskIntent, MAX_TASK_INTENT_BYTES),
    ...textFaults("nonce", nonce, MAX_NONCE_BYTES),
  ];
};

/** The terms of a request. Fails like `prepareEscrow`. */
const escrowTerms = Effect.fnUntraced(function* (request: PrepareEscrowRequest) {
  const agentOwner = parseAddress(request.agentOwner);
  const merchant = parseAddress(request.merchant);
  const mint = parseAddress(request.mint);
  const attestor = request.attestor === undefined ? null : parseAddress(request.attestor);
  const payer = request.payer === undefined ? null : parseAddress(request.payer);
  const badAddresses = () => [
    ...(agentOwner === undefined ? [addressFault("agentOwner")] : []),
    ...(merchant === undefined ? [addressFault("merchant")] : []),
    ...(mint === undefined ? [addressFault("mint")] : []),
    ...(attestor === undefined ? [addressFault("attestor")] : []),
    ...(payer === undefined ? [addressFault("payer")] : []),
  ];
  const amount = parseAmount(request.amount);
  const supplied = request.taskHash === undefined ? undefined : parseHash32(request.taskHash);
  const badValues = valueFaults(request, { amount, hash: supplied });
  if (badValues.length > 0 || amount === undefined)
    return yield* new ValidationFailed([...badAddresses(), ...badValues]);
  if (
    agentOwner === undefined ||
    merchant === undefined ||
    mint === undefined ||
    attestor === undefined ||
    payer === undefined
  )
    return yield* new InvalidAddress(badAddresses());
  // The merchant's wallet signed when it was registered.
  const unsigned = [...nobodysFaults({ agentOwner, merchant }), ...payerFaults(payer)];
  if (unsigned.length > 0) return yield* new ValidationFailed<keyof PrepareEscrowRequest>(unsigned);
  if (attestor !== null) yield* checkAttestorKey(attestor);
  const { taskIntent, nonce } = request;
  const derived = taskIntent === undefined ? undefined : taskHash(taskIntent, nonce);
  const hash = supplied ?? derived;
  if (hash === undefined) return yield* new TaskRequired();
  const { ttlSeconds } = request;
  yield* enforceBetaLimits({ mint, amount, ttlSeconds });
  const terms: EscrowTerms = {
    agentOwner,
    merchant,
    mint,
    amount,
    ttlSeconds,
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
 * The deterministic inputs of an escrow. Reads no ledger, store or clock, except for programs that are pinned, so the
 * same request always gets the same answer, or none by other programs. Fails with `ValidationFailed` for a value out of
 * its range and for an address that nobody can sign for, `InvalidAddress` when only addresses are wrong, `TaskRequired`
 * without hash and intent, and `BetaLimitExceeded` when the instance enforces the beta's limits. See docs/protocol.md,
 * "Task hash" and "Addresses".
 */
export const prepareEscrow = Effect.fnUntraced(function* (request: PrepareEscrowRequest) {
  const terms = yield* escrowTerms(request);
  yield* requirePinned;
  const { deployment } = yield* Instance;
  const addresses = createEscrowAddresses(deployment, terms);
  const instructionTerms = {
    ...terms,
    payer: terms.payer ?? terms.agentOwner,
    attestor: terms.attestor ?? undefined,
  };
  const prepared: PreparedEscrow = {
    ...terms,
    escrow: addresses.escrow.address,
    vaultTokenAccount: addresses.vaultTokenAccount,
    agentTokenAccount: addresses.agentTokenAccount,
    merchantAccount: addresses.merchantAccount.address,
    bumps: { escrow: addresses.escrow.bump, merchant: addresses.merchantAccount.bump },
    instruction: createEscrowInstruction(deployment, instructionTerms, addresses),
  };
  return prepared;
});
