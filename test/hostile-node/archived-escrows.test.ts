import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Effect } from "effect";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../core/use-cases/escrow/archived-escrows.ts";
import { readEscrow } from "../../core/use-cases/escrow/read-escrow.ts";
import { AskAnotherNode } from "../../ports/ledger/ask-another-node.ts";
import { tombstoneOf } from "../doubles/tombstone.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { resultOf, scenarioOfTest, valueOf } from "./one-index.ts";
import { HONEST } from "./scenarios.ts";

const { custodyProgram } = LOCAL_DEPLOYMENT;
const [FULFILLED, PARTLY] = [1, 2];

type Shown = { readonly owner: string; readonly data: Uint8Array } | null;
type Answer = {
  readonly context: { readonly slot: number };
  readonly value: ReadonlyArray<object | null>;
};
/** What a node makes of the account of one address, and of the slot of its answer. */
type Lie = { readonly account: (data: Uint8Array) => Shown; readonly slots?: number };

const of =
  (owner: string, change: (data: Uint8Array) => Uint8Array): Lie["account"] =>
  (data) => ({
    owner,
    data: change(data),
  });

/** A world in which two settled escrows are archived, and no node has the transactions that archived them. */
const archivedWorld = () => {
  const world = worldOf(12);
  const archive = (number: number) => {
    const escrow = world.escrows.get(worldEscrow(number).address);
    if (escrow === undefined) throw new Error("no escrow");
    const data = tombstoneOf(escrow);
    world.accounts.set(escrow.address, { owner: custodyProgram, data });
    return { escrow, data };
  };
  return { world, archived: archive(FULFILLED), other: archive(PARTLY) };
};

/** A node that lies about one address, as `lie` says at each request. */
const lyingAbout = (address: string, lie: () => Lie) =>
  scenarioOfTest("lies about an archived escrow", ({ backend }) => async (call) => {
    const answer = await backend.answer(call);
    const asked = call.params[0];
    const at = Array.isArray(asked) ? asked.indexOf(address) : -1;
    if (call.method !== "getMultipleAccounts" || at < 0 || "error" in answer) return answer;
    const { context, value } = resultOf(answer) as Answer;
    const { account, slots = 0 } = lie();
    const was = value[at] as { readonly data: readonly [string] };
    const shown = account(new Uint8Array(Buffer.from(was.data[0], "base64")));
    const told = shown && {
      ...was,
      owner: shown.owner,
      data: [Buffer.from(shown.data).toString("base64"), "base64"],
      space: shown.data.length,
    };
    return {
      result: {
        context: { slot: context.slot + slots },
        value: value.map((one, n) => (n === at ? told : one)),
      },
    };
  });

type Index = Awaited<ReturnType<typeof openIndexOfNode>>;

/** What a read of an escrow comes to: the tag of its failure, or its state. */
const outcomeOf = async ({ run }: Index, address: string) =>
  valueOf(
    await run(
      Effect.gen(function* () {
        const service = yield* makeArchivedEscrows;
        const read = Effect.provideService(readEscrow(address), ArchivedEscrows, service);
        const result = yield* Effect.result(read);
        return result._tag === "Failure" ? result.failure._tag : result.success.escrow.state;
      }).pipe(Effect.scoped),
    ),
  );

/** Runs a program with an index that has synced honest nodes, of which the first lies from then on. */
const behindLiar = async (
  address: string,
  world: ReturnType<typeof archivedWorld>["world"],
  program: (index: Index, lie: (is: Lie) => void, toldLies: () => number) => Promise<void>,
  honest: boolean,
) => {
  let now: Lie = { account: of(custodyProgram, (data) => data) };
  let told = 0;
  const scenario = lyingAbout(address, () => {
    told += 1;
    return now;
  });
  const backend = worldBackend(world);
  using first = hostileNode({ backend, scenario, seed: 1 });
  using second = hostileNode({ backend, scenario: HONEST, seed: 1 });
  const folder = mkdtempSync(join(tmpdir(), "hostile-archived-"));
  const index = await openIndexOfNode({
    url: first.url,
    others: honest ? [second.url] : [],
    path: join(folder, "index.sqlite"),
    waits: SHORT_WAITS,
    behindPatienceMs: 100,
  });
  try {
    expect(valueOf(await index.sync())).toMatchObject({ unseen: 2 });
    await program(
      index,
      (is) => void (now = is),
      () => told,
    );
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

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
    behindLiar(
      address,
      sample,
      async (index, lie) => {
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
  await behindLiar(
    address,
    world,
    async (index, lie, toldLies) => {
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
  world.accounts.set(free, { owner: SYSTEM_PROGRAM, data: new Uint8Array() });
  await behindLiar(
    free,
    world,
    async (index, lie) => {
      lie(scenario(archived.data));
      expect(await outcomeOf(index, free)).toBe("LedgerUnavailable");
      lie({ account: of(SYSTEM_PROGRAM, (data) => data) });
      expect(await outcomeOf(index, free)).toBe("EscrowNotFound");
    },
    false,
  );
}, 60_000);
