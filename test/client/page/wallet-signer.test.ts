import { expect, test } from "bun:test";
import type { Wallet } from "../../../client/page/wallet-standard.ts";
import { walletSigner } from "../../../client/page/wallet-signer.ts";
import { transactionWords } from "../../../client/signing/describe-transaction.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { AGENT, honestTransaction, MERCHANT, MINT, TRUST } from "../support/fake-service.ts";

const BYTES = honestTransaction({
  agent_owner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  amount_stroops: "1000000",
  ttl_seconds: 3600,
  task_intent: "GET https://api.example.com",
  nonce: "order-1",
});
const MESSAGE = BYTES.slice(65);
const SHOWN = [transactionWords(encodeBase64(BYTES), TRUST)];
const SIGNATURE = new Uint8Array(64).fill(5);

/** A wallet that gives back what `change` makes of the signed transaction, and what it was asked. */
const wallet = (change: (signed: Uint8Array) => Uint8Array = (signed) => signed) => {
  const asked: Array<{ readonly chain: string; readonly transaction: Uint8Array }> = [];
  const fake: Wallet = {
    name: "Test",
    features: {
      "standard:connect": { connect: () => Promise.resolve({ accounts: [] }) },
      "solana:signTransaction": {
        supportedTransactionVersions: [0],
        signTransaction: (input) => {
          asked.push(input);
          const signedTransaction = input.transaction.slice();
          signedTransaction.set(SIGNATURE, 1);
          return Promise.resolve([{ signedTransaction: change(signedTransaction) }]);
        },
      },
    },
  };
  return { fake, asked };
};

const sign = (fake: Wallet, shown: ReadonlyArray<string> = SHOWN) =>
  walletSigner(
    fake,
    { address: AGENT },
    { trust: JSON.stringify(TRUST), cluster: "devnet", shown },
  ).signTransactions([{ messageBytes: MESSAGE, signatures: { [AGENT]: null } }]);

/** What a promise is rejected with; "signed" for one that is not. */
const refusal = (signed: Promise<unknown>): Promise<unknown> =>
  signed.then(
    () => "signed",
    (cause: unknown) => cause,
  );

test("a wallet gets exactly the transaction that was shown, and its signature is taken", async () => {
  const { fake, asked } = wallet();
  expect(await sign(fake)).toEqual([{ [AGENT]: SIGNATURE }]);
  expect(asked).toMatchObject([{ chain: "solana:devnet", transaction: BYTES }]);
});

test.each([
  ["nothing", []],
  ["one sentence more", [...SHOWN, "LOCK more"]],
  ["another amount", SHOWN.map((words) => words.replace("1.000000", "0.100000"))],
  ["its beginning", SHOWN.map((words) => words.slice(0, -1))],
])("a wallet is not asked where the page showed %s", async (_, shown) => {
  const { fake, asked } = wallet();
  expect(await refusal(sign(fake, shown))).toMatchObject({ code: "other_than_shown" });
  expect(asked).toEqual([]);
});

test.each<readonly [string, (signed: Uint8Array) => Uint8Array]>([
  ["another message", (signed) => signed.with(signed.length - 1, 7)],
  ["a longer message", (signed) => Uint8Array.of(...signed, 0)],
  ["a shorter message", (signed) => signed.slice(0, -1)],
  ["another count of signatures", (signed) => signed.with(0, 2)],
  ["nothing", () => new Uint8Array()],
])("what a wallet gives back with %s is refused", async (_, change) => {
  const signed = sign(wallet(change).fake);
  expect(await refusal(signed)).toMatchObject({ code: "changed_by_wallet" });
});
