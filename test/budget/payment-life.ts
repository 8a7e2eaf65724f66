import { localKey, LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { voucherMessage } from "../../core/protocol/instructions/voucher.ts";
import { CallCount, totalOf } from "./call-count.ts";
import type { VirtualService } from "./virtual-service.ts";

type Transaction = { readonly base64: string; readonly signers: ReadonlyArray<string> };
type Prepared = {
  readonly escrow_pda: string;
  readonly transaction: Transaction;
  readonly message_base64: string;
  readonly timestamp: string;
  readonly domain: string;
  readonly terms: string;
};

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

/** Runs the steps of a life and counts what each asks the node for. */
const stepsOf = ({ calls }: VirtualService) => {
  const cost = new Map<string, ReadonlyMap<string, number>>();
  const step = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
    calls.take();
    const result = await work();
    cost.set(name, calls.take());
    return result;
  };
  return { cost, step };
};

/** The requests of both sides. */
const sides = (service: VirtualService) => {
  const { ask } = service;
  const create = (nonce: string, more: object = {}): Promise<Prepared> =>
    dataOf<Prepared>(
      ask("/v1/escrows/prepare?transaction=true", {
        agent_owner: agent.address,
        merchant: merchant.address,
        mint: LOCAL_USDC_MINT,
        amount_stroops: "1000",
        ttl_seconds: 3600,
        task_intent: "GET https://api.example.com",
        nonce,
        ...more,
      }),
    );
  const relay = async (transaction: Transaction): Promise<void> => {
    const body = { signed_transaction: signed(transaction), confirm: true };
    await dataOf<unknown>(ask("/v1/relay", body));
  };
  /** The escrow's events, once the index has `events` of them. */
  const indexed = (escrow: string, events: number) =>
    until(service, async () => {
      const newest = await dataOf<ReadonlyArray<{ readonly escrow_pda: string }>>(
        ask(`/v1/indexer/events?agent_owner=${agent.address}&limit=500`),
      );
      return newest.filter(({ escrow_pda }) => escrow_pda === escrow).length === events;
    });
  const attest = (escrow: string, claim: object): Promise<Prepared> =>
    dataOf<Prepared>(ask(`/v1/escrows/${escrow}/attestation/prepare`, claim));
  const settle = (escrow: string, by: "capture" | "release", body: object): Promise<Prepared> =>
    dataOf<Prepared>(ask(`/v1/escrows/${escrow}/${by}/prepare?transaction=true`, body));
  const packet = (escrow: string) => dataOf<unknown>(ask(`/v1/evidence/${escrow}`));
  return { create, relay, indexed, attest, settle, packet };
};

const signedBy = (key: typeof attestor, { timestamp, message_base64 }: Prepared) => ({
  timestamp,
  attestation_signature: encodeBase64(key.sign(bytesOf(message_base64))),
  payer: merchant.address,
});

/**
 * One payment from its preparation to its packet and the final outcome of both transactions, and what each step asks
 * the node for.
 */
export const payOnce = async (service: VirtualService, nonce: string): Promise<LifeCost> => {
  const { create, relay, indexed, attest, settle, packet } = sides(service);
  const { cost, step } = stepsOf(service);
  const { escrow_pda: escrow, transaction } = await step("prepare create", () => create(nonce));
  await step("relay create", () => relay(transaction));
  await step("index the creation, until final", () => indexed(escrow, 1));
  const claim = { proof_hash: "ab".repeat(32) };
  const attested = await step("prepare attestation", () => attest(escrow, claim));
  const release = await step("prepare release", () =>
    settle(escrow, "release", { ...claim, ...signedBy(attestor, attested) }),
  );
  await step("relay release", () => relay(release.transaction));
  await step("index the release, until final", () => indexed(escrow, 2));
  await step("packet", () => packet(escrow));
  // What a relay asks for after its outcome is known to everybody else.
  await step("until nothing is open", () => service.sleep(10_000));
  return cost;
};

const sessionKey = localKey("session");
const ORDERS = "dd".repeat(32);

/** A session that is captured once and released: what its steps ask the node for. Its calls ask for nothing. */
export const holdSession = async (service: VirtualService, nonce: string): Promise<LifeCost> => {
  const { create, relay, indexed, attest, settle, packet } = sides(service);
  const { cost, step } = stepsOf(service);
  const pay = async (escrow: string, total: number, closing: boolean): Promise<void> => {
    const [count, total_stroops] = [total, String(total)];
    const claim = { proof_hash: "ef".repeat(32), amount_stroops: total_stroops, deliveries: count };
    const attested = await attest(escrow, { ...claim, final: closing });
    const [domain, terms, orders] = [attested.domain, attested.terms, ORDERS].map(parseHash32);
    if (domain === undefined || terms === undefined || orders === undefined)
      throw new Error("no claim");
    const named = { domain, terms, orders, total: BigInt(total), count, isClosing: closing };
    const signature = encodeBase64(sessionKey.sign(voucherMessage(named)));
    const voucher = { orders, total_stroops, count, closing, signature };
    const body = { ...claim, ...signedBy(attestor, attested), voucher };
    const { transaction } = await settle(escrow, closing ? "release" : "capture", body);
    await relay(transaction);
  };
  const { escrow_pda: escrow, transaction } = await step("prepare create", () =>
    create(nonce, { session_key: sessionKey.address }),
  );
  await step("relay create, index", async () => {
    await relay(transaction);
    await indexed(escrow, 1);
  });
  await step("a capture", async () => {
    await pay(escrow, 400, false);
    await service.sleep(20_000);
  });
  await step("attest, release, index", async () => {
    await pay(escrow, 900, true);
    await indexed(escrow, 2);
  });
  await step("packet", () => packet(escrow));
  return cost;
};

/** What `count` payments cost that begin `everyMs` milliseconds apart, in calls by method. */
export const payMany = async (
  service: VirtualService,
  count: number,
  everyMs: number,
): Promise<ReadonlyMap<string, number>> => {
  service.calls.take();
  const lives: Array<Promise<unknown>> = [];
  for (let number = 0; number < count; number++) {
    lives.push(payOnce({ ...service, calls: new CallCount() }, `many ${number}`));
    await service.sleep(everyMs);
  }
  await Promise.all(lives);
  return service.calls.take();
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
