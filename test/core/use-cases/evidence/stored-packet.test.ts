import { expect, test } from "bun:test";
import { Effect, Layer, ManagedRuntime } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { jwkThumbprint } from "../../../../core/domain/evidence/evidence-signature.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../../../../core/use-cases/evidence/settled-evidence.ts";
import { type LogProof, LogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { Instance } from "../../../../ports/instance.ts";
import { LedgerRecord } from "../../../../ports/ledger/ledger-record.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { type IndexChanges, IndexWriter } from "../../../../ports/index/index-writer.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { changesOf, indexedOf } from "../../../arbitraries/index-history.ts";
import { SettledPackets } from "../../../../ports/settled-packets.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { seedInto, settlementLedger } from "../../../adapters/http/support/settlement-ledger.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const GENESIS = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
const settled = escrow("kept", "Fulfilled");
const other = escrow("another one", "Fulfilled");
const pending = escrow("still open", "Pending");
const DOWN = new LedgerUnavailable({ retryable: true, cause: "test" });

const signerOf = (seed: number | null) => {
  const key = seed === null ? null : ed25519Key(new Uint8Array(32).fill(seed));
  return EvidenceSigner.of({
    current: key && {
      keyId: jwkThumbprint(key.publicKey),
      publicKey: key.publicKey,
      status: "current",
      endedAtMs: null,
    },
    former: [],
    sign: (message) => (key === null ? Effect.die("no key") : Effect.succeed(key.sign(message))),
  });
};

/** One process with this key, over packets that outlive it. */
const startProcess = (
  packets: Map<string, string>,
  {
    key = 7,
    genesis = GENESIS,
    proof = null,
  }: {
    readonly key?: number | null;
    readonly genesis?: string;
    readonly proof?: LogProof | null;
  } = {},
) => {
  const ledger = settlementLedger(genesis);
  const seed = seedInto(ledger);
  seed({ escrows: [settled, other, pending], merchants: [merchant()] });
  const ports = Layer.mergeAll(
    ledger.portsWith(),
    Layer.succeed(Instance, testInstance()),
    Layer.succeed(EvidenceSigner, signerOf(key)),
    Layer.succeed(LedgerRecord, {
      adopt: Effect.succeed,
      state: Effect.succeed({ genesisHash: genesis, standing: "recorded" as const }),
    }),
    Layer.succeed(SettledPackets, {
      keep: (address, text) => Effect.sync(() => void packets.set(address, text)),
      find: (address) => Effect.sync(() => packets.get(address) ?? null),
      escrowOf: () => Effect.succeed(null),
    }),
    indexMemory(),
    patientClock(),
  );
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(SettledEvidence, makeSettledEvidence),
      Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(proof) }),
      Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    ).pipe(Layer.provideMerge(ports)),
  );
  return {
    ledger,
    suspend: () => seed({ merchants: [{ ...merchant(), status: "Suspended" }] }),
    pass: (ms: number) => runtime.runPromise(TestClock.adjust(ms)),
    packet: (of = settled) => runtime.runPromise(buildEvidence(of.address)),
    failure: (of = settled) => runtime.runPromise(Effect.flip(buildEvidence(of.address))),
    sync: (changes: Partial<IndexChanges>) =>
      runtime.runPromise(IndexWriter.use((index) => index.apply(changesOf(changes)))),
    standingAgeMs: () =>
      runtime.runPromise(
        SettledEvidence.use(({ standingAgeMs }) => standingAgeMs(settled.merchant)),
      ),
  };
};

/** What a process that has served packets of these escrows leaves behind, and the packet of the settled one. */
const served = async (key: number | null = 7) => {
  const packets = new Map<string, string>();
  const first = startProcess(packets, { key });
  await first.packet(pending);
  return { packets, packet: await first.packet() };
};

test.each([DOWN, new LedgerTimeout({ timeoutMs: 1 })])(
  "without a node, a packet that an earlier process served is the same, and its merchant's state has an age",
  async (fault) => {
    const { packets, packet } = await served();
    expect([...packets.keys()]).toEqual([settled.address]);
    const second = startProcess(packets);
    await second.pass(60_000);
    second.ledger.fault = fault;
    expect(await second.packet()).toEqual(packet);
    expect(await second.standingAgeMs()).toBe(60_000);
    expect(await second.failure(other)).toMatchObject({ _tag: fault._tag });
    expect(await second.failure(pending)).toMatchObject({ _tag: fault._tag });
    // Once the node answers, the merchant is read again, and the packet stays.
    second.ledger.fault = null;
    await second.pass(5000);
    expect((await second.packet()).signature).toEqual(packet.signature);
    expect(await second.standingAgeMs()).toBe(0);
  },
);

test("the transaction that a sync finds of a packet that was served is kept for later processes too", async () => {
  const packets = new Map<string, string>();
  const first = startProcess(packets);
  expect((await first.packet()).references.transactions).toEqual([]);
  const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(3));
  const transactions = [{ position: settled.settledSeq ?? 0n, signature, slot: 9n }];
  await first.sync({ escrows: [indexedOf(settled)], transactions });
  const { references } = await first.packet();
  expect(references.transactions).toHaveLength(1);
  const second = startProcess(packets);
  second.ledger.fault = DOWN;
  expect((await second.packet()).references).toEqual(references);
});

test("without a node, a kept packet has the log's proof of now: the key of the kept one may be retired", async () => {
  const proofOf = (proof: string): LogProof => ({ origin: "log.example/log/0/0", index: 2, proof });
  const packets = new Map<string, string>();
  const first = startProcess(packets, { proof: proofOf("by the old key") });
  expect((await first.packet()).references.log).toEqual(proofOf("by the old key"));
  const second = startProcess(packets, { proof: proofOf("by the new key") });
  second.ledger.fault = DOWN;
  expect((await second.packet()).references.log).toEqual(proofOf("by the new key"));
  const third = startProcess(packets);
  third.ledger.fault = DOWN;
  expect((await third.packet()).references.log).toEqual(proofOf("by the old key"));
});

const isSuspended = { references: { merchant: { status: "Suspended" } } };

test("a kept packet never shows an older state of its merchant than the process has read since", async () => {
  const { packets } = await served();
  const second = startProcess(packets);
  await second.pass(60_000);
  second.suspend();
  expect(await second.packet(other)).toMatchObject(isSuspended);
  second.ledger.fault = DOWN;
  expect(await second.packet()).toMatchObject(isSuspended);
  expect(await second.standingAgeMs()).toBe(0);
});

test("of two kept packets, the one that was kept later says how the merchant stands", async () => {
  const { packets } = await served();
  const later = startProcess(packets);
  await later.pass(60_000);
  later.suspend();
  await later.packet(other);
  const last = startProcess(packets);
  await last.pass(90_000);
  last.ledger.fault = DOWN;
  expect(await last.packet()).toMatchObject({ references: { merchant: { status: "Active" } } });
  expect(await last.standingAgeMs()).toBe(90_000);
  expect(await last.packet(other)).toMatchObject(isSuspended);
  expect(await last.standingAgeMs()).toBe(30_000);
  expect(await last.packet()).toMatchObject(isSuspended);
});

test("with a node, what was kept is not looked at", async () => {
  const { packets, packet } = await served();
  packets.set(settled.address, "{}");
  const second = startProcess(packets);
  expect((await second.packet()).data).toEqual(packet.data);
});

test("an unsigned packet is not kept", async () => {
  expect([...(await served(null)).packets]).toEqual([]);
});

const edited = (text: string, change: (stored: Record<string, unknown>) => object): string => {
  const stored = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({ ...stored, ...change(stored) });
};
const flipped = (text: unknown, at: number): string => {
  const bytes = Buffer.from(String(text), "base64");
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("base64");
};
const WRONG: ReadonlyArray<readonly [string, (text: string) => string]> = [
  ["no JSON", () => "{"],
  ["another value", () => "null"],
  ["nothing of a packet", () => "{}"],
  ["another form", (text) => edited(text, () => ({ version: 2 }))],
  ["another state", (text) => edited(text, ({ data }) => ({ data: flipped(data, 10) }))],
  [
    "another last byte",
    (text) =>
      edited(text, ({ data }) => ({
        data: flipped(data, -1 + Buffer.from(String(data), "base64").length),
      })),
  ],
  ["another owner", (text) => edited(text, () => ({ owner: settled.merchant }))],
  [
    "another signature",
    (text) => edited(text, ({ signature }) => ({ signature: flipped(signature, 3) })),
  ],
  ["a slot that is no number", (text) => edited(text, () => ({ transactions: [{ slot: "x" }] }))],
];

test.each(WRONG)("a kept packet with %s is not served", async (_, change) => {
  const { packets } = await served();
  packets.set(settled.address, change(packets.get(settled.address) ?? ""));
  const second = startProcess(packets);
  second.ledger.fault = DOWN;
  expect(await second.failure()).toBe(DOWN);
});

test.each([
  ["another key", { key: 8 }],
  ["no key", { key: null }],
  ["another ledger", { genesis: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d" }],
])("a service with %s serves no packet that was kept", async (_, options) => {
  const { packets } = await served();
  const second = startProcess(packets, options);
  second.ledger.fault = DOWN;
  expect(await second.failure()).toBe(DOWN);
});

test("the packet of one escrow is not served for another", async () => {
  const { packets } = await served();
  packets.set(other.address, packets.get(settled.address) ?? "");
  const second = startProcess(packets);
  second.ledger.fault = DOWN;
  expect(await second.failure(other)).toBe(DOWN);
});
