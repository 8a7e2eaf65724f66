import { Effect, Exit, Scope } from "effect";
import { localKey, LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { startLedgerProcess } from "../../../adapters/local-ledger/ledger-process.ts";
import { localFaucet } from "../../../app/demo/local-funds.ts";
import { parseAddress } from "../../../core/domain/address.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  cancelEscrowInstruction,
  createEscrowInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";

/** Slots between `confirmed` and `finalized`: five seconds. */
const FINALITY_SLOTS = 12;
const SOL = 900;
const TOKENS = 900_000_000_000;

/** Who is paid: a merchant of the demo data. */
export const MERCHANT = localKey("merchant/forecast");

/** A signed transaction, and the signature that names it. */
export type Signed = { readonly base64: string; readonly signature: string };

type Key = Parameters<typeof signedTransaction>[0]["payer"];

/** A payment on the embedded ledger: its escrow, and who makes and ends it. */
export type Payment = {
  readonly escrow: string;
  /** The creation, and the merchant's cancellation, signed anew each time. */
  readonly create: () => Promise<Signed>;
  readonly cancel: () => Promise<Signed>;
};

/** The embedded ledger with its demo data in a process of its own, asked without anything that the tests try. */
export const startTrueLedger = async () => {
  const directory = await temporaryDirectory();
  withDemoLedger(directory.path);
  const scope = await Effect.runPromise(Scope.make());
  const args = ["--data-dir", directory.path, "--port", "0"];
  const { rpcUrl, webSocketUrl } = await Effect.runPromise(
    Scope.provide(startLedgerProcess([...args, "--finality-slots", `${FINALITY_SLOTS}`]), scope),
  );
  const ask = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(rpcUrl, { method: "POST", headers, body });
    const { result } = (await response.json()) as { readonly result?: A };
    if (result === undefined) throw new Error(`the ledger refuses ${method}`);
    return result;
  };
  const agent = localKey("no false no/agent");
  const faucet = localFaucet(rpcUrl);
  await faucet.sol(agent.address, SOL);
  await faucet.sol(MERCHANT.address, SOL);
  await faucet.usdc(agent.address, TOKENS);

  const sign = async (payer: Key, instruction: Instruction): Promise<Signed> => {
    const { value } = await ask<{ readonly value: { readonly blockhash: string } }>(
      "getLatestBlockhash",
      { commitment: "confirmed" },
    );
    const bytes = signedTransaction({
      payer,
      instructions: [instruction],
      blockhash: value.blockhash,
    });
    return { base64: encodeBase64(bytes), signature: encodeBase58(bytes.slice(1, 65)) };
  };

  return {
    rpcUrl,
    webSocketUrl,
    /** A payment of one base unit that nobody has made yet. `name` makes it another one. */
    payment: (name: string): Payment => {
      const digest = Bun.SHA256.hash(`no false no/${name}`).buffer as ArrayBuffer;
      const taskHash = hash32FromBytes(new Uint8Array(digest));
      const escrow = escrowAddress(LOCAL_DEPLOYMENT, agent.address, taskHash).address;
      return {
        escrow,
        create: () =>
          sign(
            agent,
            createEscrowInstruction(LOCAL_DEPLOYMENT, {
              payer: agent.address,
              agentOwner: agent.address,
              merchant: MERCHANT.address,
              mint: LOCAL_USDC_MINT,
              taskHash,
              amount: 1n,
              ttlSeconds: 86_400,
            }),
          ),
        cancel: () =>
          sign(
            MERCHANT,
            cancelEscrowInstruction(LOCAL_DEPLOYMENT, { escrow, merchant: MERCHANT.address }),
          ),
      };
    },
    /** Whether each transaction has landed without error. */
    landed: async (signatures: ReadonlyArray<string>): Promise<ReadonlyArray<boolean>> => {
      const found: Array<boolean> = [];
      for (let at = 0; at < signatures.length; at += 200) {
        const { value } = await ask<{
          readonly value: ReadonlyArray<{ readonly err: unknown } | null>;
        }>("getSignatureStatuses", signatures.slice(at, at + 200), {
          searchTransactionHistory: true,
        });
        found.push(...value.map((status) => status !== null && status.err === null));
      }
      return found;
    },
    /** Whether an address has an account at `confirmed`. */
    exists: async (address: string): Promise<boolean> => {
      if (parseAddress(address) === undefined) throw new Error(`no address: ${address}`);
      const options = { commitment: "confirmed", encoding: "base64" };
      const { value } = await ask<{ readonly value: object | null }>(
        "getAccountInfo",
        address,
        options,
      );
      return value !== null;
    },
    stop: async (): Promise<void> => {
      await Effect.runPromise(Scope.close(scope, Exit.void));
      await directory.remove();
    },
  };
};

/** See `startTrueLedger`. */
export type TrueLedger = Awaited<ReturnType<typeof startTrueLedger>>;
