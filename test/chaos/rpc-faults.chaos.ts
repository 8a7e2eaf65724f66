import { expect, test } from "bun:test";
import { until } from "../app/support/running-service.ts";
import { ChainNode } from "../world/chain-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { type Fault, FAULTS, faultyProxy } from "./support/faults/faulty-proxy.ts";
import { keepReading, serviceOn } from "./support/service-on-node.ts";

const CHAOS_MS = amountOf({ quick: 2_000, long: 20_000 });
const IS_LONG = amountOf({ quick: 0, long: 1 }) === 1;
const P99_MS = 250;

/** Runs a service on a changing world while 30 of 100 requests to its node fail. */
const endure = async (faults: ReadonlyArray<Fault>): Promise<void> => {
  const node = worldOf(400);
  const random = randomOf(faults.join());
  let isFailing = false;
  using proxy = await faultyProxy({
    answer: new ChainNode(node).answer,
    faultOf: () =>
      isFailing && random() < 0.3 ? (faults[Math.floor(random() * faults.length)] ?? null) : null,
  });
  const service = await serviceOn(proxy.url);
  await service.synced();
  isFailing = true;
  const askedBefore = proxy.counts.asked;
  const stopReading = keepReading(`${service.url}/v1/indexer`);
  const untilMs = performance.now() + CHAOS_MS;
  // A machine that is slow enough may come to no fault in that time.
  for (
    let number = 0;
    performance.now() < untilMs || proxy.counts.faults === 0;
    number = (number + 4) % 400
  ) {
    node.slot += 1n;
    const escrow = worldEscrow(number);
    if (node.escrows.get(escrow.address)?.state === "Pending") node.putEscrow(refundedOf(escrow));
    // Live reads share the failing line. They may leave the index's circuit breaker open.
    await service.status(`/v1/escrows/${escrow.address}`);
    await Bun.sleep(10);
  }
  isFailing = false;
  const asked = proxy.counts.asked - askedBefore;
  if (!IS_LONG) proxy.release();
  const stoppedMs = performance.now();
  await service.synced(60);
  const convergedMs = performance.now() - stoppedMs;
  const { reads, p99Ms, statuses } = await stopReading();
  await service.stop();
  await expectIndexOf(service.path, node);
  tell(
    `${faults.join(", ")}: ${proxy.counts.faults} of ${asked} requests failed; converged ` +
      `${Math.round(convergedMs)} ms after; ${reads} reads, p99 ${p99Ms.toFixed(1)} ms`,
  );
  expect(proxy.counts.faults, `seed ${SEED}`).toBeGreaterThan(0);
  expect(statuses, `seed ${SEED}`).toEqual({ 200: reads });
  if (IS_LONG) expect(p99Ms, `seed ${SEED}`).toBeLessThan(P99_MS);
};

const MIXTURES: ReadonlyArray<ReadonlyArray<Fault>> = IS_LONG
  ? [FAULTS, ...FAULTS.map((fault) => [fault])]
  : [FAULTS];

for (const faults of MIXTURES)
  test(
    `the index gets through ${faults.join(", ")}, and what it has is read meanwhile`,
    async () => {
      await endure(faults);
    },
    LONG_MS,
  );

test(
  "only one caller at a time asks a node that is down, however many wait",
  async () => {
    const node = worldOf(20);
    let isDown = false;
    using proxy = await faultyProxy({
      answer: new ChainNode(node).answer,
      faultOf: () => (isDown ? "server_error" : null),
    });
    const service = await serviceOn(proxy.url);
    await service.synced();
    isDown = true;
    const path = `/v1/escrows/${worldEscrow(0).address}`;
    // Requests already on their way when the node goes down do not see the open breaker.
    expect(await service.status(path)).toBe(502);
    await until(
      "those are answered",
      async () => proxy.inFlight.single,
      (left) => left === 0,
    );
    proxy.mostInFlight.single = 0;
    const answers = await Promise.all(Array.from({ length: 100 }, () => service.status(path)));
    expect(new Set(answers)).toEqual(new Set([502]));
    expect(proxy.mostInFlight.single).toBeLessThanOrEqual(1);
    isDown = false;
    await service.synced();
    expect(await service.status(path)).toBe(200);
    await service.stop();
  },
  LONG_MS,
);
