import { expect, test } from "bun:test";
import type { SettleContext } from "@x402/core/server";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { networkOf, sellerScheme } from "../../../client/x402.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { cancelEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { readRequirements } from "../../../core/protocol/x402/payment-requirements.ts";
import { AGENT, ATTESTOR, BLOCKHASH, MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { pendingRecord } from "../support/pending-record.ts";
import { HELD } from "./held.ts";
import { failureOf } from "../support/failure-of.ts";

const payer = localKey("agent/trader");
const network = networkOf(TRUST);
const accepted = {
  scheme: "auth-capture",
  network,
  asset: MINT,
  amount: "10000",
  payTo: MERCHANT,
  maxTimeoutSeconds: 600,
  extra: {
    ...HELD,
    custody: LOCAL_DEPLOYMENT.custodyProgram,
    captureAuthorizer: ATTESTOR,
    request: "GET http://seller.example/quotes",
  },
};
const read = readRequirements(accepted, {
  network,
  custodyProgram: LOCAL_DEPLOYMENT.custodyProgram,
});
if (!("value" in read)) throw new Error(read.fault.detail);
const nonce = "0123456789abcdef";
const task = taskHash(read.value.task, nonce);
const escrow = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task).address;

const record = pendingRecord(task, "10000");

/**
 * A seller whose service prepares the cancellation, with the account that a buyer without one would be paid into where
 * `opens`.
 */
const sellerWhere = (opens: boolean) => {
  let signed = 0;
  const counted = (name: string) => {
    const key = keySigner(localKey(name).seed);
    return {
      publicKey: key.address,
      sign: (message: Uint8Array) => {
        signed++;
        return key.signMessage(message);
      },
    };
  };
  const prepared = unsignedTransaction({
    payer: payer.address,
    blockhash: BLOCKHASH,
    instructions: [
      ...(opens
        ? [createAssociatedTokenInstruction({ payer: payer.address, owner: AGENT, mint: MINT })]
        : []),
      cancelEscrowInstruction(LOCAL_DEPLOYMENT, { escrow, merchant: MERCHANT }),
    ],
  });
  const scheme = sellerScheme("http://service.example", {
    trust: TRUST,
    attestor: counted("attestor/forecast"),
    payer: counted("agent/trader"),
    wallet: counted("merchant/forecast"),
    fetch: (url) =>
      Promise.resolve(
        Response.json(
          new URL(url).pathname.endsWith("/cancel/prepare")
            ? { data: { transaction: { base64: encodeBase64(prepared.bytes) } } }
            : { data: record, context: { ledger_time: "2026-11-22T01:00:00Z" } },
        ),
      ),
  });
  const cancel = async (): Promise<unknown> =>
    scheme.enrichSettlementPayload?.({
      phase: "cancel",
      paymentPayload: { x402Version: 2, accepted, payload: { agent: AGENT, nonce, escrow } },
      requirements: accepted,
    } as unknown as SettleContext);
  return { cancel, signed: () => signed };
};

test("what a seller cannot deliver is cancelled, by its payer and its wallet", async () => {
  const { cancel, signed } = sellerWhere(false);
  expect(await cancel()).toMatchObject({ type: "void", transaction: expect.any(String) });
  expect(signed()).toBe(2);
});

test("a seller's payer opens no token account for a buyer, who could close it and keep its rent with every request that fails", async () => {
  const { cancel, signed } = sellerWhere(true);
  expect((await failureOf(cancel())).code).toBe("prepared_otherwise");
  expect(signed()).toBe(0);
});
