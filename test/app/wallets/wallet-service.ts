import { expect } from "bun:test";
import { localKey, LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { spawnLedger } from "../../adapters/local-ledger/ledger-process.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../support/running-service.ts";
import { Refused, testWallet } from "../support/test-wallet.ts";

/** The address that the service's links name. */
export const PUBLIC_URL = "https://pay.example";

/** The demo data's escrows of the README: the pending one, which has expired a week later, and the released one. */
export const PENDING = "EpfWbK4mHqwAxUYQ9o8Kp2Di27Pe2nD9CxxzP4rjBf7b";
export const FULFILLED = "H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG";

type Read = { state: string; amount_stroops: string; agent_owner: string; archived: object | null };

/** A running service with a public address, on the demo ledger eight days later, and wallets that follow its links. */
export const walletService = async () => {
  const directory = await temporaryDirectory();
  withDemoLedger(directory.path);
  const { child } = await spawnLedger(directory.path, "--skip-days", "8");
  child.kill("SIGTERM");
  await child.exited;
  const environment = { ...quietEnvironment(directory.path), PUBLIC_URL, METRICS_PORT: "0" };
  let service = await runService(environment);
  const { url, rpcUrl, metricsUrl } = service;
  await untilReady(url);

  const rpc = async <A>(method: string, params: ReadonlyArray<unknown>): Promise<A> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return ((await response.json()) as { readonly result: A }).result;
  };

  /** Relays what a wallet signed, and waits until the ledger has it. */
  const relay = async (signedTransaction: string) => {
    const response = await fetch(`${url}/v1/relay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ signed_transaction: signedTransaction, confirm: true }),
    });
    return {
      status: response.status,
      body: (await response.json()) as { data?: { status: string }; rule?: string },
    };
  };

  return {
    url,
    metricsUrl: metricsUrl ?? "",
    rpc,
    relay,
    latestBlockhash: async (): Promise<string> =>
      (await rpc<{ value: { blockhash: string } }>("getLatestBlockhash", [])).value.blockhash,
    /** Relays a transaction that the ledger must take. */
    land: async (signedTransaction: string): Promise<void> => {
      const { status, body } = await relay(signedTransaction);
      expect([status, body.data?.status]).toEqual([202, "finalized"]);
    },
    escrowAt: async (pda: string): Promise<Read> =>
      ((await (await fetch(`${url}/v1/escrows/${pda}`)).json()) as { data: Read }).data,
    /** The wallet of one of the demo data's parties. */
    wallet: (label: string) =>
      testWallet(localKey(label), { publicUrl: PUBLIC_URL, serviceUrl: url }),
    /** Ends the service. What comes back starts it again at the same address. */
    interrupt: async () => {
      await service.stop();
      return async (): Promise<void> => {
        service = await runService({ ...environment, PORT: new URL(url).port });
        await untilReady(url);
      };
    },
    stop: async () => {
      await service.stop();
      await directory.remove();
    },
  };
};

/** The query of a link that creates an escrow. */
export const terms = (nonce: string, more: Record<string, string> = {}) =>
  new URLSearchParams({
    merchant: localKey("merchant/forecast").address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: "1500000",
    ttl_seconds: "3600",
    task_intent: "GET https://api.example.com/v1/quotes",
    nonce,
    ...more,
  }).toString();

/** The link that creates an escrow with these terms. */
export const createLink = (scheme: string, query: string): string =>
  `${scheme}:${encodeURIComponent(`${PUBLIC_URL}/v1/actions/create?${query}`)}`;

/** What a wallet is refused with: the status and its one line. */
export const refusalOf = async (asked: Promise<unknown>): Promise<readonly [number, string]> => {
  const failure = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(failure instanceof Refused)) throw new Error(`not refused: ${String(failure)}`);
  expect(failure.message).not.toContain("\n");
  return [failure.status, failure.message];
};
