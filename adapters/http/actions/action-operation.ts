import { Effect } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { FinishedCall } from "../../../core/use-cases/escrow/prepare/finish-call.ts";
import { sampleParties } from "../openapi/sample-values.ts";
import { ActionMetadata, ActionRequest, ActionTransaction } from "./action-contract.ts";
import { sampleMetadata, sampleTransaction } from "./action-examples.ts";

/** What every operation of an action declares. */
export const ACTION = { tag: "Wallets", forWallets: true } as const;

/** What the operation declares that answers with an action's metadata; `sample` says what its example shows. */
export const actionGet = (sample: () => Parameters<typeof sampleMetadata>[0]) =>
  ({
    method: "GET",
    answers: {
      200: {
        description: "The metadata.",
        content: {
          "application/json": { schema: ActionMetadata, example: () => sampleMetadata(sample()) },
        },
      },
    },
  }) as const;

/** What the operation declares that answers a posted account with the transaction to sign. */
export const ACTION_POST = {
  method: "POST",
  body: { schema: ActionRequest, example: () => ({ account: sampleParties().agent as string }) },
  answers: {
    200: {
      description: "The transaction.",
      content: { "application/json": { schema: ActionTransaction, example: sampleTransaction } },
    },
  },
} as const;

/** The answer with the transaction of a call that was asked for one, and what it does. A call without one is a bug. */
export const transactionAnswer = (
  call: FinishedCall | null,
  messageOf: (call: FinishedCall) => string,
) =>
  call === null || call.transaction === null
    ? Effect.die(new Error("a transaction was asked for"))
    : Effect.succeed({
        json: {
          type: "transaction" as const,
          transaction: encodeBase64(call.transaction.bytes),
          message: messageOf(call),
        },
      });
