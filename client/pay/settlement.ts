import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import {
  claimRefundInstruction,
  returnRentInstruction,
} from "../../core/protocol/instructions/custody-instructions.ts";
import {
  type CustodyInstructionCall,
  type CustodyInstructionName,
  readInstruction,
} from "../../core/protocol/instructions/program-call.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import type { CarriedBy, Operation } from "../service/operation.ts";
import { SettlementError } from "../settlement-error.ts";
import { withLast } from "./joined-transaction.ts";
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

/** The first call of this name among prepared instructions. */
const preparedCall = <Name extends CustodyInstructionName>(
  deployment: Deployment,
  prepared: ReadonlyArray<Instruction>,
  name: Name,
): CustodyInstructionCall<Name> | undefined => {
  for (const each of prepared) {
    const call = readInstruction(each, deployment);
    if (call?.name === name) return call as CustodyInstructionCall<Name>;
  }
  return undefined;
};

/**
 * The `claim_refund` of an escrow as it is built here, undefined where the service prepared none. Two things only the
 * ledger knows, and it checks both: whether the vault is empty, so that no account of the agent is named, and an
 * archived escrow's last bytes.
 */
export const claimIn = (
  deployment: Deployment,
  prepared: ReadonlyArray<Instruction>,
  escrow: SettledEscrow,
): Instruction | undefined => {
  const call = preparedCall(deployment, prepared, "claim_refund");
  if (call === undefined) return undefined;
  // An optional account that is left out has the program's own address.
  const isEmpty = call.at("agent_token_account") === deployment.custodyProgram;
  const { lastBytes } = call.args;
  const agentOwner = isEmpty ? null : escrow.agentOwner;
  return claimRefundInstruction(deployment, { ...escrow, agentOwner, lastBytes });
};

const rentIn = (
  deployment: Deployment,
  prepared: ReadonlyArray<Instruction>,
  escrow: SettledEscrow,
): Instruction | undefined => {
  const call = preparedCall(deployment, prepared, "return_rent");
  if (call === undefined) return undefined;
  return returnRentInstruction(deployment, { ...escrow, lastBytes: call.args.lastBytes });
};

/** The operations that prepare a settlement. */
type SettlingOperation = Extract<
  Operation,
  `POST /v1/escrows/{pda}/${"release" | "cancel" | "refund"}/prepare?transaction=true`
>;

/**
 * Has an operation prepare a settlement, and returns it when it is the instructions of `own`, byte for byte, and behind
 * them at most the `claim_refund` and `return_rent` of this escrow: the agent's rest and the rents come home by them.
 * Only the ledger knows which would succeed now, so those that the service prepared are taken; anybody can send the
 * others later. With `isBare` nothing may follow, and `carried` must say so to the service. Prepared transactions leave
 * room for what wallets add; where a program signs (`isOfProgram`), the `return_rent` of a session that was left out for
 * it is put there. @throws SettlementError
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
    isOfProgram = false,
  }: {
    readonly escrow: SettledEscrow;
    readonly own: (
      deployment: Deployment,
      prepared: ReadonlyArray<Instruction>,
    ) => ReadonlyArray<Instruction>;
    readonly isBare: boolean;
    readonly isOfProgram?: boolean;
  },
  signal: AbortSignal | undefined,
): Promise<PreparedSettlement> => {
  let following: ReadonlyArray<Instruction> = [];
  let leftOut: Instruction | null = null;
  const transaction = await preparedTransaction(
    context,
    operation,
    carried,
    (deployment, prepared) => {
      const calls = own(deployment, prepared);
      const claim = preparedCall(deployment, calls, "claim_refund")
        ? undefined
        : claimIn(deployment, prepared, escrow);
      const rent = rentIn(deployment, prepared, escrow);
      following = isBare ? [] : [claim, rent].filter((each) => each !== undefined);
      const isLeftOut = isOfProgram && following.length === 1 && rent === undefined;
      leftOut = isLeftOut ? returnRentInstruction(deployment, escrow) : null;
      return [...calls, ...following];
    },
    signal,
  );
  return {
    transaction: leftOut === null ? transaction : withLast(transaction, leftOut),
    isBare: following.length === 0,
  };
};

/** Statuses with which a relay refuses a transaction as it stands. */
const REFUSED: ReadonlySet<number | null> = new Set([400, 409, 422]);

/**
 * Whether it is the transaction that failed: the ledger or the relay refused it, or it expired. Nothing of it can land
 * any more.
 */
const isOfTransaction = (cause: unknown): boolean =>
  cause instanceof SettlementError &&
  (cause.code === "transaction_expired" ||
    cause.problem?.["outcome"] !== undefined ||
    REFUSED.has(cause.status));

/**
 * Lands a settlement: whole first, and alone when the whole one fails, since what follows it names accounts of others,
 * who can change them. With `isBare` alone at once. @throws SettlementError of the last try
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
