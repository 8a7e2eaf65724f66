import { Effect } from "effect";
import { type Address, addressToBytes } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { computeBudgetFault, computeRequest } from "../../protocol/instructions/compute-budget.ts";
import { verifyEd25519 } from "../../protocol/crypto/strict-ed25519.ts";
import { transactionLimitFault } from "../../protocol/transaction/transaction-limits.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../protocol/addresses/well-known-addresses.ts";
import {
  decodeWireTransaction,
  isVersion1,
  MAX_TRANSACTION_BYTES,
  type WireTransaction,
} from "../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import {
  ComputeBudgetExceeded,
  ComputeBudgetInvalid,
  DurableNonceNotAllowed,
  LookupTableNotAllowed,
  ProgramNotAllowed,
  SignatureInvalid,
  SignatureMissing,
  TransactionMalformed,
  TransactionTooLarge,
} from "./relay-errors.ts";

/** The programs that a relayed transaction may call at top level. At least one call must be to one of the first two. */
export const allowedPrograms = (deployment: Deployment): ReadonlyArray<Address> => [
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
  const asked = [
    { limit: "units", actual: BigInt(unitLimit ?? 0), max: BigInt(RELAY_POLICY.maxComputeUnits) },
    { limit: "unit_price", actual: unitPrice ?? 0n, max: RELAY_POLICY.maxComputeUnitPrice },
  ] as const;
  const excess = asked.find(({ actual, max }) => actual > max);
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
 * and a compute budget within the policy. See docs/protocol.md, "Relay", rules 1, 2 and 4.
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
