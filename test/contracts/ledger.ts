import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Effect, Exit, ManagedRuntime, Stream } from "effect";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import { Ledger, MOST_DATA_BYTES } from "../../ports/ledger/ledger.ts";
import type { LedgerWorld } from "./ledger-world.ts";

const byAddress = (accounts: ReadonlyArray<LedgerAccount>) =>
  [...accounts].sort((a, b) => (a.address < b.address ? -1 : 1));

/** What every Ledger must do, tested on a real ledger. */
export const ledgerContract = (name: string, open: () => LedgerWorld): void =>
  describe(`Ledger: ${name}`, () => {
    let world: LedgerWorld;
    let runtime: ManagedRuntime.ManagedRuntime<Ledger | Broadcaster, never>;
    beforeAll(() => {
      world = open();
      runtime = ManagedRuntime.make(world.layer);
    });
    afterAll(async () => {
      await runtime.dispose();
      await world.close();
    });
    const ask = <A, E>(use: (ledger: Ledger["Service"]) => Effect.Effect<A, E>): Promise<A> =>
      runtime.runPromise(Ledger.use(use));

    test("names its ledger", async () => {
      expect(await ask((ledger) => ledger.genesisHash)).toBe(world.genesisHash);
    });

    test("the finalized tip is not above the confirmed one, and neither goes back", async () => {
      const before = await ask((ledger) => ledger.tip("confirmed"));
      const finalized = await ask((ledger) => ledger.tip("finalized"));
      world.finalize();
      const after = await ask((ledger) => ledger.tip("finalized"));
      const confirmed = await ask((ledger) => ledger.tip("confirmed"));
      expect(after.slot).toBeGreaterThan(finalized.slot);
      expect(confirmed.slot).toBeGreaterThanOrEqual(after.slot);
      expect(confirmed.slot).toBeGreaterThanOrEqual(before.slot);
      for (const { slot, blockHeight } of [before, finalized, after, confirmed]) {
        expect(blockHeight).toBeLessThanOrEqual(slot);
      }
    });

    test("reads accounts exactly, in the order asked for, null for a missing one", async () => {
      const { known, program } = world;
      const other = program.accounts[0];
      if (other === undefined) throw new Error("the program owns nothing");
      const addresses = [other.address, world.unused(), known.address, other.address];
      const read = await ask((ledger) => ledger.readAccounts(addresses, "finalized"));
      expect(read.value).toEqual([other, null, known, other]);
      expect(known.lamports).toBeGreaterThan(2n ** 53n);
      expect(read.slot).toBeGreaterThan(0n);
    });

    test("reads a hundred accounts at once, or none", async () => {
      const hundred = world.program.accounts.slice(0, 100);
      const addresses = hundred.map(({ address }) => address);
      const read = await ask((ledger) => ledger.readAccounts(addresses, "confirmed"));
      expect(read.value).toEqual(hundred);
      expect((await ask((ledger) => ledger.readAccounts([], "confirmed"))).value).toEqual([]);
    });

    test("dies on more than a hundred", async () => {
      const many = Array.from({ length: 101 }, world.unused);
      const exit = await runtime.runPromiseExit(
        Ledger.use((ledger) => ledger.readAccounts(many, "confirmed")),
      );
      expect(Exit.hasDies(exit)).toBe(true);
    });

    test("cuts data at the default length, at the caller's, or nowhere", async () => {
      const { long, known } = world;
      const dataOf = async (...most: ReadonlyArray<number>) => {
        const addresses = [long.address, known.address];
        const read = await ask((ledger) => ledger.readAccounts(addresses, "finalized", ...most));
        return read.value.map((account) => account?.data);
      };
      expect(long.data.length).toBeGreaterThan(MOST_DATA_BYTES);
      expect(await dataOf()).toEqual([long.data.slice(0, MOST_DATA_BYTES), known.data]);
      expect(await dataOf(2)).toEqual([long.data.slice(0, 2), known.data.slice(0, 2)]);
      expect(await dataOf(Number.POSITIVE_INFINITY)).toEqual([long.data, known.data]);
    });

    test("returns every account of a kind once and no other, in chunks of one slot", async () => {
      const { kind, accounts, others } = world.program;
      expect(others.some(({ data }) => data.length === kind.length)).toBe(true);
      const chunks = await ask((ledger) => Stream.runCollect(ledger.programAccounts(kind)));
      expect(chunks.length).toBeGreaterThan(1);
      expect(new Set(chunks.map(({ slot }) => slot)).size).toBe(1);
      for (const { value } of chunks) expect(value.length).toBeLessThanOrEqual(1000);
      const all = chunks.flatMap(({ value }) => value);
      expect(byAddress(all)).toEqual(byAddress(accounts));
    });

    test("returns a slot for a program without accounts", async () => {
      const chunks = await ask((ledger) =>
        Stream.runCollect(
          ledger.programAccounts({ ...world.program.kind, program: world.idleProgram }),
        ),
      );
      expect(chunks).toEqual([{ slot: expect.any(BigInt), value: [] }]);
    });

    test("lists the transactions of an address, newest first, and shows each with its accounts", async () => {
      const to = world.unused();
      const signatures = [];
      for (const lamports of [2_000_000n, 2_000_001n, 2_000_002n]) {
        const { transaction, signature } = world.transfer({
          to,
          lamports,
          blockhash: world.blockhash(),
        });
        await runtime.runPromise(Broadcaster.use((broadcaster) => broadcaster.submit(transaction)));
        signatures.unshift(signature);
      }
      expect((await ask((ledger) => ledger.history(to, null))).entries).toEqual([]);
      world.finalize();
      const { entries, keptFrom } = await ask((ledger) => ledger.history(to, null));
      expect(entries.map(({ signature }) => signature)).toEqual(signatures);
      expect(entries.every(({ failed }) => !failed)).toBe(true);
      expect(keptFrom).toBe(0n);
      const [newest] = entries;
      if (newest === undefined) throw new Error("nothing listed");
      const older = await ask((ledger) => ledger.history(to, newest.signature));
      expect(older.entries).toEqual(entries.slice(1));
      const shown = await ask((ledger) => ledger.transaction(newest.signature));
      expect(shown).toMatchObject({ ...newest, failed: false });
      expect(shown?.accounts).toContain(to);
      expect(shown?.signers.size).toBe(1);
      expect(shown?.signers.has(to)).toBe(false);
      expect(shown?.instructions).toEqual([
        {
          program: SYSTEM_PROGRAM,
          accounts: [...(shown?.signers ?? []), to],
          // The System program's Transfer, number 2, and the amount, both little-endian.
          data: Uint8Array.of(2, 0, 0, 0, 0x82, 0x84, 0x1e, 0, 0, 0, 0, 0),
        },
      ]);
    });

    test("returns nothing for a transaction that was never sent, and nothing after it", async () => {
      const { known } = world;
      const { signature } = world.transfer({
        to: known.address,
        lamports: 1n,
        blockhash: world.blockhash(),
      });
      expect(await ask((ledger) => ledger.transaction(signature))).toBeNull();
      const page = await ask((ledger) => ledger.history(known.address, signature));
      expect(page.entries).toEqual([]);
    });

    test("shows a transfer to finalized readers once its slot is finalized, and not before", async () => {
      const to = world.unused();
      const { transaction } = world.transfer({
        to,
        lamports: 2_000_000n,
        blockhash: world.blockhash(),
      });
      await runtime.runPromise(Broadcaster.use((broadcaster) => broadcaster.submit(transaction)));
      const read = () => ask((ledger) => ledger.readAccounts([to], "finalized"));
      const before = await read();
      world.finalize();
      const after = await read();
      expect(before.value).toEqual([null]);
      expect(after.value[0]?.lamports).toBe(2_000_000n);
      expect(after.slot).toBeGreaterThan(before.slot);
    });
  });
