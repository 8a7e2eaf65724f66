import { expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import fc from "fast-check";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import {
  ARCHIVED_ESCROW_DISCRIMINATOR,
  ARCHIVED_ESCROW_LENGTH,
} from "../../../../core/protocol/accounts/archived-escrow-account.ts";
import {
  CUSTODY_ACCOUNTS,
  CUSTODY_CONSTANTS,
} from "../../../../core/protocol/generated/custody.ts";
import { MostCatchUp } from "../../../../core/use-cases/index/sync/events/prove-events.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { expectMarked } from "./expect-marked.ts";
import { changed, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";

/** The events that the index of this test catches up with. */
const CATCHES_UP = 2000n;
/** Archived escrows with two events each: together two events more than the index catches up with. */
const ARCHIVED = 1001;
const [SIZE_AT, FRONTIER_AT] = [80, 88];
const FALSE_FRONTIER = new Uint8Array(1280).fill(0x5a);
const { at: AT } = CUSTODY_ACCOUNTS.ArchivedEscrow;

/** Tombstones of the events from 2 on, and the number of the last one. */
const manyArchived = () => {
  const accounts: Array<LedgerAccount> = [];
  for (let n = 0; n < ARCHIVED; n++) {
    const key = new Uint8Array(32);
    new DataView(key.buffer).setUint32(4, n + 1);
    const data = new Uint8Array(ARCHIVED_ESCROW_LENGTH);
    data.set(ARCHIVED_ESCROW_DISCRIMINATOR);
    const view = new DataView(data.buffer);
    view.setBigUint64(AT.createdSeq, BigInt(2 * n + 2), true);
    view.setBigUint64(AT.settledSeq, BigInt(2 * n + 3), true);
    data[AT.state] = 1;
    data[AT.version] = CUSTODY_CONSTANTS.ACCOUNT_VERSION;
    data.set(key, AT.pendingHash);
    data.set(key, AT.lastHash);
    const account = accountOf(addressFromBytes(key), TEST_DEPLOYMENT.custodyProgram, data);
    accounts.push(account);
  }
  return { accounts, count: BigInt(2 * ARCHIVED + 1) };
};

test("an index that is far behind is not replaced for a false root", async () => {
  const [lives] = fc.sample(escrowLives(1, 1), { numRuns: 1, seed: 5 });
  const ledger = new WeatheredChain(seededRandom(5));
  for (const life of lives ?? []) ledger.create([life[0]]);
  const { accounts, count } = manyArchived();
  await simulate(ledger, (index) =>
    Effect.gen(function* () {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      ledger.slot += 10n;
      const syncAt = (shown: Uint8Array) => {
        const config = (account: LedgerAccount) =>
          changed(account, (data) => {
            new DataView(data.buffer).setBigUint64(SIZE_AT, count + 1n, true);
            data.set(shown, FRONTIER_AT);
          });
        const port = lying(
          ledger.port,
          new Map<Address, typeof config>([[ledger.custodyLog.address, config]]),
        );
        return syncWith(memory).pipe(
          Effect.provideService(Ledger, {
            ...port,
            programAccounts: (kind) =>
              kind.length === ARCHIVED_ESCROW_LENGTH
                ? Stream.succeed({ slot: ledger.slot, value: accounts })
                : port.programAccounts(kind),
          }),
        );
      };
      const failure = yield* Effect.flip(syncAt(FALSE_FRONTIER));
      expect(failure).toMatchObject({
        _tag: "LedgerUnavailable",
        cause: `the events 2 to ${count} do not give the root that the custody program has`,
      });
      yield* expectMarked(index, ledger);
      expect(memory.contradictions).toBe(1);
    }).pipe(Effect.provideService(MostCatchUp, CATCHES_UP)),
  );
});

test("an index catches up with 200,000 events", () => {
  expect(Effect.runSync(MostCatchUp)).toBe(200_000n);
});
