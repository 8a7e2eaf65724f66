import { expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import { SettledEvidence } from "../../../../core/use-cases/evidence/settled-evidence.ts";
import type { LogProof } from "../../../../core/use-cases/log/serving/read-log.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { indexedOf } from "../../../arbitraries/index-history.ts";
import { makeWorld, settled, type WorldOptions } from "./evidence-world.ts";

const other = escrow("another one", "Fulfilled");
const pending = escrow("still open", "Pending");
const DOWN = new LedgerUnavailable({ retryable: true, cause: "test" });

/** One process with this key, over packets that outlive it. */
const startProcess = (packets: Map<string, string>, options: WorldOptions = {}) => {
  const world = makeWorld({
    ...options,
    packets: {
      keep: (address, text) => Effect.sync(() => void packets.set(address, text)),
      find: (address) => Effect.sync(() => packets.get(address) ?? null),
      escrowOf: () => Effect.succeed(null),
    },
  });
  world.seed({ escrows: [other, pending] });
  return {
    ...world,
    suspend: () => world.seed({ merchants: [{ ...merchant(), status: "Suspended" }] }),
    failure: (of = settled) => world.run(Effect.flip(buildEvidence(of.address))),
    standingAgeMs: () =>
      world.run(SettledEvidence.use(({ standingAgeMs }) => standingAgeMs(settled.merchant))),
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
  await first.apply({ escrows: [indexedOf(settled)], transactions });
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
