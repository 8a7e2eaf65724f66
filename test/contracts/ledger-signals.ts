import { afterEach, describe, expect, test } from "bun:test";
import type { Layer } from "effect";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { LedgerSignals, ToldTransaction } from "../../ports/ledger/ledger-signals.ts";
import { listenTo } from "./signal-listener.ts";

/** The addresses that a source under test watches. */
export const WATCHED: readonly [Address, Address] = [
  addressFromBytes(new Uint8Array(32).fill(1)),
  addressFromBytes(new Uint8Array(32).fill(2)),
];

/** More than any source may hold for a reader that does not come. */
const FLOOD = 5000;

/** A fake server of a source's protocol. */
export type SignalServer = {
  /** A source that listens to this server and watches `WATCHED`. */
  readonly layer: Layer.Layer<LedgerSignals>;
  /** Resolves once `count` connections have subscribed completely, those that are lost included. */
  readonly subscribed: (count: number) => Promise<void>;
  readonly tell: (told: ToldTransaction, failed: boolean) => void;
  /** Sends messages that are none of the protocol. */
  readonly pushGarbage: () => void;
  /** Ends all connections. */
  readonly drop: () => void;
  /** Resolves once the source has handled what was sent before. */
  readonly handled: () => Promise<void>;
  /** Resolves once no source is connected. */
  readonly left: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** A transaction of a number from 0 to 65,535 that names the first or the second watched address. */
const transaction = (n: number, names = WATCHED[0]): ToldTransaction => ({
  signature: ledgerSignatureFromBytes(
    new Uint8Array(64)
      .fill(7)
      .with(0, n >> 8)
      .with(1, n % 256),
  ),
  slot: BigInt(1000 + n),
  names,
});

/** What every source of ledger signals must do. `start` starts a fake server on a free port. */
export const ledgerSignalsContract = (name: string, start: () => Promise<SignalServer>): void =>
  describe(`LedgerSignals: ${name}`, () => {
    const opened: Array<() => Promise<unknown>> = [];
    afterEach(async () => {
      for (const close of opened.splice(0).toReversed()) await close();
    });
    const listening = async () => {
      const server = await start();
      opened.push(server.stop);
      const listener = listenTo(server.layer);
      opened.push(listener.stop);
      await server.subscribed(1);
      await listener.until(() => listener.heard.length > 0);
      return { server, listener };
    };

    test("a connection is a signal of no certain transaction", async () => {
      const { listener } = await listening();
      expect(listener.heard).toEqual([null]);
    });

    test("a transaction is told with its slot and the watched address that it names", async () => {
      const { server, listener } = await listening();
      server.tell(transaction(1, WATCHED[0]), false);
      server.tell(transaction(2, WATCHED[1]), false);
      await listener.until(() => listener.heard.length === 3);
      expect(listener.told()).toEqual([transaction(1, WATCHED[0]), transaction(2, WATCHED[1])]);
    });

    test("a transaction that failed is no signal", async () => {
      const { server, listener } = await listening();
      server.tell(transaction(1), true);
      server.tell(transaction(2), false);
      await listener.until(() => listener.told().length > 0);
      expect(listener.heard).toEqual([null, transaction(2)]);
    });

    test("garbage tells of no transaction, and the next message is heard", async () => {
      const { server, listener } = await listening();
      server.pushGarbage();
      server.tell(transaction(3), false);
      await listener.until(() => listener.told().length > 0);
      expect(listener.told()).toEqual([transaction(3)]);
    });

    test("it comes back after a lost connection, signals that, and hears on", async () => {
      const { server, listener } = await listening();
      server.drop();
      await listener.until(() => listener.heard.length === 2);
      await server.subscribed(2);
      server.tell(transaction(4), false);
      await listener.until(() => listener.told().length > 0);
      expect(listener.heard).toEqual([null, null, transaction(4)]);
    });

    test("a reader that does not come costs bounded memory, and hears on when it comes", async () => {
      const { server, listener } = await listening();
      listener.hold();
      for (let n = 0; n < FLOOD; n++) server.tell(transaction(n), false);
      await server.handled();
      listener.release();
      await listener.until(() => listener.told().length >= 1000);
      server.tell(transaction(FLOOD), false);
      await listener.until(() => listener.told().at(-1)?.slot === transaction(FLOOD).slot);
      expect(listener.told().length).toBeLessThan(FLOOD / 2);
    });

    test("a reader that stops leaves no connection", async () => {
      const { server, listener } = await listening();
      await listener.stop();
      await server.left();
    });
  });
