import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { systemClock } from "../../client/service/requests.ts";
import type { BuyerOptions } from "../../client/x402.ts";
import { SELLERS } from "../client/x402/sellers.ts";
import type { x402Fixture } from "../client/x402/x402-fixture.ts";

/** What one purchase came to. */
export type Purchase = {
  /** The status of the last answer; 0 where the call threw. */
  readonly status: number;
  /** The escrows that are on the ledger. */
  readonly escrows: number;
  /** How often the buyer asked whether its payment had landed. */
  readonly reads: number;
  /** The same call once more, with nothing hostile on the way; null where the answer is there already. */
  readonly later: { readonly status: number; readonly escrows: number } | null;
};

/** As often as an agent asks that has no answer yet. */
const TRIES = 3;
/** The pauses between two tries of one read are not what is tested; its deadline, 45 s, stays. */
const clock = {
  nowMs: systemClock.nowMs,
  pause: (ms: number, signal?: AbortSignal) => systemClock.pause(ms < 45_000 ? 1 : ms, signal),
};

/** Whether the hostile facilitator's record was read whole. */
const isRecord = async (answer: Response): Promise<boolean> => {
  try {
    const record = (await answer.json()) as { readonly found?: unknown };
    return typeof record.found === "boolean";
  } catch {
    return false;
  }
};

/**
 * Makes one purchase with a buyer and a seller of the scheme, whose facilitator fails as the hostile one at `hostile`
 * does. Each settlement is done for real, and shown to the hostile facilitator with the payment's nonce; the seller
 * gets the real answer only if the hostile one is a success. Each time that the buyer asks its own service for the
 * escrow, the hostile facilitator's record is asked for first, and where that cannot be read the buyer gets what came.
 */
export const purchase = async (
  x402: Awaited<ReturnType<typeof x402Fixture>>,
  hostile: string,
  timeoutMs: number,
  options: Partial<BuyerOptions> = {},
): Promise<Purchase> => {
  const { service } = x402;
  const nonces = new Map<string, string>();
  let isHostile = true;
  let reads = 0;

  const bridge = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const real = (init?: RequestInit) => fetch(`${service.url}/x402${pathname}`, init);
      if (pathname !== "/settle") return real();
      const body = await request.text();
      const { paymentPayload } = JSON.parse(body) as {
        readonly paymentPayload: { readonly payload: { readonly nonce: string } };
      };
      const headers = { "content-type": "application/json" };
      const settled = real({ method: "POST", headers, body });
      const shown = isHostile
        ? await fetch(`${hostile}/settle`, {
            method: "POST",
            headers: { ...headers, "idempotency-key": paymentPayload.payload.nonce },
            body: "{}",
          })
        : null;
      const answer = await settled;
      return shown === null || shown.ok ? answer : shown;
    },
  });

  const reading = async (url: string, init: RequestInit): Promise<Response> => {
    const nonce = nonces.get(/\/v1\/escrows\/(\w+)$/.exec(url)?.[1] ?? "");
    if (nonce === undefined || init.method !== "GET" || !isHostile) return fetch(url, init);
    reads += 1;
    const record = await fetch(`${hostile}/reconcile?nonce=${encodeURIComponent(nonce)}`);
    return (await isRecord(record.clone())) ? fetch(url, init) : record;
  };

  const facilitator = new HTTPFacilitatorClient({ url: bridge.url.origin, timeoutMs });
  const resources = new x402ResourceServer(facilitator).register(x402.network, x402.scheme());
  const seller = await SELLERS["hono"]?.({ "GET /quotes": { accepts: x402.offer() } }, resources);
  if (seller === undefined) throw new Error("no seller");
  const buyer = x402.buyer({ fetch: reading, clock, ...options });
  buyer.client.onAfterPaymentCreation(({ paymentPayload: { payload } }) => {
    nonces.set(String(payload["escrow"]), String(payload["nonce"]));
    return Promise.resolve();
  });
  const call = () =>
    buyer.pay(`${seller.url}/quotes`).then(
      ({ status }) => status,
      () => 0,
    );
  const escrowsThere = async () => {
    const there = await Promise.all(
      [...nonces.keys()].map((escrow) => fetch(`${service.url}/v1/escrows/${escrow}`)),
    );
    return there.filter(({ status }) => status === 200).length;
  };

  try {
    let status = 0;
    for (let tried = 0; tried < TRIES && status !== 200; tried++) status = await call();
    const escrows = await escrowsThere();
    if (status === 200) return { status, escrows, reads, later: null };
    isHostile = false;
    const later = { status: await call(), escrows: await escrowsThere() };
    return { status, escrows, reads, later };
  } finally {
    await seller.stop();
    await bridge.stop(true);
  }
};
