import { Effect } from "effect";
import { budgetOf } from "../../../protocol/rules/instruction-records.ts";
import { type Address, ZERO_ADDRESS } from "../../../domain/address.ts";
import type {
  LamportCost,
  OpenInstruction,
  Payout,
  PreparedCall,
  PreparedOperation,
  PrepareWarning,
  ReadAt,
} from "../../../domain/escrow/prepared-call.ts";
import type { LedgerAccount } from "../../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../../domain/unix-time.ts";
import type { Rent } from "../../../protocol/accounts/sysvars.ts";
import {
  computeBudgetInstructions,
  MAX_PREPARED_BYTES,
} from "../../../protocol/instructions/compute-budget.ts";
import { withPayer } from "../../../protocol/instructions/account-instructions.ts";
import { isOffCurve } from "../../../protocol/crypto/curve-point.ts";
import { otherSigners, payerFault, transactionFee } from "../../../protocol/rules/lamport-rules.ts";
import {
  type UnsignedTransaction,
  unsignedTransaction,
} from "../../../protocol/transaction/unsigned-transaction.ts";
import { ValidationFailed, type WrongState } from "../../request-errors.ts";
import { TransactionTerms } from "../../service/transaction-terms.ts";
import { requirePinned } from "../../service/unpinned-programs.ts";

/** The options that every prepare operation has. */
export type Sending = {
  /** Who pays the fee and new accounts; null: whoever sends it. */
  readonly payer: Address | null;
  /** Whether the whole transaction is wanted as well as the instructions. */
  readonly wantsTransaction: boolean;
};

/** A whole transaction, ready to be signed. */
export type PreparedTransaction = UnsignedTransaction & {
  readonly blockhash: Address;
  readonly lastValidBlockHeight: bigint;
  readonly unitLimit: number;
  /** Micro-lamports for a compute unit. */
  readonly unitPrice: bigint;
};

/** Instructions, and their whole transaction where one was wanted. */
type Sendable = {
  readonly instructions: ReadonlyArray<OpenInstruction>;
  readonly transaction: PreparedTransaction | null;
};

/** A prepared call, with its transaction where one was wanted. */
export type FinishedCall = PreparedCall & {
  /**
   * What must land before, in a transaction of its own, because it does not fit into the call's; null in most cases.
   */
  readonly before: Sendable | null;
  readonly transaction: PreparedTransaction | null;
};

/** The ledger state that a call is prepared from, all at one slot. */
export type Ground = {
  readonly find: (address: Address) => LedgerAccount | null;
  readonly rent: Rent;
  readonly at: ReadAt;
};

/** A call before its payer, its fee and its transaction. */
export type DraftCall = {
  readonly operation: PreparedOperation;
  /** What must land before in a transaction of its own; empty or absent where everything fits into one. */
  readonly before?: ReadonlyArray<OpenInstruction>;
  readonly instructions: ReadonlyArray<OpenInstruction>;
  readonly payouts: ReadonlyArray<Payout>;
  readonly warnings: ReadonlyArray<PrepareWarning>;
  readonly until: UnixSeconds | null;
  /** The cost without the fee. */
  readonly cost: Omit<LamportCost, "fee">;
  /** What the payer gets back within the transaction, lamports. */
  readonly returnedToPayer: bigint;
};

/** A call is urgent when it must land within this time, seconds. */
const URGENT_SECONDS = 120n;

const transactionOf = Effect.fnUntraced(function* (
  { operation, until }: DraftCall,
  instructions: ReadonlyArray<OpenInstruction>,
  payer: Address,
  at: ReadAt,
) {
  const terms = yield* (yield* TransactionTerms).read;
  const isUrgent = until !== null && until - at.ledgerTime <= URGENT_SECONDS;
  const unitPrice = isUrgent ? terms.urgentPrice : terms.usualPrice;
  const limits = budgetOf(operation);
  const budget = computeBudgetInstructions({ ...limits, unitPrice });
  const { blockhash, lastValidBlockHeight } = terms;
  const calls = withPayer(instructions, payer);
  const made = unsignedTransaction({ payer, blockhash, instructions: [...budget, ...calls] });
  if (made.bytes.length > MAX_PREPARED_BYTES)
    return yield* Effect.die(new Error(`a prepared ${operation} has ${made.bytes.length} bytes`));
  const transaction: PreparedTransaction = {
    ...made,
    blockhash,
    lastValidBlockHeight,
    unitLimit: limits.unitLimit,
    unitPrice,
  };
  return transaction;
});

/**
 * The call with its fee and, where wanted, its transaction; it does not check whether the payer can pay. Fails with
 * `ValidationFailed` when a transaction is wanted without payer, and like a read of the ledger.
 */
export const assembleCall = Effect.fnUntraced(function* (
  draft: DraftCall,
  { payer, wantsTransaction }: Sending,
  at: ReadAt,
) {
  yield* requirePinned;
  if (payer === null && wantsTransaction)
    return yield* new ValidationFailed<"payer">([
      { field: "payer", detail: "is needed for a transaction" },
    ]);
  const { operation, before = [], instructions, payouts, warnings, until, cost } = draft;
  const sender = payer ?? ZERO_ADDRESS;
  const sendable = Effect.fnUntraced(function* (part: ReadonlyArray<OpenInstruction>) {
    const transaction =
      payer === null || !wantsTransaction ? null : yield* transactionOf(draft, part, payer, at);
    const fee = transactionFee(withPayer(part, sender), sender, transaction);
    return { instructions: part, transaction, fee };
  });
  const first = before.length === 0 ? null : yield* sendable(before);
  const { transaction, fee } = yield* sendable(instructions);
  const signers = otherSigners(withPayer(instructions, sender), sender);
  const call: FinishedCall = {
    operation,
    before: first && { instructions: first.instructions, transaction: first.transaction },
    instructions,
    signers,
    payer,
    payouts,
    warnings: signers.some(isOffCurve) ? [...warnings, "signer_is_derived"] : warnings,
    cost: { fee: fee + (first?.fee ?? 0n), ...cost },
    until,
    at,
    transaction,
  };
  return call;
});

/** Why the payer of an assembled call cannot pay, in words; undefined when it can or no payer was named. */
export const payerFaultOf = (
  { payer, cost, before }: FinishedCall,
  { returnedToPayer }: DraftCall,
  { find, rent }: Ground,
): string | undefined => {
  if (payer === null) return undefined;
  const deposits = cost.deposits.reduce((sum, { lamports }) => sum + lamports, 0n);
  const returned = before === null ? returnedToPayer : null;
  return payerFault(find(payer), rent, { fee: cost.fee, deposits, returned });
};

/** `assembleCall`. When the payer cannot pay, `refuse` gives the failure. */
export const finishCall = Effect.fnUntraced(function* (
  draft: DraftCall,
  sending: Sending,
  ground: Ground,
  refuse: (rule: "payer_cannot_pay", detail: string) => WrongState,
) {
  const call = yield* assembleCall(draft, sending, ground.at);
  const detail = payerFaultOf(call, draft, ground);
  if (detail !== undefined) return yield* refuse("payer_cannot_pay", detail);
  return call;
});
