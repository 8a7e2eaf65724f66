import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Layer, ManagedRuntime, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { AccountKind, LedgerAccount } from "../../core/domain/ledger/account.ts";
import { Ledger, type ScannedAccounts, type ScanOptions } from "../../ports/ledger/ledger.ts";

/** A ledger with more accounts of a kind than two pages hold. */
export type ScannedWorld = {
  readonly layer: Layer.Layer<Ledger>;
  readonly kind: AccountKind;
  /** Every account of the kind as it is now. */
  readonly accounts: () => ReadonlyMap<Address, Uint8Array>;
  /** Changes some of the accounts in a later slot, and returns that slot. */
  readonly change: () => number;
  /** Whether the scan tells where it can continue. */
  readonly isResumable: boolean;
  /** Whether the nodes know which accounts have changed. */
  readonly tellsChanges: boolean;
  readonly close: () => void;
};

const dataOf = (accounts: Iterable<LedgerAccount>): ReadonlyMap<Address, string> =>
  new Map([...accounts].map(({ address, data }) => [address, data.toHex()]));

/** What every way of scanning a program's accounts must do. */
export const accountScanContract = (name: string, open: () => ScannedWorld): void =>
  describe(`account scan: ${name}`, () => {
    let world: ScannedWorld;
    let runtime: ManagedRuntime.ManagedRuntime<Ledger, never>;
    beforeAll(() => {
      world = open();
      runtime = ManagedRuntime.make(world.layer);
    });
    afterAll(async () => {
      await runtime.dispose();
      world.close();
    });
    const scan = (options?: ScanOptions): Promise<ReadonlyArray<ScannedAccounts>> =>
      runtime.runPromise(
        Ledger.use((ledger) => Stream.runCollect(ledger.programAccounts(world.kind, options))),
      );
    // Large enough for pages, whatever the kind has.
    const expected = () => 20_000n + BigInt(world.accounts().size);
    const all = () =>
      new Map([...world.accounts()].map(([address, data]) => [address, data.toHex()]));
    const flat = (chunks: ReadonlyArray<ScannedAccounts>) => chunks.flatMap(({ value }) => value);

    test("shows every account of the kind once, in chunks of at most 1000, with and without a hint", async () => {
      for (const options of [undefined, { expected: expected() }]) {
        const chunks = await scan(options);
        expect(chunks.every(({ value }) => value.length <= 1000)).toBe(true);
        const accounts = flat(chunks);
        expect(accounts.length).toBe(world.accounts().size);
        expect(dataOf(accounts)).toEqual(all());
      }
    });

    test("tells cursors where it can continue, after each of which comes all that is left", async () => {
      const chunks = await scan({ expected: expected() });
      const cursors = chunks.flatMap(({ next }, at) => (next === undefined ? [] : [{ next, at }]));
      expect(cursors.length > 0).toBe(world.isResumable);
      expect(new Set(cursors.map(({ next }) => next)).size).toBe(cursors.length);
      for (const { next, at } of [...cursors.slice(0, 2), ...cursors.slice(-1)]) {
        const rest = await scan({ expected: expected(), after: next });
        const kept = flat(chunks.slice(0, at + 1));
        expect(dataOf([...kept, ...flat(rest)])).toEqual(all());
        if (at === cursors.at(-1)?.at) expect(flat(rest).length).toBeLessThan(all().size / 2);
      }
    });

    test("shows all for a cursor that it does not know", async () => {
      const accounts = flat(await scan({ expected: expected(), after: "of another node" }));
      expect(dataOf(accounts)).toEqual(all());
    });

    test("shows what was written since a slot, or nothing where no node knows", async () => {
      const before = all();
      const slot = world.change();
      const after = all();
      const changed = [...after].filter(([address, data]) => before.get(address) !== data);
      expect(changed.length).toBeGreaterThan(0);
      const accounts = flat(await scan({ changedSince: BigInt(slot) }));
      expect(dataOf(accounts)).toEqual(new Map(world.tellsChanges ? changed : []));
    });

    test("shows an empty kind as one chunk with a slot", async () => {
      const kind = { ...world.kind, discriminator: Uint8Array.of(1, 1, 1, 1, 1, 1, 1, 1) };
      const chunks = await runtime.runPromise(
        Ledger.use((ledger) =>
          Stream.runCollect(ledger.programAccounts(kind, { expected: expected() })),
        ),
      );
      expect(chunks.every(({ value }) => value.length === 0)).toBe(true);
      expect(chunks[0]?.slot).toBeGreaterThan(0n);
    });
  });
