import { rmSync } from "node:fs";
import { join } from "node:path";
import { Clock, Effect, Fiber, Layer, Logger, type Scope } from "effect";
import { TestClock } from "effect/testing";
import { localGenesis } from "../../adapters/local-ledger/genesis/genesis.ts";
import { jsonRpc } from "../../adapters/local-ledger/rpc/json-rpc.ts";
import { rpcMethods } from "../../adapters/local-ledger/rpc/methods/methods.ts";
import { subscriptions } from "../../adapters/local-ledger/rpc/subscriptions/subscriptions.ts";
import { type LocalLedger, openLedger } from "../../adapters/local-ledger/runtime/ledger.ts";
import { temporaryFolder } from "../adapters/local-ledger/ledger-fixture.ts";
import { patientClock } from "../doubles/patient-clock.ts";
import { CallCount } from "./call-count.ts";

/** The address of the node in this process that answers and counts, and that of its WebSocket. */
export const NODE_ADDRESS = new URL("http://counted.invalid/");
export const NODE_SOCKET = new URL("ws://counted.invalid/");
/** When a run begins by its own clock, milliseconds. */
export const BEGINNING_MS = Date.UTC(2026, 0, 1);
/** The slots from `confirmed` to `finalized` on a cluster. */
const FINALITY_SLOTS = 32;

/** What a test has of a node that counts what it is asked. */
export type VirtualTime = {
  /** What the node was asked. */
  readonly calls: CallCount;
  /** How far the clock goes on in one step, milliseconds. */
  stepMs: number;
};

/** A node in this process over a local ledger with the demo data, in virtual time. */
export type VirtualNode = {
  readonly ledger: LocalLedger;
  readonly time: VirtualTime;
  readonly clock: Clock.Clock;
  /** A folder for whatever runs beside it; the run removes it. */
  readonly folder: string;
};

/**
 * Opens WebSockets to the node's address in this process; returns what ends that. What they say is not counted: a
 * provider bills a subscription apart.
 */
const interceptSockets = (ledger: LocalLedger) => {
  const feed = subscriptions(ledger);
  const real = globalThis.WebSocket;
  class VirtualSocket extends EventTarget {
    readyState: number = real.CONNECTING;
    readonly #connection = feed.connect((text) => this.#tell(text));
    readonly #answer = jsonRpc((name) => this.#connection.methods.get(name));

    constructor(address: string | URL) {
      super();
      if (new URL(address).href !== NODE_SOCKET.href) throw new Error("no node is there");
      setImmediate(() => {
        this.readyState = real.OPEN;
        this.dispatchEvent(new Event("open"));
      });
    }
    #tell(data: string): void {
      this.dispatchEvent(new MessageEvent("message", { data }));
    }
    send(text: string): void {
      this.#tell((this.#answer(text) ?? []).join(""));
    }
    close(): void {
      this.readyState = real.CLOSED;
      this.#connection.close();
    }
  }
  globalThis.WebSocket = Object.assign(VirtualSocket, { ...real, OPEN: real.OPEN }) as never;
  return () => {
    globalThis.WebSocket = real;
    feed.stop();
  };
};

/** Answers requests to the node's address in this process, and counts them; returns what ends that. */
const intercept = (ledger: LocalLedger, calls: CallCount) => {
  const methods = rpcMethods(ledger, { holdUntilConfirmed: () => undefined });
  const answer = jsonRpc((name) => methods.get(name));
  const real = globalThis.fetch;
  const counted = async (...[address, init]: Parameters<typeof fetch>): Promise<Response> => {
    const body = init?.body;
    const isOurs = address instanceof URL && address.href === NODE_ADDRESS.href;
    if (!isOurs || typeof body !== "string") return real(address, init);
    const asked = JSON.parse(body) as
      | { readonly method: string }
      | ReadonlyArray<{ method: string }>;
    const text = (answer(body) ?? []).join("");
    for (const { method } of "method" in asked ? [asked] : asked) calls.add(method, text.length);
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  globalThis.fetch = Object.assign(counted, real);
  return () => {
    globalThis.fetch = real;
  };
};

/** Turns of the event loop that files and stores take at most, after a call and at any other time. */
const TURNS_AFTER_CALL = 200;
const QUIET_TURNS = 12;
/** The steps after a call in which its answer may still be worked on. */
const STEPS_AFTER_CALL = 3;

/** Lets everything run that waits for no time. */
const settling = (calls: CallCount) => {
  let asked = -1;
  let stepsLeft = 0;
  return async (): Promise<void> => {
    stepsLeft = Math.max(0, stepsLeft - 1);
    for (;;) {
      const turns = stepsLeft > 0 ? TURNS_AFTER_CALL : QUIET_TURNS;
      for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
      if (asked === calls.all) return;
      asked = calls.all;
      stepsLeft = STEPS_AFTER_CALL;
    }
  };
};

/**
 * Runs what is built over a node in virtual time, and drives it. Time goes on only when nothing but sleeps is under way.
 * A slot takes 400 ms, and finality 32 slots, as on a cluster.
 */
export const withVirtualNode = async <A, E>(
  build: (node: VirtualNode) => Effect.Effect<() => Promise<A>, E, Scope.Scope>,
): Promise<A> => {
  const folder = temporaryFolder();
  const calls = new CallCount();
  const run = Effect.gen(function* () {
    yield* TestClock.setTime(BEGINNING_MS);
    const clock = yield* Clock.Clock;
    const ledger = openLedger({
      directory: join(folder.path, "ledger"),
      genesis: localGenesis({ demo: true }),
      finalitySlots: FINALITY_SLOTS,
      time: { nowMs: () => clock.currentTimeMillisUnsafe() },
    });
    const restore = intercept(ledger, calls);
    yield* Effect.addFinalizer(() => Effect.sync(restore));
    const restoreSockets = interceptSockets(ledger);
    yield* Effect.addFinalizer(() => Effect.sync(restoreSockets));
    const time: VirtualTime = { calls, stepMs: 50 };
    const drive = yield* build({ ledger, time, clock, folder: folder.path });
    const work = yield* Effect.forkChild(Effect.promise(drive), { startImmediately: true });
    const settle = settling(calls);
    while (work.pollUnsafe() === undefined) {
      yield* Effect.promise(settle);
      if (work.pollUnsafe() !== undefined) break;
      yield* TestClock.adjust(time.stepMs);
      // Reading the slot ends the one before it.
      ledger.slots.current();
    }
    return yield* Fiber.join(work);
  });
  try {
    return await Effect.runPromise(
      run.pipe(Effect.scoped, Effect.provide(Layer.merge(patientClock(), Logger.layer([])))),
    );
  } finally {
    rmSync(folder.path, { recursive: true, force: true });
  }
};
