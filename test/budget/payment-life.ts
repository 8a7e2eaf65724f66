import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { totalOf } from "./call-count.ts";
import type { VirtualService } from "./virtual-service.ts";

type Transaction = { readonly base64: string; readonly signers: ReadonlyArray<string> };
type Prepared = {
  readonly escrow_pda: string;
  readonly transaction: Transaction;
  readonly message_base64: string;
  readonly timestamp: string;
};
type Outcome = { readonly commitment: string | null; readonly signature: string };

const agent = localKey("agent/planner");
const merchant = localKey("merchant/forecast");
const attestor = localKey("attestor/forecast");
const KEYS = [agent, merchant];

const bytesOf = (base64: string): Uint8Array => decodeBase64(base64) ?? new Uint8Array();

const dataOf = async <A>(answering: Promise<Response>): Promise<A> => {
  const answer = await answering;
  const { data } = (await answer.json()) as { readonly data: A };
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return data;
};

const signed = ({ base64, signers }: Transaction): string => {
  const bytes = bytesOf(base64);
  const message = bytes.slice(1 + 64 * signers.length);
  for (const [i, signer] of signers.entries()) {
    const key = KEYS.find(({ address }) => address === signer);
    if (key === undefined) throw new Error(`nobody signs for ${signer}`);
    bytes.set(key.sign(message), 1 + 64 * i);
  }
  return encodeBase64(bytes);
};

/** What the steps of a payment's life cost, in calls by method. */
export type LifeCost = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Waits until `look` finds something, by the virtual clock. */
const until = async (service: VirtualService, look: () => Promise<boolean>): Promise<void> => {
  for (let turn = 0; turn < 600; turn++) {
    if (await look()) return;
    await service.sleep(200);
  }
  throw new Error("not within two minutes");
};

/**
 * One payment from its preparation to its packet and the final outcome of both transactions, and what each step asks
 * the node for.
 */
export const payOnce = async (service: VirtualService, nonce: string): Promise<LifeCost> => {
  const { ask, calls } = service;
  const cost = new Map<string, ReadonlyMap<string, number>>();
  const step = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
    calls.take();
    const result = await work();
    cost.set(name, calls.take());
    return result;
  };
  const relay = async (transaction: Transaction): Promise<string> => {
    const body = { signed_transaction: signed(transaction), confirm: true };
    const { signature } = await dataOf<Outcome>(ask("/v1/relay", body));
    return signature;
  };
  const indexed = (escrow: string, events: number) =>
    until(service, async () => {
      const newest = await dataOf<ReadonlyArray<{ readonly escrow_pda: string }>>(
        ask(`/v1/indexer/events?agent_owner=${agent.address}&limit=10`),
      );
      return newest.filter(({ escrow_pda }) => escrow_pda === escrow).length === events;
    });
  const prepared = await step("prepare create", () =>
    dataOf<Prepared>(
      ask("/v1/escrows/prepare?transaction=true", {
        agent_owner: agent.address,
        merchant: merchant.address,
        mint: LOCAL_USDC_MINT,
        amount_stroops: "1000000",
        ttl_seconds: 3600,
        task_intent: "GET https://api.example.com",
        nonce,
      }),
    ),
  );
  const escrow = prepared.escrow_pda;
  const path = `/v1/escrows/${escrow}`;
  await step("relay create", () => relay(prepared.transaction));
  await step("index the creation, until final", () => indexed(escrow, 1));
  const claim = { proof_hash: "ab".repeat(32) };
  const attested = await step("prepare attestation", () =>
    dataOf<Prepared>(ask(`${path}/attestation/prepare`, claim)),
  );
  const release = await step("prepare release", () =>
    dataOf<Prepared>(
      ask(`${path}/release/prepare?transaction=true`, {
        ...claim,
        timestamp: attested.timestamp,
        attestation_signature: encodeBase64(attestor.sign(bytesOf(attested.message_base64))),
        payer: merchant.address,
      }),
    ),
  );
  await step("relay release", () => relay(release.transaction));
  await step("index the release, until final", () => indexed(escrow, 2));
  await step("packet", () => dataOf<unknown>(ask(`/v1/evidence/${escrow}`)));
  // What a relay asks for after its outcome is known to everybody else.
  await step("until nothing is open", () => service.sleep(10_000));
  return cost;
};

/** All calls of a life. */
export const lifeTotal = (cost: LifeCost): number =>
  [...cost.values()].reduce((sum, calls) => sum + totalOf(calls), 0);

/** A cost as lines of text. */
export const costText = (cost: LifeCost): string => {
  const lines = [...cost].map(([name, calls]) => {
    const methods = [...calls].map(([method, count]) => `${method} ${count}`).join(", ");
    return `${String(totalOf(calls)).padStart(4)}  ${name}: ${methods}`;
  });
  return [...lines, `${String(lifeTotal(cost)).padStart(4)}  in all`].join("\n");
};
