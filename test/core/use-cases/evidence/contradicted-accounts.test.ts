import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import { readSurroundings } from "../../../../core/use-cases/escrow/prepare/escrow-surroundings.ts";
import { readEscrow } from "../../../../core/use-cases/escrow/read-escrow.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { indexedOf } from "../../../arbitraries/index-history.ts";
import { makeWorld, settled } from "./evidence-world.ts";

const pending = escrow("remembered", "Pending");
const forged: Escrow = {
  ...settled,
  amount: settled.amount * 10n,
  released: settled.released * 10n,
};

type World = ReturnType<typeof makeWorld>;

/** A node that shows one escrow, or none, and an index that proves one, or none. */
const worldWith = async (proved: Escrow | null, shown: Escrow | null): Promise<World> => {
  const world = makeWorld();
  world.ledger.accounts.delete(settled.address);
  world.seed({ escrows: shown === null ? [] : [shown], merchants: [merchant()] });
  if (proved !== null) await world.apply({ escrows: [indexedOf(proved)] });
  return world;
};

/** What a read and a packet of the escrow come to: the tag of the failure, or its state. */
const outcomes = (world: World) =>
  world.run(
    Effect.gen(function* () {
      const read = yield* Effect.result(readEscrow(settled.address));
      const packet = yield* Effect.result(buildEvidence(settled.address));
      const tags: ReadonlyArray<string> = [
        read._tag === "Failure" ? read.failure._tag : read.success.escrow.state,
        packet._tag === "Failure" ? packet.failure._tag : packet.success.data.escrow.state,
      ];
      return tags;
    }),
  );

const REFUSED = ["LedgerUnavailable", "LedgerUnavailable"];

describe("where the index proves an escrow", () => {
  test.each([
    ["another amount", settled, forged],
    ["it Pending after its settlement", settled, pending],
    ["no account", settled, null],
    ["no account of one that is Pending", pending, null],
  ] as const)("a node that shows %s is not believed", async (_, proved, shown) => {
    expect(await outcomes(await worldWith(proved, shown))).toEqual(REFUSED);
  });

  test("a failure that is the node's is retryable, and names what it contradicts", async () => {
    const world = await worldWith(settled, null);
    expect(await world.run(Effect.flip(readEscrow(settled.address)))).toMatchObject({
      retryable: true,
      cause: `no escrow at ${settled.address}, where the index proves one`,
    });
  });

  test("another program's account at its address is not believed", async () => {
    const world = await worldWith(settled, settled);
    const account = world.ledger.accounts.get(settled.address);
    if (account === undefined) throw new Error("no account");
    world.ledger.accounts.set(settled.address, { ...account, owner: settled.merchant });
    expect(await outcomes(world)).toEqual(REFUSED);
  });

  test.each([
    ["another amount", forged],
    ["no account", null],
  ] as const)("no transaction is prepared for a node that shows %s", async (_, shown) => {
    const world = await worldWith(settled, shown);
    const surroundings = Effect.flip(readSurroundings(settled.address, []));
    expect(await world.run(surroundings)).toMatchObject({ _tag: "LedgerUnavailable" });
  });

  test("a settlement that the index has not seen is shown", async () => {
    expect(await outcomes(await worldWith(pending, settled))).toEqual(["Fulfilled", "Fulfilled"]);
  });

  test("a forged read of a settled escrow is not kept: an honest one is served after it", async () => {
    const world = await worldWith(settled, forged);
    expect(await outcomes(world)).toEqual(REFUSED);
    world.seed({ escrows: [settled], merchants: [merchant()] });
    expect((await world.packet()).data.escrow).toMatchObject({
      amount_stroops: `${settled.amount}`,
    });
  });
});

describe("where the index proves nothing", () => {
  test("the account alone counts", async () => {
    const NOT_FOUND = ["EscrowNotFound", "EscrowNotFound"];
    expect(await outcomes(await worldWith(null, settled))).toEqual(["Fulfilled", "Fulfilled"]);
    expect(await outcomes(await worldWith(null, null))).toEqual(NOT_FOUND);
  });

  test("a store that does not answer refuses no account", async () => {
    const world = await worldWith(settled, forged);
    const read = Effect.updateService(readEscrow(settled.address), IndexReader, (index) => ({
      ...index,
      escrowsAt: () => Effect.fail(new StoreUnavailable({ retryable: true, cause: "test" })),
    }));
    expect((await world.run(read)).escrow.amount).toBe(forged.amount);
  });
});
