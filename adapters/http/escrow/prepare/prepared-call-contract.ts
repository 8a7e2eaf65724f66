import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import {
  type LamportCost,
  PREPARE_WARNINGS,
  PREPARED_OPERATIONS,
} from "../../../../core/domain/escrow/prepared-call.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import { MAX_PREPARED_BYTES } from "../../../../core/protocol/instructions/compute-budget.ts";
import type {
  FinishedCall,
  PreparedTransaction,
} from "../../../../core/use-cases/escrow/prepare/finish-call.ts";
import type { ArchivedEscrows } from "../../../../core/use-cases/escrow/archived-escrows.ts";
import type { TransactionTerms } from "../../../../core/use-cases/service/transaction-terms.ts";
import type { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { Instance } from "../../../../ports/instance.ts";
import type { Ledger } from "../../../../ports/ledger/ledger.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../../openapi/envelopes.ts";
import { onSampleLedger } from "../../openapi/sample-ledger.ts";
import {
  Address,
  AddressOrNull,
  Base64,
  Count,
  nullable,
  oneOf,
  PathAddress,
  record,
  Time,
} from "../../openapi/values.ts";
import { OpenInstruction, openInstructionRecord } from "../next-action-contract.ts";

/** The body member of every prepare operation that names the payer. */
export const payerMember = {
  payer: AddressOrNull(
    "Who pays the fee and new accounts. By default the wallet that must sign. Needed for `transaction=true` when anyone may act.",
  ),
} as const;

/** The body member of every operation that prepares a settlement. */
export const bareMember = {
  bare: Type.Optional(
    Type.Boolean({
      description:
        "The settlement alone, without `claim_refund` and `return_rent` behind it. Send it so when the whole one failed. With less than 60 seconds left it is so anyhow.",
    }),
  ),
} as const;

/** The query of every prepare operation. */
export const transactionQuery = {
  transaction: Type.Optional(
    Type.Boolean({
      description: "Also give the whole unsigned transaction, with a live blockhash.",
    }),
  ),
} as const;

const Lamports = (description: string) =>
  Type.String({ description, pattern: "^(0|[1-9][0-9]*)$", examples: ["2039280"] });

/** What a call costs. */
export const Cost = record("Cost", "What it costs, in lamports.", {
  fee: Lamports("What the ledger takes for signatures and priority."),
  deposits: Type.Array(
    record("Deposit", "The lamports that the payer must put into a new account.", {
      account: Address("The account."),
      lamports: Lamports("How much."),
    }),
  ),
  returned_at_settlement: Lamports(
    "What `return_rent` gives back to the escrow's rent payer once the escrow is settled and its vault closed: within this call where `return_rent` is among its instructions.",
  ),
  returned_at_archiving: Lamports("What the escrow's rent payer gets back when it is archived."),
  kept: Lamports(
    "What is never returned: it stays in the escrow's account and in the accounts of others.",
  ),
});

/** A cost as JSON. */
export const costRecord = (cost: LamportCost): Static<typeof Cost> => ({
  fee: cost.fee.toString(),
  deposits: cost.deposits.map(({ account, lamports }) => ({
    account,
    lamports: lamports.toString(),
  })),
  returned_at_settlement: cost.returnedAtSettlement.toString(),
  returned_at_archiving: cost.returnedAtArchiving.toString(),
  kept: cost.kept.toString(),
});

/** A whole transaction, ready to be signed. */
export const UnsignedTransaction = record(
  "UnsignedTransaction",
  "A version 0 transaction, its signatures left zero. Compare it with what you asked for before you sign it.",
  {
    base64: Base64(`The wire form, at most ${MAX_PREPARED_BYTES} bytes.`),
    blockhash: Address("The recent blockhash that it contains."),
    last_valid_block_height: Count("The last block height at which it can land."),
    signers: Type.Array(Address("Who must sign."), {
      description: "In the order of the signatures; the payer first.",
    }),
    compute_unit_limit: Count("Compute units that the transaction requests."),
    compute_unit_price: Lamports("Micro-lamports for each of them."),
  },
);

/** A prepared transaction as JSON. */
export const transactionRecord = (
  transaction: PreparedTransaction,
): Static<typeof UnsignedTransaction> => ({
  base64: encodeBase64(transaction.bytes),
  blockhash: transaction.blockhash,
  last_valid_block_height: Number(transaction.lastValidBlockHeight),
  signers: [...transaction.signers],
  compute_unit_limit: transaction.unitLimit,
  compute_unit_price: transaction.unitPrice.toString(),
});

const Payout = record("Payout", "The account that pays one side.", {
  whose: oneOf(["merchant", "agent"], "Which side."),
  account: Address("The token account."),
  is_fallback: Type.Boolean({
    description:
      "True: the account that the request named; false: the owner's associated token account.",
  }),
  is_created: Type.Boolean({ description: "Made by the first instructions, at the payer's cost." }),
});

const Before = record("PreparedBefore", "What must land first, in a transaction of its own.", {
  instructions: Type.Array(OpenInstruction, {
    description: "In order, unsigned. An address is null when no payer was named.",
  }),
  transaction: Type.Optional(UnsignedTransaction),
});

const members = {
  operation: oneOf(PREPARED_OPERATIONS, "The program's instruction."),
  before: Type.Optional(
    Type.Unsafe<Static<typeof Before>>({
      ...Before,
      description:
        "Only where the payee's missing account does not fit into the same transaction: send these instructions first, and the call once they are confirmed. Signers and fee are those of both.",
    }),
  ),
  instructions: Type.Array(OpenInstruction, {
    description: "In order, unsigned. An address is null when no payer was named.",
  }),
  signers: Type.Array(Address("A signer."), { description: "Who must sign besides the payer." }),
  payer: nullable(Address("Who pays."), { description: "Null: whoever sends it." }),
  payouts: Type.Array(Payout, {
    description: "Whom the instructions pay, in order; empty when nothing is paid.",
  }),
  warnings: Type.Array(oneOf(PREPARE_WARNINGS, "A warning. The instructions work in spite of it.")),
  until: nullable(Time("From this second on it is too late."), {
    description: "Null: never too late.",
  }),
  cost: Cost,
} as const;

/** The record of a prepared call that names what it concerns. */
export const preparedCall = <P extends TProperties>(title: string, concerns: P) =>
  Type.Object(
    { ...concerns, ...members, transaction: Type.Optional(UnsignedTransaction) },
    {
      title,
      description: "Instructions that the ledger would accept at the slot in `context`.",
      additionalProperties: false,
    },
  );

/** A prepared escrow call. */
const PreparedEscrowCall = preparedCall("PreparedEscrowCall", {
  escrow_pda: Address("The escrow."),
});
/** A prepared call of an escrow as JSON. */
export type PreparedCallRecord = Static<typeof PreparedEscrowCall>;

/** A call as JSON, without what it concerns. */
export const callRecord = (call: FinishedCall) => ({
  operation: call.operation,
  ...(call.before === null
    ? {}
    : {
        before: {
          instructions: call.before.instructions.map(openInstructionRecord),
          ...(call.before.transaction === null
            ? {}
            : { transaction: transactionRecord(call.before.transaction) }),
        },
      }),
  instructions: call.instructions.map(openInstructionRecord),
  signers: [...call.signers],
  payer: call.payer,
  payouts: call.payouts.map(({ whose, account, isFallback, isCreated }) => ({
    whose,
    account,
    is_fallback: isFallback,
    is_created: isCreated,
  })),
  warnings: [...call.warnings],
  until: call.until === null ? null : formatUnixTime(call.until),
  cost: costRecord(call.cost),
  ...(call.transaction === null ? {} : { transaction: transactionRecord(call.transaction) }),
});

/** The problems of every prepare operation on an escrow. */
export const PREPARE_PROBLEMS = [
  "invalid_address",
  "escrow_not_found",
  "not_an_escrow",
  "wrong_state",
  "ledger_unavailable",
  "ledger_timeout",
] as const;

/** What every operation declares that prepares a call on an escrow. */
export const PREPARE_OPERATION = {
  method: "POST",
  tag: "Escrows",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  query: Type.Object(transactionQuery, { additionalProperties: false }),
  problems: PREPARE_PROBLEMS,
} as const;

type Prepared<E> = Effect.Effect<
  FinishedCall,
  E,
  Ledger | IndexReader | Instance | TransactionTerms | ArchivedEscrows
>;

const dataOf = (escrow: string, call: FinishedCall) => ({
  escrow_pda: escrow,
  ...callRecord(call),
});

/**
 * The answers of such an operation. The example is what `prepare` gives for the escrow at that time, with the
 * transaction.
 */
export const preparedCallAnswers = <E>(
  escrowOf: () => Escrow,
  ledgerTime: bigint,
  prepare: (pda: string) => Prepared<E>,
  vault: "vault_open" | "vault_closed" = "vault_open",
) =>
  ({
    200: {
      description: "The instructions, and the transaction when it was asked for.",
      content: {
        "application/json": {
          schema: ledgerRead(PreparedEscrowCall),
          example: () => {
            const escrow = escrowOf();
            const call = onSampleLedger(
              { escrow, ledgerTime, isVaultClosed: vault === "vault_closed" },
              prepare(escrow.address),
            );
            return { data: dataOf(escrow.address, call), context: READ_CONTEXT_EXAMPLE };
          },
        },
      },
    },
  }) as const;

/** Answers with the call on an escrow that a use case prepares. */
export const preparedCallAnswer = <E>(escrow: string, prepared: Prepared<E>) =>
  Effect.map(prepared, (call) => ({
    json: { data: dataOf(escrow, call), context: readContext(call.at) },
  }));
