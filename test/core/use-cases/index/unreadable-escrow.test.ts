import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { changed, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";
import { rootOf } from "../../../../core/log/tree/frontier.ts";

const [lives] = fc.sample(escrowLives(3, 3), { numRuns: 1, seed: 5 });
const [[first], [second], [third]] = (lives ?? []) as unknown as [[Escrow], [Escrow], [Escrow]];
/** The ledger has it, and the decoder refuses it. */
const unreadable: Escrow = { ...second, amount: 0n };
const settled: Escrow = {
  ...unreadable,
  state: "Refunded",
  settledAt: unreadable.expiresAt,
  settledBy: "refund",
};

test.each(["the first sync", "a later sync"])(
  "an escrow that cannot be read is a row without fields for %s, and stops nothing",
  async (which) => {
    const ledger = new WeatheredChain(seededRandom(1));
    ledger.create([first]);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      if (which === "a later sync") yield* syncWith(memory);
      ledger.slot += 1n;
      ledger.create([unreadable]);
      ledger.create([third]);
      ledger.slot += 1n;
      const report = yield* syncWith(memory);
      expect(report).toMatchObject({
        count: 3n,
        unseen: 1,
        rejected: [{ address: second.address, fault: "amount_out_of_range" }],
      });
      expect(yield* index.writer.unseen(10, 0n)).toMatchObject([
        { address: second.address, state: "Pending", createdSeq: 2n, settledSeq: null },
      ]);
      expect((yield* index.log.leaves(1n, 10)).length).toBe(3);
      const { mark } = yield* index.reader.summary;
      expect(mark && rootOf(mark)).toBe(ledger.rootAt(3n) ?? null);
      ledger.slot += 1n;
      ledger.settle(settled);
      expect(yield* syncWith(memory)).toMatchObject({ count: 4n, unseen: 1 });
      expect(yield* index.writer.unseen(10, 0n)).toMatchObject([
        { address: second.address, state: "Refunded", createdSeq: 2n, settledSeq: 4n },
      ]);
      const later = (yield* index.reader.summary).mark;
      expect(later && rootOf(later)).toBe(ledger.rootAt(4n) ?? null);
    });
  },
);

test.each(["the first sync", "a later sync"])(
  "a stranger's account with a number of its own choice becomes no row, at %s",
  async (which) => {
    const ledger = new WeatheredChain(seededRandom(1));
    ledger.create([first]);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      if (which === "a later sync") yield* syncWith(memory);
      ledger.slot += 1n;
      ledger.create([third]);
      ledger.plant(
        second.address,
        encodeEscrowAccount({ ...unreadable, createdSeq: 2n, settledSeq: null }),
      );
      ledger.slot += 1n;
      expect(yield* syncWith(memory)).toMatchObject({ count: 2n, unseen: 0 });
      expect((yield* index.reader.escrows({}, 10, null)).length).toBe(2);
      // Also where the node hides the escrow that has the number.
      const lies = new Map([[third.address, () => null]]);
      const fresh = syncWith(new SyncMemory()).pipe(
        Effect.provideService(Ledger, lying(ledger.port, lies)),
      );
      ledger.slot += 1n;
      yield* fresh;
      expect(yield* index.writer.unseen(10, 0n)).toEqual([]);
    });
  },
);

test("a stranger's account does not stand for an escrow that the node hides", async () => {
  const ledger = new WeatheredChain(seededRandom(1));
  ledger.create([first]);
  ledger.create([third]);
  ledger.plant(
    second.address,
    encodeEscrowAccount({ ...unreadable, createdSeq: 2n, settledSeq: null }),
  );
  await simulate(ledger, function* (index) {
    const lies = new Map([[third.address, () => null]]);
    const sync = syncWith(new SyncMemory()).pipe(
      Effect.provideService(Ledger, lying(ledger.port, lies)),
    );
    expect(yield* Effect.flip(sync)).toMatchObject({
      cause: "the events 1 to 2 do not give the root that the custody program has",
    });
    expect((yield* index.reader.summary).mark).toBeNull();
    expect(yield* syncWith(new SyncMemory())).toMatchObject({ count: 2n, unseen: 0 });
  });
});

test("an account of another version, of which no leaf can be made, stops the sync and is named", async () => {
  const ledger = new WeatheredChain(seededRandom(1));
  ledger.create([first]);
  ledger.create([second]);
  await simulate(ledger, function* () {
    const lies = new Map([
      [
        second.address,
        (account: Parameters<typeof changed>[0]) =>
          changed(account, (data) => (data[CUSTODY_ACCOUNTS.Escrow.at.version] = 9)),
      ],
    ]);
    const sync = syncWith(new SyncMemory()).pipe(
      Effect.provideService(Ledger, lying(ledger.port, lies)),
    );
    expect(yield* Effect.flip(sync)).toMatchObject({
      cause: `1 of the custody program's events are missing, the first of them 2; accounts that cannot be read: ${second.address} (unknown_version)`,
    });
  });
});
