import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { FinishedCall } from "../../../../core/use-cases/escrow/prepare/finish-call.ts";
import type { Ledger } from "../../../../ports/ledger/ledger.ts";
import type { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { Instance } from "../../../../ports/instance.ts";
import type { TransactionTerms } from "../../../../core/use-cases/service/transaction-terms.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../../openapi/envelopes.ts";
import { onSampleLedger } from "../../openapi/sample-ledger.ts";
import { PathAddress } from "../../openapi/values.ts";
import { callRecord, PreparedEscrowCall, transactionQuery } from "./prepared-call-contract.ts";

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
  Ledger | IndexReader | Instance | TransactionTerms
>;

const dataOf = (escrow: string, call: FinishedCall) => ({
  escrow_pda: escrow,
  ...callRecord(call),
});

/** The answers of such an operation. The example is what `prepare` gives for the escrow at that time, with the transaction. */
export const preparedCallAnswers = <E>(
  escrowOf: () => Escrow,
  ledgerTime: bigint,
  prepare: (pda: string) => Prepared<E>,
) =>
  ({
    200: {
      description: "The instructions, and the transaction when it was asked for.",
      content: {
        "application/json": {
          schema: ledgerRead(PreparedEscrowCall),
          example: () => {
            const escrow = escrowOf();
            const call = onSampleLedger({ escrow, ledgerTime }, prepare(escrow.address));
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
