import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { ARCHIVE_DELAY_SECONDS } from "../../core/protocol/accounts/escrow-rules.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../core/use-cases/escrow/archived-escrows.ts";
import { readEscrow } from "../../core/use-cases/escrow/read-escrow.ts";
import { AskAnotherNode } from "../../ports/ledger/ledger.ts";
import { forwardedClock } from "../doubles/forwarded-clock.ts";
import { accountOf, walletAccount } from "../doubles/accounts.ts";
import { tombstoneOf } from "../doubles/tombstone.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { type Behind, behindLiar, type Index, type Lie, of } from "./lying-about.ts";
import { valueOf } from "./one-index.ts";

const { custodyProgram } = LOCAL_DEPLOYMENT;
const [FULFILLED, PARTLY] = [1, 2];
const HOUR_MS = 3_600_000;
const WEEK_MS = Number(ARCHIVE_DELAY_SECONDS) * 1000;

/** A world in which two settled escrows are archived, and no node has the transactions that archived them. */
const archivedWorld = () => {
  const world = worldOf(12);
  const archive = (number: number) => {
    const escrow = world.escrows.get(worldEscrow(number).address);
    if (escrow === undefined) throw new Error("no escrow");
    const data = tombstoneOf(escrow);
    world.put(accountOf(escrow.address, custodyProgram, data));
    return { escrow, data };
  };
  return { world, archived: archive(FULFILLED), other: archive(PARTLY) };
};

/** What a read of an escrow comes to: the tag of its failure, or its state. */
const outcomeOf = async (
  { run }: Index,
  address: string,
  clock: Layer.Layer<never> = Layer.empty,
) =>
  valueOf(
    await run(
      Effect.gen(function* () {
        const service = yield* makeArchivedEscrows;
        const read = Effect.provideService(readEscrow(address), ArchivedEscrows, service);
        const result = yield* Effect.result(read);
        return result._tag === "Failure" ? result.failure._tag : result.success.escrow.state;
      }).pipe(Effect.scoped, Effect.provide(clock)),
    ),
  );

/** As `behindLiar`, in a world with two archived escrows that the index has not seen. */
const inArchivedWorld = (
  address: string,
  world: ReturnType<typeof archivedWorld>["world"],
  program: (behind: Behind) => Promise<void>,
  honest: boolean,
) =>
  behindLiar({ address, world, honest }, (behind) => {
    expect(valueOf(behind.report)).toMatchObject({ unseen: 2 });
    return program(behind);
  });

const { world: sample, archived, other } = archivedWorld();
const { address } = archived.escrow;
const forgedBytes = encodeEscrowAccount({ ...archived.escrow, rentPayer: custodyProgram });
const LIES: ReadonlyArray<readonly [string, Lie]> = [
  ["hides it", { account: () => null }],
  ["shows it as funded only", { account: of(SYSTEM_PROGRAM, () => new Uint8Array()) }],
  ["shows it under another program", { account: of(other.escrow.merchant, (data) => data) }],
  ["shows it too short", { account: of(custodyProgram, (data) => data.slice(0, 95)) }],
  ["shows it too long", { account: of(custodyProgram, (data) => Uint8Array.of(...data, 0)) }],
  ["shows another state", { account: of(custodyProgram, (data) => data.with(24, 3)) }],
  ["shows another settled number", { account: of(custodyProgram, (data) => data.with(16, 200)) }],
  [
    "shows a number that is still to come",
    { account: of(custodyProgram, (data) => data.with(20, 1)) },
  ],
  ["shows another digest", { account: of(custodyProgram, (data) => data.with(64, 7)) }],
  ["shows the tombstone of another escrow", { account: of(custodyProgram, () => other.data) }],
  ["shows a forged whole account", { account: of(custodyProgram, () => forgedBytes) }],
  ["shows a slot far behind", { account: of(custodyProgram, (data) => data), slots: -900 }],
  ["shows a slot far ahead", { account: () => null, slots: 10_000_000 }],
];

test(
  "no lie about an archived escrow that nobody has seen is believed, and the truth is told once the node tells it",
  () =>
    inArchivedWorld(
      address,
      sample,
      async ({ index, lie }) => {
        for (const [does, is] of LIES) {
          lie(is);
          expect([does, await outcomeOf(index, address)]).toEqual([does, "LedgerUnavailable"]);
        }
        lie({ account: of(custodyProgram, (data) => data) });
        expect(await outcomeOf(index, address)).toBe("EscrowArchived");
      },
      false,
    ),
  60_000,
);

test("a second, honest node answers where the first one's lie contradicts the index", async () => {
  const { world } = archivedWorld();
  await inArchivedWorld(
    address,
    world,
    async ({ index, lie, toldLies }) => {
      for (const [does, is] of LIES) {
        const before = toldLies();
        lie(is);
        expect([does, await outcomeOf(index, address)]).toEqual([does, "EscrowArchived"]);
        expect([does, toldLies() > before]).toEqual([does, true]);
        // The node that lied stands behind the other by now, unless that one was asked because of a slot.
        if (is.slots === undefined) await index.run(Effect.flatten(AskAnotherNode));
      }
    },
    true,
  );
}, 60_000);

test("a tombstone at an address where the index has nothing is not believed with numbers that the index knows", async () => {
  const { world } = archivedWorld();
  const free = worldEscrow(400).address;
  const scenario = (data: Uint8Array): Lie => ({
    account: () => ({ owner: custodyProgram, data }),
  });
  world.put(walletAccount(free, 1n));
  await inArchivedWorld(
    free,
    world,
    async ({ index, lie }) => {
      lie(scenario(archived.data));
      expect(await outcomeOf(index, free)).toBe("LedgerUnavailable");
      lie({ account: of(SYSTEM_PROGRAM, (data) => data) });
      expect(await outcomeOf(index, free)).toBe("EscrowNotFound");
    },
    false,
  );
}, 60_000);

test("an escrow that was Pending at the mark is not archived before seven days have passed since", async () => {
  const { world } = archivedWorld();
  const pending = world.escrows.get(worldEscrow(4).address);
  if (pending === undefined) throw new Error("no escrow");
  const data = tombstoneOf({ ...refundedOf(pending), settledSeq: 1000n });
  await inArchivedWorld(
    pending.address,
    world,
    async ({ index, lie }) => {
      lie({ account: of(custodyProgram, () => data) });
      expect(await outcomeOf(index, pending.address)).toBe("LedgerUnavailable");
      const clock = forwardedClock();
      clock.forward(WEEK_MS - HOUR_MS);
      expect(await outcomeOf(index, pending.address, clock.layer)).toBe("LedgerUnavailable");
      clock.forward(HOUR_MS);
      expect(await outcomeOf(index, pending.address, clock.layer)).toBe("EscrowArchived");
    },
    false,
  );
}, 60_000);
