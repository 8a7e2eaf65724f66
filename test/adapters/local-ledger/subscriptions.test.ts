import { afterAll, describe, expect, test } from "bun:test";
import {
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  lamports,
  sendAndConfirmTransactionFactory,
  type SolanaRpcSubscriptionsApi,
  type RpcSubscriptions,
} from "@solana/kit";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { address } from "../../../core/domain/address.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, sign, startLedger } from "./ledger-fixture.ts";

// Short slots, so that confirmation is quick; time is the machine's. A blockhash is valid for 150 of them.
const { rpc, subscriptions, url, stop } = startLedger({ slotMs: 60 });
const abort = new AbortController();
const { signal: abortSignal } = abort;
afterAll(async () => {
  abort.abort();
  await stop();
});

type Subscribe = (rpc: RpcSubscriptions<SolanaRpcSubscriptionsApi>) => {
  subscribe: (o: { abortSignal: AbortSignal }) => Promise<AsyncIterable<unknown>>;
};

/** Subscribes, then acts, and returns the first notification that `wanted` accepts. */
const firstAfter = async <T>(
  make: Subscribe,
  act: () => Promise<unknown>,
  wanted: (notification: T) => boolean = () => true,
): Promise<T> => {
  const notifications = await make(subscriptions).subscribe({ abortSignal });
  const [found] = await Promise.all([
    (async () => {
      for await (const notification of notifications)
        if (wanted(notification as T)) return notification as T;
      throw new Error("the subscription ended");
    })(),
    act(),
  ]);
  return found;
};

const airdrop = (to: string) => () =>
  call(url, "requestAirdrop", to, 1_000_000, { commitment: "processed" });

describe("subscriptions of kit's client", () => {
  for (const commitment of ["processed", "confirmed", "finalized"] as const)
    test(`an account's change arrives at ${commitment}`, async () => {
      const { address: to } = await generateKeyPairSigner();
      const { value } = await firstAfter<{ value: { lamports: bigint } }>(
        (s) => s.accountNotifications(to, { commitment, encoding: "base64" }),
        airdrop(to),
      );
      expect(value.lamports).toBe(1_000_000n);
      expect((await rpc.getBalance(to, { commitment }).send()).value).toBe(lamports(1_000_000n));
    });

  test("a program's accounts, by filter", async () => {
    const { address: owner } = await generateKeyPairSigner();
    const ata = associatedTokenAddress(address(owner), LOCAL_USDC_MINT);
    const { value } = await firstAfter<{ value: { pubkey: string } }>(
      (s) =>
        s.programNotifications(TOKEN_PROGRAM, {
          encoding: "base64",
          filters: [{ memcmp: { offset: 32n, bytes: owner, encoding: "base58" } }],
        }),
      () => call(url, "requestTokenAirdrop", owner, 5, { commitment: "processed" }),
    );
    expect(value.pubkey).toBe(ata);
  });

  test("logs, of all transactions and of those that mention an address", async () => {
    const { address: to } = await generateKeyPairSigner();
    for (const filter of ["all", { mentions: [to] }] as const) {
      const { value } = await firstAfter<{ value: { logs: ReadonlyArray<string>; err: unknown } }>(
        (s) => s.logsNotifications(filter as "all"),
        airdrop(to),
      );
      expect(value.err).toBeNull();
      expect(value.logs.join()).toContain("11111111111111111111111111111111 success");
    }
  });

  test("slots follow each other without any transaction", async () => {
    const seen: Array<bigint> = [];
    const last = await firstAfter<{ slot: bigint; parent: bigint; root: bigint }>(
      (s) => s.slotNotifications(),
      async () => undefined,
      ({ slot }) => seen.push(slot) === 3,
    );
    expect(last.parent).toBe(last.slot - 1n);
    expect(seen.toSorted((a, b) => Number(a - b))).toEqual(seen);
  });

  test("sendAndConfirmTransaction confirms, and a failure is reported for its signature", async () => {
    const payer = await generateKeyPairSigner();
    const { address: to } = await generateKeyPairSigner();
    await call(url, "requestAirdrop", payer.address, 10_000_000_000, { commitment: "processed" });
    const transfer = async (amount: bigint) =>
      sign(payer, (await rpc.getLatestBlockhash().send()).value, [
        transferLamports(address(payer.address), address(to), amount),
      ]);
    const sendAndConfirm = sendAndConfirmTransactionFactory({
      rpc,
      rpcSubscriptions: subscriptions,
    });
    for (const [i, commitment] of (["processed", "confirmed", "finalized"] as const).entries()) {
      const signed = await transfer(1_000_000n + BigInt(i));
      await sendAndConfirm(signed as Parameters<typeof sendAndConfirm>[0], { commitment });
      const { value } = await rpc
        .getSignatureStatuses([getSignatureFromTransaction(signed)])
        .send();
      expect(value[0]?.err).toBeNull();
    }
    const failing = await transfer(10n ** 15n);
    const { value } = await firstAfter<{ value: { err: unknown } }>(
      (s) => s.signatureNotifications(getSignatureFromTransaction(failing)),
      () =>
        rpc
          .sendTransaction(getBase64EncodedWireTransaction(failing), {
            encoding: "base64",
            skipPreflight: true,
          })
          .send(),
    );
    expect(value.err).toEqual({ InstructionError: [0n, { Custom: 1n }] } as never);
  });

  test("a signature that landed before its subscription is notified at once", async () => {
    const { address: to } = await generateKeyPairSigner();
    const { result } = await airdrop(to)();
    const { value } = await firstAfter<{ value: { err: unknown } }>(
      (s) => s.signatureNotifications(result as never, { commitment: "finalized" }),
      async () => undefined,
    );
    expect(value.err).toBeNull();
  });
});

test("an unknown subscription id is refused, a known one is ended", async () => {
  const socket = new WebSocket(url.replace("http", "ws"));
  const answers: Array<(answer: unknown) => void> = [];
  socket.addEventListener("message", ({ data }) => answers.shift()?.(JSON.parse(String(data))));
  const ask = (method: string, params: ReadonlyArray<unknown>) =>
    new Promise((resolve) => {
      answers.push(resolve);
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
    });
  await new Promise((resolve) => {
    socket.addEventListener("open", resolve);
  });
  const { result } = (await ask("logsSubscribe", [{ mentions: [LOCAL_USDC_MINT] }])) as {
    result: number;
  };
  expect(await ask("logsUnsubscribe", [result])).toMatchObject({ result: true });
  expect(await ask("logsUnsubscribe", [result])).toMatchObject({ error: { code: -32602 } });
  expect(await ask("blockSubscribe", [])).toMatchObject({ error: { code: -32601 } });
  expect(await ask("logsSubscribe", [{ mentions: [] }])).toMatchObject({ error: { code: -32602 } });
  socket.close();
});
