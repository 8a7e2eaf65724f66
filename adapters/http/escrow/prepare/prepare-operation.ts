import { Type } from "@sinclair/typebox";
import type { FinishedCall } from "../../../../core/use-cases/escrow/prepare/finish-call.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../../openapi/envelopes.ts";
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

const dataOf = (escrow: string, call: FinishedCall) => ({
  escrow_pda: escrow,
  ...callRecord(call),
});

/** The answers of such an operation, with what it prepares in the documentation's example. */
export const preparedCallAnswers = (
  example: () => { readonly escrow: string; readonly call: FinishedCall },
) =>
  ({
    200: {
      description: "The instructions, and the transaction when it was asked for.",
      content: {
        "application/json": {
          schema: ledgerRead(PreparedEscrowCall),
          example: () => {
            const { escrow, call } = example();
            return { data: dataOf(escrow, call), context: READ_CONTEXT_EXAMPLE };
          },
        },
      },
    },
  }) as const;

/** A prepared call on an escrow as the answer. */
export const preparedCallAnswer = (escrow: string, call: FinishedCall) => ({
  json: { data: dataOf(escrow, call), context: readContext(call.at) },
});
