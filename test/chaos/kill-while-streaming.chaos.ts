import { expect, test } from "bun:test";
import { dirname } from "node:path";
import { jetstreamManager, type StoredMsg } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { address, addressToBytes } from "../../core/domain/address.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { eventLeafOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { NatsServer } from "../adapters/nats/nats-server.ts";
import { startShortLivedService } from "../app/support/service-process.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { ChainNode } from "../world/chain-node.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { growingChain } from "./support/growing-chain.ts";
import { environmentOn } from "./support/service-environment.ts";

const FIRST_ESCROWS = 40;
/** Services with one log's key, each on files of its own: two that fill one stream. */
const SERVICES = 2;
/** Every fourth kill hits the server; the others hit a service. */
const ONE_OF_SERVER = 4;
/** The most messages before a kill: each time the log grows by as many at least. */
const MOST_HEARD = 20;
/** How long behind a message a kill comes at most, milliseconds: a service sends the next one within one. */
const LATEST_MS = 4;

const LOG_NAME = "log.example";
/** What the subjects of its messages begin with. */
const SUBJECTS = "log_example_log_";

/** What is sent to the server's only stream, and what it keeps. */
const watch = async (server: NatsServer) => {
  const connection = await connect({
    servers: server.address,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
  let waiting: { readonly count: number; readonly done: () => void } | null = null;
  let heard = 0;
  connection.subscribe(">", {
    callback: (_, { subject }) => {
      if (!subject.startsWith(SUBJECTS)) return;
      heard += 1;
      if (waiting !== null && heard >= waiting.count) waiting.done();
    },
  });
  const { streams } = await jetstreamManager(connection);
  return {
    /** Completes once `more` further messages were sent, whether the server took them or not. */
    sent: (more: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = { count: heard + more, done: resolve };
      return promise;
    },
    /** Completes once it hears the server again that was killed. */
    hears: async (): Promise<void> => {
      const answers = () =>
        connection.rtt().then(
          () => true,
          () => false,
        );
      while (!(await answers())) await Bun.sleep(20);
    },
    size: async (): Promise<number> => {
      const names = await streams.names().next();
      expect(names.length).toBeLessThanOrEqual(1);
      return names[0] === undefined ? 0 : (await streams.info(names[0])).state.last_seq;
    },
    read: async (size: number): Promise<ReadonlyArray<StoredMsg | null>> => {
      const [name = ""] = await streams.names().next();
      const messages: Array<StoredMsg | null> = [];
      for (let seq = 1; seq <= size; seq++) messages.push(await streams.getMessage(name, { seq }));
      return messages;
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
};

test(
  "services and a NATS server that are killed leave a stream that is the log, leaf for leaf",
  async () => {
    const kills = amountOf({ quick: 4, long: 50 });
    const random = randomOf("streams");
    const below = (n: number): number => Math.floor(random() * n);
    const { chain, grow } = growingChain(FIRST_ESCROWS, below);
    using node = serveNode(new ChainNode(chain).answer);
    await using server = await NatsServer.start();
    await using stream = await watch(server);
    const key = Buffer.from(Array.from({ length: 32 }, () => below(256))).toString("base64");
    const environments = Array.from({ length: SERVICES }, (_, number) => ({
      ...environmentOn(node.url, dirname(freshPath(`service ${number}`))),
      LOG_NAME,
      LOG_SIGNING_KEY: key,
      NATS_URL: `nats://${server.address}`,
    }));
    const services = environments.map((env) => startShortLivedService(env));
    for (let kill = 0; kill < kills; kill++) {
      await stream.sent(1 + below(MOST_HEARD));
      await Bun.sleep(below(LATEST_MS));
      const which = below(SERVICES);
      const [service, env] = [services[which], environments[which]];
      if (service === undefined || env === undefined) throw new Error("there are as many");
      const isOfServer = kill % ONE_OF_SERVER === ONE_OF_SERVER - 1;
      if (isOfServer) {
        await server.kill();
        await server.begin();
        // What was sent meanwhile was not heard; there is enough of what comes next.
        await stream.hears();
        grow();
      } else {
        service.kill("SIGKILL");
        await service.ended;
        grow();
        services[which] = startShortLivedService(env);
      }
    }
    const size = Number(chain.custodyLog.count) + 1;
    // A server that has just begun again may not answer yet.
    while ((await stream.size().catch(() => 0)) < size) await Bun.sleep(100);
    for (const service of services) service.kill("SIGTERM");
    await Promise.all(services.map(({ ended }) => ended));

    const when = `seed ${SEED}`;
    expect(await stream.size(), when).toBe(size);
    const messages = await stream.read(size);
    const leaves = [
      networkLeaf(address(chain.genesisHash), LOCAL_DEPLOYMENT.custodyProgram),
      ...chain.custodyLog.events.map(({ state, address, data }) =>
        eventLeafOf(state, addressToBytes(address), sha256(data)),
      ),
    ];
    const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");
    expect(
      messages.map((message) => hex(message?.data)),
      when,
    ).toEqual(leaves.map(hex));
    const ids = messages.map((message) => message?.header.get("Nats-Msg-Id") ?? "");
    expect(
      ids.every((id, index) => id.endsWith(`/0/${index}`)),
      when,
    ).toBe(true);
    const ofServer = Math.floor(kills / ONE_OF_SERVER);
    tell(`${kills} kills, ${ofServer} of the server: ${size} leaves, each in its place once`);
  },
  4 * LONG_MS,
);
