import { afterEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Fiber, Layer, Stream } from "effect";
import { TestClock } from "effect/testing";
import { ledgerSignalsYellowstone } from "../../../adapters/yellowstone/ledger-signals-yellowstone.ts";
import { addressToBytes } from "../../../core/domain/address.ts";
import { LedgerSignals } from "../../../ports/ledger/ledger-signals.ts";
import { WATCHED } from "../../contracts/ledger-signals.ts";
import { listenTo } from "../../contracts/signal-listener.ts";
import { type GeyserServerOptions, startGeyserServer } from "./geyser-server.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const started = async (options: GeyserServerOptions = {}) => {
  const server = await startGeyserServer(options);
  opened.push(server.stop);
  return server;
};

const listening = async (options: GeyserServerOptions = {}, tokenFile: string | null = null) => {
  const server = await started(options);
  const source = { url: server.url, tokenFile, programs: WATCHED };
  const listener = listenTo(ledgerSignalsYellowstone(source));
  opened.push(listener.stop);
  return { server, listener };
};

const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), "yellowstone-"));
  opened.push(() => rm(folder, { recursive: true }));
  return folder;
};

test("it subscribes at finalized to the programs' accounts without data, transactions and slots", async () => {
  const { server } = await listening();
  await server.until(() => server.subscriptions().length === 1);
  expect(server.subscriptions()[0]).toMatchObject({
    accounts: { accounts: { owner: [...WATCHED] } },
    accounts_data_slice: [{ offset: "0", length: "0" }],
    transactions_status: {
      "transactions-0": { vote: false, failed: false, account_include: [WATCHED[0]] },
      "transactions-1": { vote: false, failed: false, account_include: [WATCHED[1]] },
    },
    slots: { slots: { filter_by_commitment: true } },
    commitment: "FINALIZED",
  });
  expect(server.subscriptions()[0]?.from_slot).toBeUndefined();
});

test("it resumes a lost stream from the slot that it heard last", async () => {
  const { server, listener } = await listening();
  await listener.until(() => listener.heard.length === 1);
  server.push({ filters: ["slots"], slot: { slot: "41" } });
  server.push({ filters: ["slots"], slot: { slot: "42" } });
  server.push({ filters: [], ping: {} });
  await server.until(() => server.requests.filter(({ ping }) => ping).length === 2);
  server.drop();
  // This server ignores the slot. The signal makes a sync look for what was missed.
  await listener.until(() => listener.heard.length === 2);
  expect(server.subscriptions().map((one) => one.from_slot)).toEqual([undefined, "42"]);
});

test("a server that refuses the slot is asked without one", async () => {
  const { server, listener } = await listening({ refusesSlots: true });
  await listener.until(() => listener.heard.length === 1);
  server.push({ filters: ["slots"], slot: { slot: "18446744073709551615" } });
  server.push({ filters: [], ping: {} });
  await server.until(() => server.requests.filter(({ ping }) => ping).length === 2);
  server.drop();
  await server.until(() => server.subscriptions().length === 3);
  expect(server.subscriptions().map((one) => one.from_slot)).toEqual([
    undefined,
    "18446744073709551615",
    undefined,
  ]);
});

test("a refused token is read from its file again, so that a corrected one is taken", async () => {
  const tokenFile = join(await temporaryFolder(), "token");
  await Bun.write(tokenFile, "wrong\n");
  const { server, listener } = await listening({ token: "right" }, tokenFile);
  await server.until(() => server.requests.length > 0);
  expect(listener.heard).toEqual([]);
  await Bun.write(tokenFile, "right\n");
  await listener.until(() => listener.heard.length === 1);
  expect(server.open()).toBe(1);
});

test.each(["", "two words", "zeile\u0000"])(
  "a token file of %j connects to nothing until it holds a token",
  async (content) => {
    const tokenFile = join(await temporaryFolder(), "token");
    await Bun.write(tokenFile, content);
    const server = await started({ token: "right" });
    const source = { url: server.url, tokenFile, programs: WATCHED };
    const run = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        LedgerSignals.use(({ changes }) => Stream.runHead(changes)),
      );
      yield* TestClock.adjust("10 minutes");
      expect(server.requests).toEqual([]);
      yield* Effect.promise(() => Bun.write(tokenFile, "right"));
      for (;;) {
        yield* TestClock.adjust("1 minute");
        if (fiber.pollUnsafe() !== undefined) return yield* Fiber.join(fiber);
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
      }
    });
    const layer = Layer.provideMerge(ledgerSignalsYellowstone(source), patientClock());
    const head = await Effect.runPromise(Effect.provide(run, layer));
    expect(head._tag).toBe("Some");
  },
);

test("a server that answers nothing for 30 s is left and tried again", async () => {
  const server = await started({ isMute: () => server.subscriptions().length < 2 });
  const source = { url: server.url, tokenFile: null, programs: WATCHED };
  const run = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(
      LedgerSignals.use(({ changes }) => Stream.runHead(changes)),
    );
    yield* Effect.promise(() => server.until(() => server.subscriptions().length === 1));
    yield* TestClock.adjust("29 seconds");
    expect(server.open()).toBe(1);
    yield* TestClock.adjust("2 seconds");
    yield* Effect.promise(() => server.until(() => server.subscriptions().length === 2));
    expect((yield* Fiber.join(fiber))._tag).toBe("Some");
  });
  const layer = Layer.provideMerge(ledgerSignalsYellowstone(source), patientClock());
  await Effect.runPromise(Effect.provide(run, layer));
});

test("an account's change is told by its transaction; loads and other owners' accounts are none", async () => {
  const { server, listener } = await listening();
  await listener.until(() => listener.heard.length === 1);
  const txn_signature = new Uint8Array(64).fill(9);
  const account = (owner: Uint8Array, extra = {}) =>
    server.push({
      filters: ["accounts"],
      account: { slot: "7", account: { owner, txn_signature }, ...extra },
    });
  account(addressToBytes(WATCHED[0]), { is_startup: true });
  account(new Uint8Array(32).fill(3));
  account(addressToBytes(WATCHED[1]));
  await listener.until(() => listener.told().length > 0);
  expect(listener.heard).toEqual([
    null,
    expect.objectContaining({ slot: 7n, names: WATCHED[1] }) as never,
  ]);
});

test("updates of the wrong shape are signals of no certain transaction", async () => {
  const { server, listener } = await listening();
  await listener.until(() => listener.heard.length === 1);
  const filters = ["transactions-0"];
  server.push({ filters, transaction_status: { slot: "7", signature: new Uint8Array(3) } });
  server.push({ filters, transaction_status: { signature: new Uint8Array(64) } });
  server.push({ filters: ["transactions-9"], transaction_status: {} });
  server.push({ filters: ["accounts"], account: {} });
  await listener.until(() => listener.heard.length === 5);
  expect(listener.told()).toEqual([]);
});
