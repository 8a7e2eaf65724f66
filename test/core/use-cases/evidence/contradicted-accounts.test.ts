import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { unreadableEscrowOf } from "../../../../core/log/leaf/escrow-rows.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { accountOf, rentAccount } from "../../../doubles/accounts.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import { preflightEscrow } from "../../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import { prepareEscrow } from "../../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { readSurroundings } from "../../../../core/use-cases/escrow/prepare/escrow-surroundings.ts";
import { readEscrow } from "../../../../core/use-cases/escrow/read-escrow.ts";
import { TransactionTerms } from "../../../../core/use-cases/service/transaction-terms.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { indexedOf, unseenOf } from "../../../arbitraries/index-history.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
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
  world.ledger.vanish(settled.address);
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
    const account = world.ledger.account(settled.address);
    if (account === null) throw new Error("no account");
    world.ledger.put({ ...account, owner: settled.merchant });
    expect(await outcomes(world)).toEqual(REFUSED);
  });

  test.each([
    ["another amount", forged],
    ["no account", null],
  ] as const)("no transaction is prepared for a node that shows %s", async (_, shown) => {
    const world = await worldWith(settled, shown);
    const surroundings = Effect.flip(readSurroundings(settled.address, []));
    expect(await world.run(surroundings)).toMatchObject({
      _tag: "LedgerUnavailable",
      cause: expect.stringContaining("the index proves"),
    });
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

/**
 * A node that shows an account of a world's escrow, or none, and an index that knows the escrow by its numbers and
 * digests only.
 */
const worldUnseen = async (proved: Escrow, account: LedgerAccount | null): Promise<World> => {
  const world = makeWorld();
  world.ledger.vanish(settled.address);
  if (account !== null) world.ledger.put(account);
  await world.apply({ unseen: [unseenOf(indexedOf(proved))] });
  return world;
};

/** The escrow of `settled` before its creation, as a preflight gets it. */
const asked = prepareEscrow({
  agentOwner: settled.agentOwner,
  merchant: settled.merchant,
  mint: settled.mint,
  amount: settled.amount.toString(),
  taskHash: settled.taskHash,
  ttlSeconds: 3600,
});
const { custodyProgram } = LOCAL_DEPLOYMENT;
const other = escrow("another", "Fulfilled");
const tombstone = tombstoneAccount(settled, custodyProgram);
const tombstoneWith = (changed: Partial<Escrow>) =>
  tombstoneAccount({ ...settled, ...changed }, custodyProgram);
const shown = (of: Escrow) => accountOf(of.address, custodyProgram, encodeEscrowAccount(of));

const GONE = ["EscrowArchived", "EscrowArchived"];

describe("where the index proves an archived escrow of which it has not seen the bytes", () => {
  test.each<readonly [string, Escrow, LedgerAccount | null]>([
    ["no account", settled, null],
    ["no account of one that the index holds as Pending", pending, null],
    [
      "an account that was only funded",
      settled,
      accountOf(settled.address, SYSTEM_PROGRAM, new Uint8Array()),
    ],
    ["another program's tombstone", settled, { ...tombstone, owner: other.merchant }],
    ["a tombstone that is cut", settled, { ...tombstone, data: tombstone.data.slice(0, 95) }],
    ["a tombstone with another state", settled, { ...tombstone, data: tombstone.data.with(24, 3) }],
    [
      "a tombstone with another settled number",
      settled,
      { ...tombstone, data: tombstone.data.with(16, 99) },
    ],
    [
      "a tombstone with another created number",
      settled,
      { ...tombstone, data: tombstone.data.with(9, 1) },
    ],
    ["a tombstone with another last hash", settled, tombstoneWith({ amount: 1n, released: 1n })],
    [
      "another escrow's tombstone",
      settled,
      { ...tombstoneAccount(other, custodyProgram), address: settled.address },
    ],
    ["a forged whole account", settled, shown(forged)],
    ["it Pending after its settlement", settled, shown(pending)],
  ])("a node that shows %s is not believed", async (_, proved, account) => {
    expect(await outcomes(await worldUnseen(proved, account))).toEqual(REFUSED);
  });

  test("the true tombstone is archived and unseen, as before", async () => {
    expect(await outcomes(await worldUnseen(settled, tombstone))).toEqual(GONE);
    expect(await outcomes(await worldUnseen(pending, tombstone))).toEqual(GONE);
  });

  test("whoever still shows the proved bytes is believed", async () => {
    expect(await outcomes(await worldUnseen(settled, shown(settled)))).toEqual([
      "Fulfilled",
      "Fulfilled",
    ]);
  });

  test("no transaction is prepared for a node that hides it", async () => {
    const world = await worldUnseen(settled, null);
    const surroundings = Effect.flip(readSurroundings(settled.address, []));
    expect(await world.run(surroundings)).toMatchObject({
      _tag: "LedgerUnavailable",
      cause: expect.stringContaining("the index proves"),
    });
  });
});

test("an account that the index proves and nobody can decode is no escrow, another one there is a lie", async () => {
  const { reserved } = CUSTODY_ACCOUNTS.Escrow.at;
  const account = shown(settled);
  const unreadable = { ...account, data: account.data.with(reserved, 1) };
  const row = unreadableEscrowOf(unreadable);
  if (row === undefined) throw new Error("no leaves");
  const world = makeWorld();
  await world.apply({ unseen: [row] });
  world.ledger.put(unreadable);
  expect(await outcomes(world)).toEqual(["NotAnEscrow", "NotAnEscrow"]);
  world.ledger.put(account);
  expect(await outcomes(world)).toEqual(REFUSED);
});

describe("a preflight of an escrow that the index proves", () => {
  const preflight = (world: World) => {
    world.ledger.put(rentAccount);
    return world.run(
      Effect.flatMap(asked, (prepared) => preflightEscrow(prepared)).pipe(
        Effect.map(({ preflight: { escrowAddressFree } }) => escrowAddressFree),
        Effect.catchTag("LedgerUnavailable", Effect.succeed),
        Effect.provideService(TransactionTerms, { read: Effect.die("no transaction is wanted") }),
      ),
    );
  };
  const refused = {
    _tag: "LedgerUnavailable",
    cause: `no escrow at ${settled.address}, where the index proves one`,
  };

  test("does not call its address free because a node hides it", async () => {
    expect(await preflight(await worldWith(settled, null))).toMatchObject(refused);
  });

  test("does not call it free because a node hides the tombstone of one that is unseen", async () => {
    expect(await preflight(await worldUnseen(settled, null))).toMatchObject(refused);
  });
});

describe("where the index proves every field of an escrow", () => {
  test.each<readonly [string, LedgerAccount]>([
    ["with another last hash", tombstoneWith({ amount: 1n, released: 1n })],
    ["with another state", { ...tombstone, data: tombstone.data.with(24, 3) }],
    ["with another settled number", { ...tombstone, data: tombstone.data.with(16, 99) }],
    ["of another escrow", { ...tombstoneAccount(other, custodyProgram), address: settled.address }],
  ])("a tombstone %s is not believed", async (_, account) => {
    const world = await worldWith(settled, null);
    world.ledger.put(account);
    expect(await outcomes(world)).toEqual(REFUSED);
    const surroundings = Effect.flip(readSurroundings(settled.address, []));
    expect(await world.run(surroundings)).toMatchObject({
      _tag: "LedgerUnavailable",
      cause: expect.stringContaining("the index proves"),
    });
  });

  test("its own tombstone is", async () => {
    const world = await worldWith(settled, null);
    world.ledger.put(tombstone);
    expect(await outcomes(world)).toEqual(["Fulfilled", "Fulfilled"]);
  });
});
