import {
  type LocalKey,
  localKey,
  LOCAL_USDC_MINT,
} from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { memorySessions, type PaidHandler, sessionSeller } from "../../../client/sessions.ts";
import { ledgerLooks } from "../../../client/sessions/seller/ledger-looks.ts";
import { ledgerNodes } from "../../../client/service/ledger-nodes.ts";
import { requestsTo, systemClock } from "../../../client/service/requests.ts";
import type { MessageSigner } from "../../../client/signing/sign-transaction.ts";
import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { sessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../../app/support/running-service.ts";

/** A local key as a signer. */
export const signerOf = (key: LocalKey): MessageSigner => ({
  publicKey: key.address,
  sign: (message) => Promise.resolve(key.sign(message)),
});

export const agentKey = localKey("agent/planner");
export const payerKey = localKey("agent/trader");
export const merchantKey = localKey("merchant/forecast");
export const attestorKey = localKey("attestor/forecast");
export const sessionKey = localKey("session/forecast");

type Prepared = {
  readonly escrow_pda: string;
  readonly transaction: { readonly base64: string; readonly signers: ReadonlyArray<string> };
};

/** What a live session shows. */
export type Live = {
  readonly state: string;
  readonly released_stroops: string;
  readonly deliveries: number;
  readonly settled_by: string | null;
  readonly next_actions: ReadonlyArray<{ readonly action: string }>;
};

/** A service on a ledger with the demo data, and sessions that are opened there. */
export const sellerFixture = async () => {
  const directory = await temporaryDirectory();
  const service = await runService(quietEnvironment(withDemoLedger(directory.path)));
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  const policy = policyIn(trust);
  const { data: status } = (await (await fetch(`${service.url}/v1/status`)).json()) as {
    readonly data: { readonly network: { readonly rpc_address: string } };
  };
  const rpc = status.network.rpc_address;
  const lookAt = ledgerLooks(
    ledgerNodes(rpc, (url) => requestsTo(url)),
    policy,
    { mint: LOCAL_USDC_MINT, merchant: merchantKey.address },
    systemClock,
  );

  const ask = async <A>(path: string, body: object): Promise<A> => {
    const response = await fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { readonly data: A };
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };

  const land = async (path: string, body: object): Promise<Prepared> => {
    const prepared = await ask<Prepared>(`${path}?transaction=true`, body);
    const { base64, signers } = prepared.transaction;
    const bytes = decodeBase64(base64) ?? new Uint8Array();
    const message = bytes.slice(1 + 64 * signers.length);
    for (const [i, signer] of signers.entries()) {
      const key = [agentKey, payerKey].find(({ address }) => address === signer);
      if (key === undefined) throw new Error(`nobody signs for ${signer}`);
      bytes.set(key.sign(message), 1 + 64 * i);
    }
    await ask<object>("/v1/relay", { signed_transaction: encodeBase64(bytes), confirm: true });
    return prepared;
  };

  /** Opens a session, waits until it is finalized, and gives its agent's side. */
  const open = async (
    nonce: string,
    { amount = 1_000_000n, ttl = 3600 } = {},
  ): Promise<AgentContext> => {
    const { escrow_pda: escrow } = await land("/v1/escrows/prepare", {
      agent_owner: agentKey.address,
      merchant: merchantKey.address,
      mint: LOCAL_USDC_MINT,
      amount_stroops: amount.toString(),
      ttl_seconds: ttl,
      task_intent: "GET https://api.example.com",
      nonce,
      session_key: sessionKey.address,
      payer: payerKey.address,
    });
    const seen = await until(
      "the session is finalized",
      async () => (await lookAt([escrow as Address])).seen.get(escrow as Address) ?? null,
      (found) => found !== null,
    );
    const session = seen && sessionTerms(seen.escrow, policy);
    if (session === null) throw new Error("no session");
    return {
      session,
      network: policy.genesisHash,
      signer: signerOf(sessionKey),
      journal: memorySessionJournal(),
      fetch,
      clock: systemClock,
    };
  };

  return {
    service,
    trust,
    policy,
    rpc,
    lookAt,
    open,
    land,
    read: async (escrow: string): Promise<Live> => {
      const answer = await fetch(`${service.url}/v1/escrows/${escrow}`);
      return ((await answer.json()) as { data: Live }).data;
    },
    stop: async () => {
      await service.stop();
      await directory.remove();
    },
  };
};

/** A seller over HTTP on the ledger of a fixture, at 0.01 a call. */
export const sellingAt = (
  {
    service,
    trust,
    rpc,
  }: Pick<Awaited<ReturnType<typeof sellerFixture>>, "service" | "trust" | "rpc">,
  handler: PaidHandler,
) => {
  const seller = sessionSeller({
    service: service.url,
    trust,
    rpc,
    merchant: merchantKey.address,
    attestor: signerOf(attestorKey),
    payer: signerOf(payerKey),
    store: memorySessions(),
    webSocket: null,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => seller.handle(request, "0.01", handler),
  });
  return {
    url: server.url.origin,
    stop: async () => {
      await server.stop(true);
      await seller.close();
    },
  };
};
