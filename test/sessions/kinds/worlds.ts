import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { address } from "../../../core/domain/address.ts";
import { VOUCHER_HEADER } from "../../../core/protocol/calls/call-voucher.ts";
import { until } from "../../app/support/running-service.ts";
import { type Battery, openCase } from "../open-case.ts";
import { startSellerProxy } from "../seller-proxy.ts";
import { requireWhole } from "./kills.ts";
import type { Outcome } from "./outcome.ts";

const CALLS = 4;
const HOUR = 3600;
/** The ledger skips this time, after which a final attestation is stale (300 s). */
const SKIPPED_DAYS = 1;
const THREE_DAYS = 259_200;

/** The clocks of both machines are wrong, in seconds: sessions go by the ledger's. */
const wrongClocks = (battery: Battery, seller: number, buyer: number) => async () => {
  const name = `clocks: the seller's ${seller} s, the buyer's ${buyer} s ahead`;
  const played = await openCase(battery, name, { calls: CALLS });
  try {
    await played.startSellers({ CLOCK_AHEAD: `${seller}` });
    await played.run({ CLOCK_AHEAD: `${buyer}` });
    await played.stopSellers();
    requireWhole(played, CALLS, 0);
    return { name, faults: await played.judge(), said: [...played.proxy.seen, ...played.said] };
  } finally {
    await played.stop();
  }
};

/** Clocks that are wrong by hours, on one side or on both. */
export const clockCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> =>
  [
    [5, 0],
    [-5, 0],
    [0, 5],
    [0, -5],
    [3, -3],
    [-3, 3],
  ].map(([seller = 0, buyer = 0]) => wrongClocks(battery, seller * HOUR, buyer * HOUR));

/** A redirect of a call gets no voucher, and the agent is told so. */
const redirected = (battery: Battery, status: number, isElsewhere: boolean) => async () => {
  const name = `redirects: ${status} to ${isElsewhere ? "another server" : "the same"}`;
  const reached: Array<string> = [];
  const other = createServer((request, response) => {
    reached.push(request.headers[VOUCHER_HEADER] === undefined ? "without" : "with a voucher");
    response.end("elsewhere");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  let asked = 0;
  const played = await openCase(battery, name, {
    calls: CALLS,
    instead: async ({ target, headers }) => {
      if (target.startsWith("/moved"))
        reached.push(VOUCHER_HEADER in headers ? "with a voucher" : "without");
      if (!target.startsWith("/quotes/3")) return null;
      asked += 1;
      const location = isElsewhere ? `${elsewhere}/quotes/3` : "/moved/3";
      return { status, headers: { location }, body: new Uint8Array() };
    },
  });
  try {
    await played.startSellers();
    await played.run();
    await played.stopSellers();
    const { refused, ended } = played.told();
    if (!refused.includes("redirected"))
      played.faults.push(`the buyer heard ${refused.join(", ") || "no refusal"}, not redirected`);
    if (reached.length > 0) played.faults.push(`the redirect was followed ${reached.join(", ")}`);
    if (asked === 0) played.faults.push("nothing was redirected");
    if (ended?.calls !== 2) played.faults.push(`${ended?.calls} calls were made, not 2`);
    return { name, faults: await played.judge(), said: [...played.proxy.seen, ...played.said] };
  } finally {
    await played.stop();
    other.closeAllConnections();
    other.close();
  }
};

/** Every redirect, to the same server and to another one. */
export const redirectCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> =>
  [301, 302, 303, 307, 308].map((status, n) => redirected(battery, status, n % 2 === 0));

/**
 * The seller signs the end and cannot send it; when it can, its final attestation is too old. It signs the same with a
 * new time, and is paid.
 */
const oldFinal = (battery: Battery) => async () => {
  const name = "old-final: the release comes a day after the final attestation";
  const played = await openCase(battery, name, { calls: CALLS, ttl: THREE_DAYS });
  const deaf = await startSellerProxy({
    sellers: () => [battery.stand.url()],
    killAgent: () => undefined,
    killSeller: () => undefined,
    instead: ({ target }) =>
      Promise.resolve(
        target.startsWith("/v1/relay")
          ? { status: 503, headers: { "retry-after": "1" }, body: new Uint8Array() }
          : null,
      ),
  });
  try {
    await played.startSellers({ SERVICE_URL: deaf.url });
    await played.run({ CLOSE: "0" });
    // The buyer has the seller's final attestation, and ends before it can close the session by itself.
    played.killBuyerAt(({ body }) => body.includes("attestation_signature"));
    await played.runOnce();
    played.killBuyerAt(() => false);
    await played.stopSellers("killed");
    await battery.stand.restart(SKIPPED_DAYS);
    await played.startSellers();
    const { escrow } = played.told();
    await until(
      "the session is released",
      () => battery.stand.escrow(address(escrow ?? "")),
      ({ state }) => state !== "Pending",
      120,
    ).catch((cause: unknown) => played.faults.push(String(cause)));
    await played.stopSellers();
    await played.run();
    requireWhole(played, CALLS, 0);
    const { settledBy } = await battery.stand.escrow(address(escrow ?? ""));
    if (settledBy !== "release") played.faults.push(`it was settled by ${settledBy}`);
    return { name, faults: await played.judge(), said: [...played.proxy.seen, ...played.said] };
  } finally {
    await played.stop();
    await deaf.stop();
  }
};

/** A final attestation that has become old. The stand's ledger skips time, so it is played alone. */
export const oldFinalCases = (battery: Battery): ReadonlyArray<() => Promise<Outcome>> => [
  oldFinal(battery),
];
