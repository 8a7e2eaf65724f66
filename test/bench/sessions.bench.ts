import { rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { fileSession } from "../../client/node/index.ts";
import { memorySessionJournal } from "../../client/sessions/agent/memory-journal.ts";
import type { SessionJournal } from "../../client/sessions/agent/session-journal.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { VOUCHER_HEADER } from "../../core/protocol/calls/call-voucher.ts";
import { cpuSecondsOf } from "./support/child.ts";
import { type Asked, load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";
import { AGENT, MERCHANT, openedIn, sessionWorld } from "./support/session-world.ts";
import { voucherLine } from "./support/voucher-line.ts";

provideSha256(sha256Bun);

const CALLS = sizeOf({ quick: 400, long: 6000 });
/** Calls of each latency that are not counted: code is compiled meanwhile. */
const WARM_UP = sizeOf({ quick: 300, long: 1500 });
const SESSIONS = 8;
const SECONDS = sizeOf({ quick: 2, long: 10 });
const PAYMENTS = sizeOf({ quick: 1, long: 5 });
const PRICE = "0.0001";
const PRICE_UNITS = 100n;
/** A goal of the protocol's. */
const CALLS_A_SECOND = 2500;

const world = await sessionWorld();

const openSession = (journal: SessionJournal) =>
  world.client.session({ merchant: MERCHANT, budget: "0.90", ttl: 3600, signer: AGENT, journal });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
};

const quantilesOf = (tookMs: ReadonlyArray<number>) => {
  const sorted = tookMs.slice(WARM_UP).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
};

/** What payment adds to a call, both sides: in turns with the same answer unpaid, and with a sync of the same disk. */
const addedBy = async (url: string, journal: SessionJournal, disk: FileHandle | null) => {
  const session = await openSession(journal);
  const [unpaid, paid, syncs]: [Array<number>, Array<number>, Array<number>] = [[], [], []];
  const record = new Uint8Array(600);
  for (let i = 0; i < WARM_UP + CALLS; i++) {
    unpaid.push(await timed(async () => (await fetch(`${url}/free`)).bytes()));
    paid.push(
      await timed(async () =>
        (await session.call(`${url}/quotes`, { limit: PRICE })).response.bytes(),
      ),
    );
    if (disk !== null)
      syncs.push(
        await timed(async () => {
          await disk.write(record);
          await disk.datasync();
        }),
      );
  }
  await session.close();
  return { unpaid: quantilesOf(unpaid), paid: quantilesOf(paid), syncs: quantilesOf(syncs) };
};

const tellAdded = (
  name: string,
  { unpaid, paid, syncs }: Awaited<ReturnType<typeof addedBy>>,
  goals: { readonly p50: number; readonly p99: number },
): void => {
  for (const quantile of ["p50", "p99"] as const) {
    const figure = paid[quantile] - unpaid[quantile];
    const sync = Number.isNaN(syncs[quantile]) ? "" : `, a sync ${syncs[quantile].toFixed(2)} ms`;
    report({
      name: `${name}, ${quantile}`,
      goal: `<= ${goals[quantile].toFixed(2)} ms`,
      figure,
      unit: "ms",
      ratio: `unpaid ${unpaid[quantile].toFixed(2)} ms${sync}`,
      pass: figure <= goals[quantile],
    });
  }
};

const inMemory = await world.sell(PRICE);
// A store takes no session that is older than itself, by the ledger's clock, which may be seconds behind.
const onDisk = await world.sell(PRICE, join(world.folder, "seller"));
tellAdded(
  "added by payment, in memory",
  await addedBy(inMemory.url, memorySessionJournal(), null),
  { p50: 0.5, p99: 1.5 },
);

const lines = await Promise.all(
  Array.from({ length: SESSIONS }, async () => {
    const journal = memorySessionJournal();
    const { escrow } = await openSession(journal);
    const { terms, seed } = openedIn(await journal.state(), escrow, world.policy);
    return voucherLine(terms, seed, { url: `${inMemory.url}/quotes`, limit: PRICE_UNITS });
  }),
);
/** Answers a second, by the clock and by the server's own CPU time, whatever else runs on its core. */
const answersBy = async (askedOf: (connection: number) => Asked) => {
  const asked = { connections: SESSIONS, warmUpSeconds: 0 };
  const run = (seconds: number) =>
    load(inMemory.url, (_, connection) => askedOf(connection), { ...asked, seconds });
  await run(SECONDS / 2);
  const before = cpuSecondsOf(inMemory.pid);
  const { answers, perSecond } = await run(SECONDS);
  return { perSecond, perCore: answers / (cpuSecondsOf(inMemory.pid) - before) };
};
const unpaid = await answersBy(() => ({ path: "/free" }));
const signatures = await answersBy(() => ({ path: "/signatures" }));
const paid = await answersBy((connection) => ({
  path: "/quotes",
  headers: { [VOUCHER_HEADER]: lines[connection]?.() ?? "" },
}));
await inMemory.stop();
for (const [name, { perCore }] of [
  ["the same server unpaid", unpaid],
  ["the same, one signature made and verified", signatures],
] as const)
  report({ name, goal: "", figure: perCore, unit: "/s a core", ratio: "", pass: null });
report({
  name: `paid calls in ${SESSIONS} sessions, one process`,
  goal: `>= ${CALLS_A_SECOND}/s a core`,
  figure: paid.perCore,
  unit: "/s a core",
  ratio: `${times(paid.perCore, signatures.perCore)} signatures; ${paid.perSecond.toFixed(0)}/s by the clock`,
  pass: paid.perCore >= CALLS_A_SECOND,
});

const startMs = performance.now();
await Promise.all(
  Array.from({ length: SESSIONS }, async (_, lane) => {
    for (let i = 0; i < PAYMENTS; i++)
      await world.client.pay({
        merchant: MERCHANT,
        amount: "0.01",
        ttl: 3600,
        task: "GET https://api.example.com/quotes",
        nonce: `${lane}-${i}`,
        signer: AGENT,
      });
  }),
);
const payments = (SESSIONS * PAYMENTS) / ((performance.now() - startMs) / 1000);
report({
  name: `single payments, ${SESSIONS} at once`,
  goal: "calls >= 100x",
  figure: payments,
  unit: "/s",
  ratio: `calls ${times(paid.perSecond, payments)}`,
  pass: paid.perSecond >= 100 * payments,
});

const disk = await open(join(world.folder, "yardstick"), "a");
const journal = await fileSession(join(world.folder, "agent"));
const kept = await addedBy(onDisk.url, journal, disk);
tellAdded("added by payment, synced on both sides", kept, {
  p50: 1 + kept.syncs.p50,
  p99: 2 + 2 * kept.syncs.p99,
});
await journal.release();
await disk.close();
await onDisk.stop();
await world.stop();
rmSync(world.folder, { recursive: true });
