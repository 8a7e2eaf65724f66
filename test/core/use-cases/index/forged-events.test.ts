import { expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import {
  checkEscrowAccount,
  decodeEscrowAccount,
  ESCROW_ACCOUNT_LENGTH,
  pendingEscrowBytes,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { escrowSeeds } from "../../../../core/protocol/addresses/addresses.ts";
import { programDerivedAddressAt } from "../../../../core/protocol/addresses/program-derived-address.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { expectMarked } from "./expect-marked.ts";
import { changed, type Lie, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";

const { at: AT } = CUSTODY_ACCOUNTS.Escrow;

/** A byte of a field that a scan takes otherwise: the lowest ones of amounts and times, keys, and the vault's bump. */
const FORGEABLE = [
  AT.merchant,
  AT.mint,
  AT.rentPayer,
  AT.attestor,
  AT.amount,
  AT.createdAt,
  AT.expiresAt,
  AT.vaultBump,
];

const aPlan = fc.record({
  seed: fc.nat(),
  lives: escrowLives(5, 2),
  isFirst: fc.boolean(),
  kind: fc.constantFrom("forged", "dropped", "reordered"),
  victim: fc.nat(),
  at: fc.constantFrom(...FORGEABLE),
  flip: fc.integer({ min: 1, max: 255 }),
});

/** The default is the short form of 1,000 runs: FC_NUM_RUNS=1000. */
test("forged, dropped and reordered events never get a mark, and an honest node heals the index", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(aPlan, async ({ seed, lives, isFirst, kind, victim, at, flip }) => {
      const ledger = new WeatheredChain(seededRandom(seed));
      await simulate(ledger, function* (index) {
        const memory = new SyncMemory();
        if (!isFirst) yield* syncWith(memory);
        for (const life of lives) {
          ledger.slot += 1n;
          ledger.create(life);
        }
        for (const [, settled] of lives) if (settled !== undefined) ledger.settle(settled);
        ledger.slot += 5n;
        const escrows = [...ledger.escrows.values()];
        const one = escrows[victim % escrows.length];
        const other = escrows[(victim + 1) % escrows.length];
        if (one === undefined || other === undefined) throw new Error("two escrows");
        const seqOf = (seq: bigint) => (account: LedgerAccount) =>
          changed(account, (data) =>
            new DataView(data.buffer).setBigUint64(AT.createdSeq, seq, true),
          );
        const lies = new Map<Address, Lie>(
          kind === "dropped"
            ? [[one.address, () => null]]
            : kind === "forged"
              ? [
                  [
                    one.address,
                    (account) => changed(account, (data) => (data[at] = (data[at] ?? 0) ^ flip)),
                  ],
                ]
              : [
                  [one.address, seqOf(other.createdSeq)],
                  [other.address, seqOf(one.createdSeq)],
                ],
        );
        const { mark } = yield* index.reader.summary;
        const sync = syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, lies)));
        expect(yield* Effect.flip(sync)).toMatchObject({
          _tag: "LedgerUnavailable",
          retryable: true,
        });
        refused += 1;
        expect((yield* index.reader.summary).mark).toEqual(mark);
        yield* expectMarked(index, ledger);
        expect(yield* syncWith(memory)).toMatchObject({ count: ledger.custodyLog.count });
        yield* expectMarked(index, ledger);
      });
    }),
    runs(100),
  );
  expect(refused).toBeGreaterThan(0);
});

test("the Pending form of a settled escrow, shown after it, does not become its row", async () => {
  const lives = fc
    .sample(escrowLives(4, 4), { numRuns: 20, seed: 7 })
    .find((some) => some.some(([, settled]) => settled !== undefined));
  const ledger = new WeatheredChain(seededRandom(7));
  for (const life of lives ?? []) ledger.create(life);
  ledger.slot += 1n;
  for (const [, settled] of lives ?? []) if (settled !== undefined) ledger.settle(settled);
  ledger.slot += 1n;
  const twice: Ledger["Service"] = {
    ...ledger.port,
    programAccounts: (kind) =>
      Stream.flatMap(ledger.port.programAccounts(kind), (chunk) => {
        const earlier = chunk.value
          .filter(({ data }) => data.length === ESCROW_ACCOUNT_LENGTH)
          .map((account) => ({ ...account, data: pendingEscrowBytes(account.data) }));
        return Stream.make(chunk, { slot: chunk.slot, value: earlier });
      }),
  };
  await simulate(ledger, function* (index) {
    yield* Effect.provideService(syncWith(new SyncMemory()), Ledger, twice);
    expect((yield* index.reader.summary).mark?.count).toBe(ledger.custodyLog.count);
    yield* expectMarked(index, ledger);
  });
});

/**
 * The account with another bump, at the address of that bump: a scan takes it, and no search for a canonical bump finds
 * it.
 */
const atOtherBump = (account: LedgerAccount): LedgerAccount => {
  const seeds = escrowSeeds(
    account.data.slice(AT.agentOwner, AT.agentOwner + 32),
    account.data.slice(AT.taskHash, AT.taskHash + 32),
  );
  const bump = ((account.data[AT.bump] ?? 0) + 255) % 256;
  const address = programDerivedAddressAt(TEST_DEPLOYMENT.custodyProgram, seeds, bump);
  const copy = { ...changed(account, (data) => (data[AT.bump] = bump)), address };
  expect(checkEscrowAccount(copy, TEST_DEPLOYMENT)).toHaveProperty("value");
  expect(decodeEscrowAccount(copy, TEST_DEPLOYMENT)).toEqual({ fault: "address_not_derived" });
  return copy;
};

test.each([
  ["beside it", "the account of event 2 contradicts another answer about it"],
  ["instead of it", "the events 1 to 3 do not give the root that the custody program has"],
  ["with numbers above the count", null],
] as const)("a copy of an escrow at another bump's address, %s, is no row", async (how, cause) => {
  const [lives] = fc.sample(escrowLives(3, 3), { numRuns: 1, seed: 8 });
  const ledger = new WeatheredChain(seededRandom(8));
  for (const life of lives ?? []) ledger.create([life[0]]);
  ledger.slot += 1n;
  const victim = lives?.[1]?.[0].address;
  const shown = (account: LedgerAccount): ReadonlyArray<LedgerAccount> => {
    if (account.address !== victim) return [account];
    const copy = atOtherBump(account);
    const above = changed(copy, (data) =>
      new DataView(data.buffer).setBigUint64(AT.createdSeq, 9n, true),
    );
    return how === "instead of it" ? [copy] : [account, how === "beside it" ? copy : above];
  };
  const forging: Ledger["Service"] = {
    ...ledger.port,
    programAccounts: (kind) =>
      Stream.map(ledger.port.programAccounts(kind), ({ slot, value }) => ({
        slot,
        value: value.flatMap(shown),
      })),
  };
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    const sync = Effect.provideService(syncWith(memory), Ledger, forging);
    if (cause === null) expect(yield* sync).toMatchObject({ count: 3n, rejected: [] });
    else {
      expect(yield* Effect.flip(sync)).toMatchObject({ cause });
      expect((yield* index.reader.summary).mark).toBeNull();
      yield* syncWith(memory);
    }
    yield* expectMarked(index, ledger);
  });
});

test("an account that contradicts itself between two readings is named by its first number", async () => {
  const [lives] = fc.sample(escrowLives(3, 3), { numRuns: 1, seed: 4 });
  if (lives === undefined) throw new Error("no sample");
  const ledger = new WeatheredChain(seededRandom(4));
  await simulate(ledger, function* () {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    ledger.slot += 1n;
    for (const life of lives) ledger.create(life);
    ledger.slot += 1n;
    let told = 0;
    const victim = lives[1]?.[0].address;
    if (victim === undefined) throw new Error("no sample");
    const lies = new Map<Address, Lie>([
      [victim, (account) => changed(account, (data) => (data[AT.rentPayer] = told++))],
    ]);
    const sync = syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, lies)));
    expect(yield* Effect.flip(sync)).toMatchObject({
      cause: "the account of event 2 contradicts another answer about it",
    });
  });
});

test("a node that invents a count does not empty the index", async () => {
  const [lives] = fc.sample(escrowLives(2, 2), { numRuns: 1, seed: 5 });
  const ledger = new WeatheredChain(seededRandom(5));
  for (const life of lives ?? []) ledger.create(life);
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    const { mark } = yield* index.reader.summary;
    const lies = new Map<Address, Lie>([
      [
        ledger.custodyLog.address,
        (account) =>
          changed(account, (data) => new DataView(data.buffer).setBigUint64(80, 2n ** 39n, true)),
      ],
    ]);
    for (let n = 0; n < 5; n++)
      yield* Effect.flip(
        syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, lies))),
      );
    expect((yield* index.reader.summary).mark).toEqual(mark);
    yield* expectMarked(index, ledger);
  });
});

test("a byte that is flipped in any of these fields leaves an escrow that a scan takes", () => {
  // Otherwise the forged accounts above would be refused as malformed, not by the root.
  const [lives] = fc.sample(escrowLives(1, 1), { numRuns: 1, seed: 6 });
  const ledger = new WeatheredChain(seededRandom(6));
  for (const life of lives ?? []) ledger.create(life);
  const [escrow] = ledger.escrows.values();
  if (escrow === undefined) throw new Error("no sample");
  const account = ledger.accountOf(escrow.address);
  for (const at of [AT.merchant, AT.mint, AT.rentPayer, AT.attestor, AT.vaultBump]) {
    const forged = changed(account, (data) => (data[at] = (data[at] ?? 0) ^ 1));
    expect(checkEscrowAccount(forged, TEST_DEPLOYMENT)).toHaveProperty("value");
  }
});
