import { Effect, Exit } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { FinishedCall } from "../../../core/use-cases/escrow/prepare/finish-call.ts";
import { prepareRefund } from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { onSampleLedger, samplePendingEscrow } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { WalletLinksOff } from "../problems/http-failures.ts";
import type { ExchangeSettings } from "../server/exchange.ts";
import {
  ActionMetadata,
  actionRecord,
  ActionRequest,
  ActionTransaction,
} from "./action-contract.ts";

/** The public address of the documentation's examples. */
const SAMPLE_PUBLIC_URL = "https://evidence.example.com";

/** The configured public address. Fails with `WalletLinksOff` without one. */
export const publicAddress = (publicUrl: string | null): Effect.Effect<string, WalletLinksOff> =>
  publicUrl === null ? Effect.fail(new WalletLinksOff()) : Effect.succeed(publicUrl);

/** Metadata for the documentation; with a button of its own where it is given one. */
const sampleMetadata = ({
  label,
  href,
  button,
}: {
  readonly label: string;
  readonly href?: string;
  readonly button?: string;
}) => ({
  ...actionRecord(SAMPLE_PUBLIC_URL, { label, description: "Who gets what." }),
  ...(href === undefined || button === undefined
    ? {}
    : { links: { actions: [{ type: "transaction" as const, href, label: button }] } }),
});

/** A transaction for the documentation: the refund of the sample escrow. */
const sampleTransaction = () => {
  const escrow = samplePendingEscrow();
  const ledgerTime = SAMPLE.createdAt + BigInt(SAMPLE.ttlSeconds);
  const request = { payer: sampleParties().agent, wantsTransaction: true };
  const call = onSampleLedger({ escrow, ledgerTime }, prepareRefund(escrow.address, request));
  return {
    type: "transaction" as const,
    transaction: encodeBase64(call.transaction?.bytes ?? new Uint8Array()),
    message: "What the transaction does.",
  };
};

/** The version of Solana Actions that answers follow (`@solana/actions-spec` 2.4). */
const ACTION_VERSION = "2.4";

/** CAIP-2 cuts a genesis hash to 32 characters (namespaces.chainagnostic.org, solana). */
const CHAIN_ID_LENGTH = 32;

const genesisHash = Ledger.use((ledger) => ledger.genesisHash);

/**
 * The headers by which a wallet knows the version and the ledger of an answer. The ledger's is left out while its
 * genesis hash is not known.
 */
export const actionHeaders = async ({
  run,
}: Pick<ExchangeSettings, "run">): Promise<Readonly<Record<string, string>>> => {
  const exit = await run(genesisHash);
  const chain = Exit.isSuccess(exit)
    ? { "x-blockchain-ids": `solana:${exit.value.slice(0, CHAIN_ID_LENGTH)}` }
    : {};
  return { "x-action-version": ACTION_VERSION, ...chain };
};

/** What Solana Actions asks of the answer to OPTIONS, with a preflight's headers or without ("OPTIONS response"). */
export const ACTION_PREFLIGHT = {
  "access-control-allow-methods": "GET,POST,PUT,OPTIONS",
  "access-control-allow-headers":
    "accept, accept-encoding, authorization, content-encoding, content-type, if-none-match, x-accept-action-version, x-accept-blockchain-ids, x-action-version, x-blockchain-ids, x-request-id",
  "access-control-max-age": "86400",
} as const;

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
