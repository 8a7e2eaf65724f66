import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { evidenceData } from "../../../../core/protocol/evidence/evidence-data.ts";
import { evidenceDigest } from "../../../../core/domain/evidence/evidence-signature.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import {
  type ArchivePeer,
  ArchivePeers,
  ImportedPackets,
  PeerUnusable,
} from "../../../../ports/index/archived-rows.ts";
import { escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { expectMarked } from "./expect-marked.ts";
import { FAIR, WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

/** A world whose escrows were settled and archived before anybody looked, and whose node keeps no history. */
const forgottenWorld = (count: number) => {
  const [lives] = fc.sample(
    fc.uniqueArray(
      escrowLife.filter((life) => life.length > 1),
      { selector: ([pending]) => pending.address, minLength: count, maxLength: count },
    ),
    { numRuns: 1, seed: 5 },
  );
  if (lives === undefined) throw new Error("no sample");
  const ledger = new WeatheredChain(seededRandom(1));
  for (const life of lives) ledger.create(life);
  ledger.slot += 1n;
  for (const life of lives) ledger.settle(life.at(-1) ?? life[0]);
  ledger.slot += 1n;
  const escrows = [...ledger.escrows.values()];
  for (const life of lives) ledger.archive(life.at(-1) ?? life[0]);
  ledger.slot += 1000n;
  ledger.weather = { ...FAIR, hidden: 1 };
  return { ledger, escrows };
};

/** The packet that a service makes of an escrow, unsigned: who signed it is of no account here. */
const packetOf = (escrow: Escrow, data = encodeEscrowAccount(escrow)): Uint8Array => {
  const { address } = escrow;
  const account = { address, owner: TEST_DEPLOYMENT.custodyProgram, data };
  const network = { ...TEST_DEPLOYMENT, cluster: "localnet", genesisHash: TEST_GENESIS_HASH };
  const of = evidenceData({ network, escrow, account, slot: 1n, ledgerTime: 1n });
  const none = { key_id: null, public_key: null, signature: null };
  const digest = evidenceDigest(of).digest;
  const signature = { status: "unsigned", digest_sha256: digest, algorithm: "ed25519", ...none };
  const references = {
    transactions: [],
    not_found: [],
    merchant: null,
    observed: null,
    archived: null,
    log: null,
  };
  return new TextEncoder().encode(JSON.stringify({ data: of, signature, references }));
};

const first = <A>([one]: ReadonlyArray<A>): A => {
  if (one === undefined) throw new Error("there is none");
  return one;
};

/** An escrow with a byte that the ledger never had. */
const forged = (escrow: Escrow): Uint8Array =>
  packetOf({ ...escrow, merchant: TEST_DEPLOYMENT.attestorProgram });

/** Packets that wait for a sync, by name. */
const importing = (waiting: Map<string, Uint8Array>): typeof ImportedPackets.Service => ({
  waiting: (limit) =>
    Effect.sync(() => [...waiting].slice(0, limit).map(([name, bytes]) => ({ name, bytes }))),
  forget: (name) => Effect.sync(() => void waiting.delete(name)),
});

describe("a packet that the operator imports", () => {
  test("makes the log whole at a service whose node keeps no history", async () => {
    const { ledger, escrows } = forgottenWorld(5);
    const waiting = new Map<string, Uint8Array>();
    await simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        expect(yield* syncWith(memory, 0)).toMatchObject({ unseen: 5 });
        for (const escrow of escrows) waiting.set(escrow.address, packetOf(escrow));
        expect(yield* syncWith(memory, 1)).toMatchObject({ unseen: 0, eventsAdded: 0 });
        expect(waiting.size).toBe(0);
        expect(new Set((yield* contents(index)).escrows)).toEqual(new Set(escrows));
        yield* expectMarked(index, ledger);
      }).pipe(Effect.provideService(ImportedPackets, importing(waiting))),
    );
  });

  test("waits while the index has not come to its event, and is forgotten where nothing is missing", async () => {
    const { ledger, escrows } = forgottenWorld(1);
    const waiting = new Map([["known", packetOf(first(escrows))]]);
    await simulate(ledger, () =>
      Effect.gen(function* () {
        ledger.weather = FAIR;
        const memory = new SyncMemory();
        yield* syncWith(memory, 0);
        const later = { ...first(escrows), createdSeq: 7n, settledSeq: 8n };
        waiting.set("later", packetOf(later));
        waiting.set("known", packetOf(first(escrows)));
        yield* syncWith(memory, 1);
        expect([...waiting.keys()]).toEqual(["later"]);
      }).pipe(Effect.provideService(ImportedPackets, importing(waiting))),
    );
  });

  test("is not believed when it is forged, another escrow's or no packet", async () => {
    const { ledger, escrows } = forgottenWorld(2);
    const [one, other] = [first(escrows), first(escrows.slice(1))];
    const waiting = new Map([
      ["forged", forged(one)],
      ["another's", packetOf({ ...other, address: one.address })],
      ["nonsense", new TextEncoder().encode("nonsense")],
      ["empty", new Uint8Array()],
    ]);
    await simulate(ledger, (index) =>
      Effect.gen(function* () {
        expect(yield* syncWith(new SyncMemory(), 0)).toMatchObject({ unseen: 2 });
        expect(waiting.size).toBe(0);
        expect((yield* contents(index)).escrows).toEqual([]);
      }).pipe(Effect.provideService(ImportedPackets, importing(waiting))),
    );
  });
});

type Asked = Array<string>;

/** A peer that answers an escrow's address, and notes each question. */
const peer = (name: string, asked: Asked, answer: ArchivePeer["packet"]): ArchivePeer => ({
  name,
  packet: (escrow) =>
    Effect.suspend(() => {
      asked.push(name);
      return answer(escrow);
    }),
});

/** A peer that has the packets of these escrows. */
const honest = (asked: Asked, escrows: ReadonlyArray<Escrow>) =>
  peer("honest", asked, (address) => {
    const escrow = escrows.find((each) => each.address === address);
    return Effect.succeed(escrow === undefined ? null : packetOf(escrow));
  });

describe("a peer", () => {
  test("makes the log whole at a service whose node keeps no history", async () => {
    const { ledger, escrows } = forgottenWorld(40);
    const asked: Asked = [];
    await simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        expect(yield* syncWith(memory, 0)).toMatchObject({ unseen: 8 });
        expect(yield* syncWith(memory, 1)).toMatchObject({ unseen: 0 });
        expect(new Set((yield* contents(index)).escrows)).toEqual(new Set(escrows));
        yield* expectMarked(index, ledger);
        expect(memory.peers.all.get("honest")).toEqual({ used: 40, ignored: 0 });
        expect(asked.length).toBe(40);
      }).pipe(Effect.provideService(ArchivePeers, [honest(asked, escrows)])),
    );
  });

  test("that lies or fails is counted and left alone for a minute, and the next one is asked", async () => {
    const { ledger, escrows } = forgottenWorld(3);
    const liars: Record<string, ArchivePeer["packet"]> = {
      forges: () => Effect.succeed(forged(first(escrows))),
      "shows another's": () => Effect.succeed(packetOf(first(escrows.slice(1)))),
      "talks nonsense": () => Effect.succeed(new TextEncoder().encode('{"data":{}}')),
      "is away": () => Effect.fail(new PeerUnusable({ reason: "it took more than 2000 ms" })),
    };
    for (const [name, lie] of Object.entries(liars)) {
      const asked: Asked = [];
      const peers = [peer(name, asked, lie), honest(asked, escrows.slice(0, 1))];
      await simulate(ledger, (index) =>
        Effect.gen(function* () {
          const memory = new SyncMemory();
          // Of the escrow whose own packet a liar shows, that packet is the truth.
          yield* syncWith(memory, 0);
          const { escrows: seen } = yield* contents(index);
          expect(seen).toContainEqual(first(escrows));
          for (const escrow of seen) expect(escrows).toContainEqual(escrow);
          expect(memory.peers.all.get(name)?.ignored).toBeGreaterThan(0);
          const times = asked.filter((each) => each === name).length;
          yield* TestClock.adjust("30 seconds");
          yield* syncWith(memory, 1);
          expect(asked.filter((each) => each === name).length).toBe(times);
        }).pipe(Effect.provideService(ArchivePeers, peers)),
      );
    }
  });

  test("is asked once a round for what it does not have", async () => {
    const { ledger } = forgottenWorld(3);
    ledger.weather = { ...FAIR, pruned: 1, hidden: 1 };
    const asked: Asked = [];
    await simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        for (let run = 0; run < 4; run++) yield* syncWith(memory, run);
        expect(asked.length).toBe(3);
        expect(memory.peers.all.size).toBe(0);
      }).pipe(Effect.provideService(ArchivePeers, [honest(asked, [])])),
    );
  });
});
