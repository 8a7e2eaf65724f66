import { expect } from "bun:test";
import { dirname } from "node:path";
import { Webhook } from "standardwebhooks";
import { runCommand } from "../../../../app/command-line/command-line.ts";
import { main } from "../../../../app/commands/webhook.ts";
import { runHere } from "../../../app/support/run-here.ts";
import { startShortLivedService } from "../../../app/support/service-process.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { freshPath, randomOf, SEED, tell } from "../chaos-run.ts";
import { growingChain } from "../growing-chain.ts";
import { environmentOn } from "../service-environment.ts";

const FIRST_ESCROWS = 40;
/** The longest that the receiver takes for a request, milliseconds, and the share of requests that it refuses. */
const SLOWEST_MS = 30;
const REFUSED = 0.02;

type Told = {
  readonly data: { readonly event: { readonly position: number; readonly escrow_pda: string } };
};

/** A receiver that is slow and sometimes refuses. `took` completes when it has taken that many requests in all. */
const slowReceiver = (random: () => number) => {
  const taken: Array<{ readonly position: number; readonly escrow: string }> = [];
  let check: Webhook | null = null;
  let waiting: { readonly count: number; readonly done: () => void } | null = null;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const body = await request.text();
      await Bun.sleep(Math.floor(random() * SLOWEST_MS));
      if (random() < REFUSED) return new Response(null, { status: 500 });
      check?.verify(body, request.headers.toJSON());
      const { position, escrow_pda: escrow } = (JSON.parse(body) as Told).data.event;
      taken.push({ position, escrow });
      if (waiting !== null && taken.length >= waiting.count) waiting.done();
      return new Response(null, { status: 204 });
    },
  });
  return {
    taken,
    url: `http://127.0.0.1:${server.port}/`,
    believe: (secret: string): void => {
      check = new Webhook(secret);
    },
    took: (count: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = { count, done: resolve };
      if (taken.length >= count) resolve();
      return promise;
    },
    stop: () => server.stop(true),
  };
};

type Plan = {
  readonly kills: number;
  /** Services that share the webhooks. */
  readonly replicas: number;
  /** Settings that they have beside their own. */
  readonly shared: Readonly<Record<string, string>>;
};

/**
 * Has services deliver the events of a growing ledger, and kills one after the other with SIGKILL. Fails when an event
 * is lost, or comes before an earlier one of its escrow.
 */
export const killDeliveries = async ({ kills, replicas, shared }: Plan): Promise<void> => {
  const random = randomOf("webhooks");
  const below = (n: number): number => Math.floor(random() * n);
  const { chain, grow } = growingChain(FIRST_ESCROWS, below);
  using node = serveNode(new ChainNode(chain).answer);
  const receiver = slowReceiver(random);
  const environments = Array.from({ length: replicas }, (_, number) => ({
    ...environmentOn(node.url, dirname(freshPath(`replica ${number}`))),
    ...shared,
  }));
  const { code, stdout } = await runHere(
    (io) => runCommand(main, ["add", receiver.url, "--from", "1"], io),
    { env: { DATA_DIR: environments[0]?.DATA_DIR ?? "", ...shared } },
  );
  expect(code).toBe(0);
  receiver.believe(/whsec_\S+/.exec(stdout)?.[0] ?? "");

  const services = environments.map((env) => startShortLivedService(env));
  for (let kill = 0; kill < kills; kill++) {
    await receiver.took(receiver.taken.length + 1 + below(40));
    await Bun.sleep(below(2 * SLOWEST_MS));
    const which = below(replicas);
    const [service, env] = [services[which], environments[which]];
    if (service === undefined || env === undefined) throw new Error("there are as many as planned");
    service.kill("SIGKILL");
    await service.ended;
    grow();
    services[which] = startShortLivedService(env);
  }
  const count = Number(chain.custodyLog.count);
  const missing = (): number =>
    count - new Set(receiver.taken.map(({ position }) => position)).size;
  while (missing() > 0) await receiver.took(receiver.taken.length + missing());
  for (const service of services) service.kill("SIGTERM");
  await Promise.all(services.map(({ ended }) => ended));
  await receiver.stop();

  const when = `seed ${SEED}`;
  const positions = receiver.taken.map(({ position }) => position);
  expect(
    [...new Set(positions)].sort((a, b) => a - b),
    when,
  ).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  for (const those of Map.groupBy(receiver.taken, ({ escrow }) => escrow).values()) {
    const first = [...new Set(those.map(({ position }) => position))];
    expect(first, when).toEqual(first.toSorted((a, b) => a - b));
  }
  const repeated = positions.length - count;
  tell(`${kills} kills, ${count} events, none lost or out of order, ${repeated} came again`);
};
