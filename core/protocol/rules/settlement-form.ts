import { type Address, addressFromBytes } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { OpenInstruction, PreparedOperation } from "../../domain/escrow/prepared-call.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";
import { withPayer } from "../instructions/account-instructions.ts";
import { computeBudgetInstructions, MAX_PREPARED_BYTES } from "../instructions/compute-budget.ts";
import {
  claimRefundInstruction,
  returnRentInstruction,
} from "../instructions/custody-instructions.ts";
import { unsignedTransaction } from "../transaction/unsigned-transaction.ts";
import { budgetOf } from "./instruction-records.ts";
import { choosePayout } from "./payout-rules.ts";

/** The parts of a prepared payment or settlement, in the order in which they run. */
export type SettlementParts = {
  readonly operation: PreparedOperation;
  /** Makes the payee's absent account. */
  readonly opens: ReadonlyArray<OpenInstruction>;
  /** The payment or settlement, behind its Ed25519 instruction. */
  readonly calls: ReadonlyArray<OpenInstruction>;
  /** `claim_refund`; empty where it would fail. */
  readonly claim: ReadonlyArray<OpenInstruction>;
  /** `return_rent`; empty where it would move nothing. */
  readonly rent: ReadonlyArray<OpenInstruction>;
};

/** How a settlement is sent: in one transaction, or in two of which the first makes an account. */
export type SettlementForm = {
  /** What must land before in a transaction of its own; empty in most cases. */
  readonly before: ReadonlyArray<OpenInstruction>;
  readonly instructions: ReadonlyArray<OpenInstruction>;
};

/** Stands for a payer that nobody named: no program and no party has this address. */
const ANY_PAYER = addressFromBytes(new Uint8Array(32).fill(0xff));

/** The bytes of the transaction that `prepare` makes of these instructions, with compute budget and price. */
export const preparedBytes = (
  operation: PreparedOperation,
  instructions: ReadonlyArray<OpenInstruction>,
  payer: Address | null,
): number => {
  const budget = computeBudgetInstructions({ ...budgetOf(operation), unitPrice: 1n });
  const named = payer ?? ANY_PAYER;
  const closed = [...budget, ...withPayer(instructions, named)];
  // Every blockhash has the same length.
  return unsignedTransaction({ payer: named, instructions: closed, blockhash: SYSTEM_PROGRAM })
    .bytes.length;
};

/** The forms of a settlement, the fullest first: without the rent, without the refund, and at last with the account made before. */
const formsOf = ({ opens, calls, claim, rent }: SettlementParts): ReadonlyArray<SettlementForm> => [
  { before: [], instructions: [...opens, ...calls, ...claim, ...rent] },
  { before: [], instructions: [...opens, ...calls, ...claim] },
  { before: [], instructions: [...opens, ...calls] },
  { before: opens, instructions: [...calls, ...claim, ...rent] },
  { before: opens, instructions: [...calls, ...claim] },
  { before: opens, instructions: calls },
];

/**
 * The fullest form of a settlement that fits into a prepared transaction of 1,132 bytes. What does not fit is dropped in this order: `return_rent`,
 * `claim_refund`, and the instruction that makes an absent account, which goes into a transaction before. Whoever is owed what was
 * dropped can call for it later. @throws Error when not even the bare settlement fits.
 */
export const fittingForm = (parts: SettlementParts, payer: Address | null): SettlementForm => {
  const fits = ({ instructions }: SettlementForm) =>
    preparedBytes(parts.operation, instructions, payer) <= MAX_PREPARED_BYTES;
  const form = formsOf(parts).find(fits);
  if (form === undefined) throw new Error(`a prepared ${parts.operation} fits in no form`);
  return form;
};

/** What a settlement leaves behind, and who may get it. */
type Left = {
  /** Base units released in all after the settlement. */
  readonly released: bigint;
  /** Base units in the vault before it. */
  readonly held: bigint;
  /** The agent's associated account and the other one that was named, null where the ledger has none. */
  readonly agentTokens: LedgerAccount | null;
  readonly agentFallback: LedgerAccount | null;
  /** Whether the settlement closes the vault, as a release of the whole amount does. */
  readonly closesVault: boolean;
};

/**
 * What goes behind a release or a cancellation in the same transaction: `claim_refund` and `return_rent` where they would succeed. An agent that
 * has no account to be paid into is left to make one itself, so that the settlement costs nobody a deposit for others.
 */
export const followUps = (
  deployment: Deployment,
  escrow: Escrow,
  { released, held, agentTokens, agentFallback, closesVault }: Left,
): Pick<SettlementParts, "claim" | "rent"> => {
  const { address, mint, rentPayer, agentOwner } = escrow;
  const rent = [returnRentInstruction(deployment, { escrow: address, rentPayer })];
  if (closesVault) return { claim: [], rent };
  const target = { escrow: address, mint };
  const isEmpty = held === released - escrow.released;
  if (isEmpty)
    return { claim: [claimRefundInstruction(deployment, { ...target, agentOwner: null })], rent };
  const choice = choosePayout({
    owner: agentOwner,
    mint,
    associated: agentTokens,
    fallback: agentFallback,
  });
  if (choice.kind === "none" || (choice.kind === "associated" && choice.isAbsent))
    return { claim: [], rent: [] };
  const agentFallbackAccount =
    choice.kind === "fallback" ? (agentFallback?.address ?? undefined) : undefined;
  const claim = claimRefundInstruction(deployment, { ...target, agentOwner, agentFallbackAccount });
  return { claim: [claim], rent };
};
