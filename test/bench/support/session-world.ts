import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { connectMerchant } from "../../../client/merchant.ts";
import { keySigner } from "../../../client/node/index.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { deploymentIn } from "../../../client/pay/payment-terms.ts";
import type { AgentState } from "../../../client/sessions/agent/session-journal.ts";
import { address } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { decodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { sessionTerms, type SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { startChild, startOnOneCore } from "./child.ts";

const servers = `${import.meta.dir}/servers`;

/** The agent of the benchmarks, who has mock USDC. */
export const AGENT = keySigner(localKey("agent/planner").seed);
/** The merchant of `serve-seller.ts`. */
export const MERCHANT = localKey("merchant/forecast").address;

/** The terms of the session that a journal opened at `escrow`, and the seed of its key. */
export const openedIn = (
  { opening }: AgentState,
  escrow: string,
  policy: TrustPolicy,
): { readonly terms: SessionTerms; readonly seed: Uint8Array } => {
  const [data, seed] = [opening?.account, opening?.seed].map((text) => decodeBase64(text ?? ""));
  const deployment = deploymentIn(policy);
  const decoded = decodeEscrowAccount(
    { address: address(escrow), owner: deployment.custodyProgram, data: data ?? new Uint8Array() },
    deployment,
  );
  const terms = "fault" in decoded ? null : sessionTerms(decoded.value, policy);
  if (terms === null || seed === undefined) throw new Error("no session was opened");
  return { terms, seed };
};

/** What the transactions of an account cost, by the ledger. */
export type LedgerCost = { readonly transactions: number; readonly feeLamports: number };

const READ = { encoding: "base64", maxSupportedTransactionVersion: 0 };
type Logged = { readonly meta: { readonly fee: number } };

/** A service on a ledger of its own, whose slots are final at once, and an agent's client of it. */
export const sessionWorld = async () => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const service = await startChild(`${servers}/serve-local.ts`, join(folder, "service"));
  const [url, rpc] = [await service.line(), await service.line()];
  const trust = await (await fetch(`${url}/.well-known/evidence-trust.json`)).text();
  const trustFile = join(folder, "trust.json");
  writeFileSync(trustFile, trust);

  const ask = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
    const answer = await fetch(rpc, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: A; error?: unknown };
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };

  return {
    url,
    rpc,
    trust,
    folder,
    policy: policyIn(trust),
    client: connect(url, { trust, rpc }),
    /** What was written on the ledger about an account. */
    costOf: async (account: string): Promise<LedgerCost> => {
      const listed = await ask<ReadonlyArray<{ signature: string }>>(
        "getSignaturesForAddress",
        account,
      );
      const logged = await Promise.all(
        listed.map(({ signature }) => ask<Logged>("getTransaction", signature, READ)),
      );
      const feeLamports = logged.reduce((sum, { meta }) => sum + meta.fee, 0);
      return { transactions: listed.length, feeLamports };
    },
    /** A further merchant with an attestor of its own. */
    register: async (label: string) => {
      const [wallet, attestor] = ["merchant", "attestor"].map((kind) =>
        localKey(`${kind}/${label}`),
      ) as [ReturnType<typeof localKey>, ReturnType<typeof localKey>];
      await ask("requestAirdrop", wallet.address, 1_000_000_000);
      // Makes its token account.
      await ask("requestTokenAirdrop", wallet.address, 1);
      const signer = keySigner(wallet.seed);
      await connectMerchant(url, { trust }).register({
        wallet: { publicKey: wallet.address, sign: signer.signMessage },
        attestor: attestor.address,
        name: label,
      });
      return { merchant: wallet.address, payer: signer, attestor: keySigner(attestor.seed) };
    },
    /** Starts the demo merchant's seller on one core, its sessions in memory, or in files of a folder. */
    sell: async (price: string, sessions?: string) => {
      const more = sessions === undefined ? [] : [sessions];
      const seller = await startOnOneCore(
        `${servers}/serve-seller.ts`,
        url,
        trustFile,
        price,
        rpc,
        ...more,
      );
      return { ...seller, url: await seller.line() };
    },
    stop: service.stop,
  };
};
