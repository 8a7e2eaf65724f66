import { expect, test } from "bun:test";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { connectMerchant } from "../../../../client/merchant/connect-merchant.ts";
import { memoryAttestations } from "../../../../client/merchant/settle/attestation-journal.ts";
import { keySigner } from "../../../../client/node/key-file.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { AGENT, MINT, TRUST } from "../../support/fake-service.ts";
import { pendingRecord } from "../../support/pending-record.ts";
import { failureOf } from "../../support/failure-of.ts";

/** A listed mint whose units are ten thousand times those of the escrow's. */
const COARSE = localKey("a mint with two decimals").address;
const task = taskHash("GET https://api.example.com", "order-1");
const escrow = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task).address;

/** A merchant at a service which says that the escrow is in `mint`; `signed` counts signatures. */
const merchantAt = (mint: string, mints: ReadonlyArray<object>) => {
  let signed = 0;
  const key = keySigner(localKey("attestor/forecast").seed);
  const record = { ...pendingRecord(task, "100000000"), mint };
  const merchant = connectMerchant("http://service.example", {
    trust: { ...TRUST, supported_mints: mints },
    fetch: () =>
      Promise.resolve(
        Response.json({ data: record, context: { ledger_time: "2026-11-22T01:00:00Z" } }),
      ),
  });
  const attest = (more: { readonly amount?: string; readonly mint?: string }) =>
    merchant.attest({
      escrow,
      payload: { task_hash: task },
      template: null,
      attestor: {
        publicKey: key.address,
        sign: (message) => {
          signed++;
          return key.signMessage(message);
        },
      },
      journal: memoryAttestations(),
      ...more,
    });
  return { attest, signed: () => signed };
};

const USDC = { address: MINT, symbol: "USDC", decimals: 6 };
const BOTH = [USDC, { address: COARSE, symbol: "COARSE", decimals: 2 }];

test("a service that names a coarser mint gets no attestation of a ten-thousandth of the part", async () => {
  const lying = merchantAt(COARSE, BOTH);
  expect((await failureOf(lying.attest({ amount: "40" }))).code).toBe("mint_unnamed");
  expect((await failureOf(lying.attest({ amount: "40", mint: MINT }))).code).toBe("another_mint");
  expect((await failureOf(lying.attest({ mint: MINT }))).code).toBe("another_mint");
  expect(lying.signed()).toBe(0);
});

test("a part is of the mint that the merchant names, and need not be named where all mints have the same decimals", async () => {
  const honest = merchantAt(MINT, BOTH);
  expect(await honest.attest({ amount: "40", mint: MINT })).toMatchObject({
    amount_stroops: "40000000",
  });
  expect(await merchantAt(MINT, [USDC]).attest({ amount: "40" })).toMatchObject({
    amount_stroops: "40000000",
  });
  expect(await honest.attest({})).toMatchObject({ amount_stroops: null });
});
