import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { tombstoneOf } from "../../../doubles/tombstone.ts";
import { expectMarked } from "./expect-marked.ts";
import { type Lie, lying } from "../../../world/port-faults.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { simulate, syncWith } from "./simulated-sync.ts";

const { at: AT } = CUSTODY_ACCOUNTS.ArchivedEscrow;

/** The first life settles after the index has seen both creations. */
const [life, other] =
  fc
    .sample(escrowLives(2, 2), { numRuns: 50, seed: 3 })
    .find(([first]) => first?.[1] !== undefined) ?? [];

/** Bytes of a tombstone that its settlement's leaf does not prove. */
const UNPROVED = [
  ["the creation's number of another escrow", AT.createdSeq, 1 ^ 2],
  ["another digest of the Pending bytes", AT.pendingHash, 1],
] as const;

test.each(UNPROVED)(
  "a tombstone of a later settlement with %s is refused, and an honest node heals the index",
  async (_what, at, flip) => {
    const settled = life?.[1];
    if (life === undefined || settled === undefined || other === undefined)
      throw new Error("no sample");
    const ledger = new WeatheredChain(seededRandom(1));
    ledger.create([life[0]]);
    ledger.create([other[0]]);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      const { mark } = yield* index.reader.summary;
      ledger.slot += 1n;
      ledger.settle(settled);
      ledger.slot += 1n;
      const data = tombstoneOf(ledger.at(settled.address));
      data[at] = (data[at] ?? 0) ^ flip;
      const lies = new Map<Address, Lie>([[settled.address, (account) => ({ ...account, data })]]);
      const sync = syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, lies)));
      expect(yield* Effect.flip(sync)).toMatchObject({
        cause: expect.stringMatching(/^the account of event [12] contradicts another answer/),
      });
      expect((yield* index.reader.summary).mark).toEqual(mark);
      yield* expectMarked(index, ledger);
      // A true tombstone is a row, whether or not anybody shows the bytes.
      const archived = new Map<Address, Lie>([
        [
          settled.address,
          (account) => ({ ...account, data: tombstoneOf(ledger.at(settled.address)) }),
        ],
      ]);
      expect(
        yield* syncWith(memory).pipe(Effect.provideService(Ledger, lying(ledger.port, archived))),
      ).toMatchObject({ count: 3n, unseen: 1 });
      yield* expectMarked(index, ledger);
    });
  },
);
