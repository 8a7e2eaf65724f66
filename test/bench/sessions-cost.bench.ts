import { rmSync } from "node:fs";
import { join } from "node:path";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { fileSession } from "../../client/node/index.ts";
import { memorySessionJournal } from "../../client/sessions/agent/memory-journal.ts";
import type { Session } from "../../client/sessions/agent/session.ts";
import { memorySessions, sessionSeller } from "../../client/sessions.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { verifyCall } from "../../core/protocol/verification/verify-call.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { microseconds } from "./support/microseconds.ts";
import { report, sizeOf, times } from "./support/report.ts";
import { AGENT, MERCHANT, sessionWorld } from "./support/session-world.ts";

provideSha256(sha256Bun);

const CALLS = sizeOf({ quick: 300, long: 10_000 });
const SELLERS = sizeOf({ quick: 2, long: 8 });
const CALLS_OF_EACH = sizeOf({ quick: 20, long: 100 });
const PRICE = "0.01";
const TTL = 3600;
/** Lamports a byte: today's rate, and the one that SIMD-0437 arrives at. */
const [RENT_NOW, RENT_LATER] = [6960, 696];

const world = await sessionWorld();

/** Makes calls one after another, and closes. Gives what that took and cost, by the ledger. */
const lifeOf = async (session: Session, url: string, calls: number) => {
  const startMs = performance.now();
  for (let i = 0; i < calls; i++)
    await (await session.call(`${url}/quotes`, { limit: PRICE })).response.bytes();
  const { outcome, refusal, lamports } = await session.close();
  if (outcome !== "settled") throw new Error(`the session is ${outcome}: ${refusal}`);
  const seconds = (performance.now() - startMs) / 1000;
  const kept = Number(lamports.kept);
  return { seconds, kept, ...(await world.costOf(session.escrow)) };
};

/** Lamports that stay on the ledger, at a rate of lamports a byte. */
const keptAt = (kept: number, rate: number): number => (kept * rate) / RENT_NOW;

const tellCost = (
  name: string,
  { kept, fees, calls }: { readonly kept: number; readonly fees: number; readonly calls: number },
  goals: { readonly kept: number; readonly fees: number } | null,
): void => {
  report({
    name: `${name}, kept a call`,
    goal: goals === null ? "" : `<= ${goals.kept} lamports`,
    figure: kept / calls,
    unit: "lamports",
    ratio: `at ${RENT_LATER} a byte ${(keptAt(kept, RENT_LATER) / calls).toFixed(1)}`,
    pass: goals === null ? null : kept / calls <= goals.kept,
  });
  report({
    name: `${name}, fees a call`,
    goal: goals === null ? "" : `<= ${goals.fees} lamports`,
    figure: fees / calls,
    unit: "lamports",
    ratio: "",
    pass: goals === null ? null : fees / calls <= goals.fees,
  });
};
// A store takes no session that is older than itself, by the ledger's clock, which may be seconds behind.
const onDisk = await world.sell(PRICE, join(world.folder, "seller"));

/** A seller of its own, with a merchant of its own, and the cost of one session with it. */
const withSeller = async (number: number) => {
  const keys = await world.register(`seller-${number}`);
  const seller = sessionSeller({
    service: world.url,
    trust: world.trust,
    rpc: world.rpc,
    store: memorySessions(),
    onProblem: ({ code, message }) => process.stderr.write(`${code}: ${message}\n`),
    ...keys,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      seller.handle(request, PRICE, () => Response.json({ symbol: "SOL", price: "1.50" })),
  });
  const opened = await world.client.session({
    merchant: keys.merchant,
    budget: "1.00",
    ttl: TTL,
    signer: AGENT,
    journal: memorySessionJournal(),
  });
  const cost = await lifeOf(opened, server.url.origin, CALLS_OF_EACH);
  await server.stop(true);
  await seller.close();
  return cost;
};
const each = await Promise.all(Array.from({ length: SELLERS }, (_, at) => withSeller(at)));
const calls = SELLERS * CALLS_OF_EACH;
const sum = (values: ReadonlyArray<number>): number => values.reduce((a, b) => a + b, 0);
tellCost(
  `${CALLS_OF_EACH} calls, each of ${SELLERS} sellers`,
  { kept: sum(each.map(({ kept }) => kept)), fees: sum(each.map((one) => one.feeLamports)), calls },
  null,
);

const journal = await fileSession(join(world.folder, "agent"));
const budget = (CALLS / 100).toFixed(2);
const session = await world.client.session({
  merchant: MERCHANT,
  budget,
  ttl: TTL,
  signer: AGENT,
  journal,
});
const one = await lifeOf(session, onDisk.url, CALLS);
report({
  name: `${CALLS} calls at ${PRICE} in one session, synced`,
  goal: "<= 900 s",
  figure: one.seconds,
  unit: "s",
  ratio: `${(CALLS / one.seconds).toFixed(0)} calls/s, one after another`,
  pass: one.seconds <= 900,
});
report({
  name: "its transactions on the ledger",
  goal: "<= 6",
  figure: one.transactions,
  unit: "",
  ratio: "opening, captures, release",
  pass: one.transactions <= 6,
});
// What a session costs does not grow with its calls, so a short run has no goal for each.
const isWhole = CALLS === 10_000;
tellCost(
  `${CALLS} calls`,
  { kept: one.kept, fees: one.feeLamports, calls: CALLS },
  isWhole ? { kept: 160, fees: 8 } : null,
);

const VERIFIED = [1, Math.ceil(CALLS / 2), CALLS];
const proved = await Promise.all(
  VERIFIED.map(async (count) => {
    const text = await session.evidence(count);
    if (verifyCall(text, world.policy).verdict !== "verified")
      throw new Error(`call ${count} is not verified`);
    return { text, packet: JSON.stringify((JSON.parse(text) as { packet: unknown }).packet) };
  }),
);
// A round is of many, so that code is compiled in the first ones.
const took = await microseconds(Array.from({ length: 20 }, () => proved).flat(), {
  call: ({ text }) => verifyCall(text, world.policy),
  packet: ({ packet }) => verifyEvidence(packet, world.policy),
});
const [callMs = Number.NaN, packetMs = Number.NaN] = [took["call"], took["packet"]].map(
  (us) => (us ?? Number.NaN) / 1000,
);
report({
  name: `verify one call of ${CALLS}, offline`,
  goal: "< 5 ms",
  figure: callMs,
  unit: "ms",
  ratio: `${times(callMs, packetMs)} its packet alone`,
  pass: callMs < 5,
});
await journal.release();
await onDisk.stop();

await world.stop();
rmSync(world.folder, { recursive: true });
