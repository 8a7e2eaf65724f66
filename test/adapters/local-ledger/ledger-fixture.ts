import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { serveLedger } from "../../../adapters/local-ledger/rpc/server.ts";
import { type LedgerOptions, openLedger } from "../../../adapters/local-ledger/runtime/ledger.ts";
import { tmpdir } from "../../temporary-root.ts";

/** A new temporary folder. `remove` deletes it. */
export const temporaryFolder = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), "local-ledger-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

/** A served ledger in this process, in a temporary folder unless one is given. */
export const startLedger = (options: Partial<LedgerOptions> = {}) => {
  const folder = temporaryFolder();
  const ledger = openLedger({
    directory: folder.path,
    genesis: localGenesis({ demo: false }),
    ...options,
  });
  const server = serveLedger(ledger, { hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const webSocketUrl = `ws://127.0.0.1:${server.webSocketPort}`;
  return {
    ledger,
    url,
    webSocketUrl,
    rpc: createSolanaRpc(url),
    subscriptions: createSolanaRpcSubscriptions(webSocketUrl),
    stop: async () => {
      await server.stop();
      ledger.close();
      folder.remove();
    },
  };
};

/** The raw answer to a JSON-RPC message. */
export const post = async (url: string, body: unknown): Promise<unknown> => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", body: text });
  return response.status === 204 ? undefined : response.json();
};

/** The raw answer to one call. */
export const call = async (
  url: string,
  method: string,
  ...params: ReadonlyArray<unknown>
): Promise<{ result?: unknown; error?: { code: number; message: string; data?: unknown } }> =>
  (await post(url, { jsonrpc: "2.0", id: 1, method, params })) as { result?: unknown };

/** A signed version 0 transaction. */
export const sign = (
  payer: KeyPairSigner,
  lifetime: Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0],
  instructions: ReadonlyArray<Instruction>,
) =>
  signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(payer, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => appendTransactionMessageInstructions(instructions, m),
    ),
  );
