import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import {
  claimRefundInstruction,
  returnRentInstruction,
} from "../../core/protocol/instructions/custody-instructions.ts";
import { readInstruction } from "../../core/protocol/instructions/program-call.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import type { CarriedBy, Operation } from "../service/operation.ts";
import { SettlementError } from "../settlement-error.ts";
import { type PrepareContext, preparedTransaction } from "./prepared-transaction.ts";

/** Of an escrow, what the calls that follow its settlement name. */
export type SettledEscrow = {
  readonly escrow: Address;
  readonly mint: Address;
  readonly agentOwner: Address;
  readonly rentPayer: Address;
};

/** A checked settlement, unsigned. */
export type PreparedSettlement = {
  readonly transaction: UnsignedTransaction;
  /** Whether the settlement stands alone: nothing that follows it can make it fail. */
  readonly isBare: boolean;
};

/** With less time than this before the end, in seconds, a settlement goes alone: a second try would come too late. */
const LEAST_FOR_WHOLE_SECONDS = 60n;

/** Whether the settlement of an escrow is asked for alone at once, because its end is near. Both in Unix seconds. */
export const isBareFirst = (ledgerTime: bigint, end: bigint): boolean =>
  end - ledgerTime < LEAST_FOR_WHOLE_SECONDS;

/**
 * The calls that follow a settlement in its transaction, as they are built here: the agent's rest and the rents come home by them. Only the
 * ledger knows which would succeed now, so those that the service prepared are taken, and anybody can send the others later.
 */
const followingIn = (
  deployment: Deployment,
  prepared: ReadonlyArray<Instruction>,
  own: ReadonlyArray<Instruction>,
  escrow: SettledEscrow,
): ReadonlyArray<Instruction> => {
  const names = (calls: ReadonlyArray<Instruction>) =>
    new Set(calls.map((each) => readInstruction(each, deployment)?.name));
  const [there, settling] = [names(prepared), names(own)];
  return [
    ...(there.has("claim_refund") && !settling.has("claim_refund")
      ? [claimRefundInstruction(deployment, escrow)]
      : []),
    ...(there.has("return_rent") ? [returnRentInstruction(deployment, escrow)] : []),
  ];
};

/** The operations that prepare a settlement. */
type SettlingOperation = Extract<
  Operation,
  `POST /v1/escrows/{pda}/${"release" | "cancel" | "refund"}/prepare?transaction=true`
>;

/**
 * Has an operation prepare a settlement, and returns it when it is the instructions of `own`, byte for byte, and behind them at most the
 * `claim_refund` and `return_rent` of this escrow. With `isBare` nothing may follow; `carried` must say so to the service. @throws SettlementError
 */
export const preparedSettlement = async <
  Name extends SettlingOperation,
  const Given extends { readonly payer: Address },
>(
  context: PrepareContext,
  operation: Name,
  carried: CarriedBy<Name, Given>,
  {
    escrow,
    own,
    isBare,
  }: {
    readonly escrow: SettledEscrow;
    readonly own: (
      deployment: Deployment,
      prepared: ReadonlyArray<Instruction>,
    ) => ReadonlyArray<Instruction>;
    readonly isBare: boolean;
  },
  signal: AbortSignal | undefined,
): Promise<PreparedSettlement> => {
  let following: ReadonlyArray<Instruction> = [];
  const transaction = await preparedTransaction(
    context,
    operation,
    carried,
    (deployment, prepared) => {
      const calls = own(deployment, prepared);
      following = isBare ? [] : followingIn(deployment, prepared, calls, escrow);
      return [...calls, ...following];
    },
    signal,
  );
  return { transaction, isBare: following.length === 0 };
};

/** Statuses with which a relay refuses a transaction as it stands. */
const REFUSED: ReadonlySet<number | null> = new Set([400, 409, 422]);

/** Whether it is the transaction that failed: the ledger or the relay refused it, or it expired. Nothing of it can land any more. */
const isOfTransaction = (cause: unknown): boolean =>
  cause instanceof SettlementError &&
  (cause.code === "transaction_expired" ||
    cause.problem?.["outcome"] !== undefined ||
    REFUSED.has(cause.status));

/**
 * Lands a settlement: whole first, and alone when the whole one fails, since what follows it names accounts of others, who can change them.
 * With `isBare` alone at once. @throws SettlementError of the last try
 */
export const landedSettlement = async <Landed>(
  prepare: (isBare: boolean) => Promise<PreparedSettlement>,
  land: (transaction: UnsignedTransaction) => Promise<Landed>,
  isBare: boolean,
): Promise<Landed> => {
  const first = await prepare(isBare);
  try {
    return await land(first.transaction);
  } catch (cause) {
    if (first.isBare || !isOfTransaction(cause)) throw cause;
    return land((await prepare(true)).transaction);
  }
};
