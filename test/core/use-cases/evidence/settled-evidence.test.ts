import { createHash } from "node:crypto";
import { expect, test } from "bun:test";
import { Effect } from "effect";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { type LogProof, LogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import {
  ARCHIVAL_FRESH_MS,
  STANDING_FRESH_MS,
} from "../../../../core/use-cases/evidence/settled-evidence.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { indexedOf } from "../../../arbitraries/index-history.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import { makeWorld, settled, signerOf } from "./evidence-world.ts";

const down = new LedgerUnavailable({ retryable: true, cause: "test" });

/** The same while the store does not answer. */
const withoutStore = Effect.updateService(IndexReader, (index) => ({
  ...index,
  events: () => Effect.fail(new StoreUnavailable({ retryable: true, cause: "test" })),
}));

const transactionOf = (of: Escrow, number: 0 | 1) => {
  const position = [of.createdSeq, of.settledSeq ?? 0n][number] ?? 0n;
  const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(number + 1));
  return { position, signature, slot: BigInt(500 + number) };
};

test("a settled packet is read and signed once, and stays the same object until something changes", async () => {
  const world = makeWorld();
  const first = await world.packet();
  const { reads } = world.ledger;
  expect(await world.packet()).toBe(first);
  expect(world.ledger.reads).toBe(reads);
  // The merchant is looked up again and has not changed.
  await world.pass(STANDING_FRESH_MS);
  expect(await world.packet()).toBe(first);
  expect(world.ledger.reads).toBe(reads + 1);
});

test("transactions that a sync finds are in the next packet, and stay when the store fails", async () => {
  const world = makeWorld();
  const first = await world.packet();
  expect(first.references.notFound).toEqual(["escrow_created", "escrow_released"]);
  const row = indexedOf(settled);
  const [created, released] = [transactionOf(settled, 0), transactionOf(settled, 1)];
  await world.apply({ escrows: [row], transactions: [released] });
  const second = await world.packet();
  expect(second.references.transactions.map(({ kind }) => kind)).toEqual(["escrow_released"]);
  expect(second.references.notFound).toEqual(["escrow_created"]);
  expect(await world.run(withoutStore(buildEvidence(settled.address)))).toBe(second);
  await world.apply({ transactions: [created] });
  const third = await world.packet();
  expect(third.references.transactions).toEqual(
    [created, released].map(({ signature, slot }, at) => ({
      signature,
      slot,
      kind: eventsOf(settled)[at]?.kind,
    })) as never,
  );
  expect(third.references.notFound).toEqual([]);
  for (const { data, signature } of [second, third]) {
    expect(data).toBe(first.data);
    expect(signature).toBe(first.signature);
  }
});

test("a store that holds fewer transactions than before takes none out of a packet", async () => {
  const world = makeWorld();
  await world.apply({ escrows: [indexedOf(settled)], transactions: [transactionOf(settled, 1)] });
  const first = await world.packet();
  expect(first.references.transactions.map(({ kind }) => kind)).toEqual(["escrow_released"]);
  // An index that is built anew has its rows before it finds their transactions.
  const rebuilt = Effect.updateService(IndexReader, (index) => ({
    ...index,
    summary: Effect.map(index.summary, (is) => ({ ...is, revision: (is.revision ?? 0n) + 1n })),
    events: (...asked: Parameters<typeof index.events>) =>
      Effect.map(index.events(...asked), (events) =>
        events.map((event) => ({ ...event, signature: null, slot: null })),
      ),
  }));
  const build = buildEvidence(settled.address);
  expect((await world.run(rebuilt(build))).references).toEqual(first.references);
  expect((await world.packet()).references).toEqual(first.references);
});

test("what a failed store could not return is in the next packet, even without a write", async () => {
  const world = makeWorld();
  const transactions = [transactionOf(settled, 0), transactionOf(settled, 1)];
  const row = indexedOf(settled);
  await world.apply({ escrows: [row], transactions });
  const build = buildEvidence(settled.address);
  expect((await world.run(withoutStore(build))).references.transactions).toEqual([]);
  expect((await world.run(withoutStore(build))).references.transactions).toEqual([]);
  expect((await world.packet()).references.transactions).toHaveLength(2);
});

/** The packet while the log has a proof of the escrow, or none. */
const withProof = (proof: LogProof | null) =>
  Effect.provideService(
    buildEvidence(settled.address),
    LogProofs,
    LogProofs.of({
      ofEscrow: ({ address }) => Effect.succeed(address === settled.address ? proof : null),
    }),
  );

test("the log's proof is in the next packet, a newer one replaces it, and none takes it away", async () => {
  const world = makeWorld();
  const first = await world.packet();
  expect(first.references.log).toBeNull();
  const proof = { origin: "example.com/log/0123456789abcdef/0", index: 2, proof: "one" };
  const second = await world.run(withProof(proof));
  expect(second.references.log).toEqual(proof);
  expect(await world.run(withProof({ ...proof }))).toBe(second);
  expect(await world.packet()).toBe(second);
  const third = await world.run(withProof({ ...proof, proof: "two" }));
  expect(third.references.log).toEqual({ ...proof, proof: "two" });
  expect([third.data, third.signature]).toEqual([first.data, first.signature]);
});

test("a packet's merchant state is at most five seconds old", async () => {
  const world = makeWorld();
  const { data, references } = await world.packet();
  expect(references.merchant?.status).toBe("Active");
  world.seed({ merchants: [{ ...merchant(), status: "Suspended", name: "Renamed" }] });
  await world.pass(5000);
  const later = await world.packet();
  expect(later.references.merchant).toMatchObject({ status: "Suspended", name: "Renamed" });
  expect(later.data).toBe(data);
});

test("many concurrent callers share one look-up of the merchant", async () => {
  const world = makeWorld();
  await world.packet();
  await world.pass(STANDING_FRESH_MS);
  const { reads } = world.ledger;
  await Promise.all(Array.from({ length: 20 }, () => world.packet()));
  expect(world.ledger.reads).toBe(reads + 1);
});

test("while the ledger is down, a kept packet is still returned and an unknown one is not", async () => {
  const world = makeWorld();
  const other = escrow("never asked for", "Refunded");
  const pending = escrow("pending");
  world.seed({ escrows: [other, pending] });
  const first = await world.packet();
  await world.packet(pending);
  world.ledger.fault = down;
  expect(await world.packet()).toBe(first);
  expect(await world.failure(other)).toContain("LedgerUnavailable");
  expect(await world.failure(pending)).toContain("LedgerUnavailable");
  await world.pass(STANDING_FRESH_MS);
  // The merchant was not asked for, which does not mean that it is missing.
  expect(await world.packet()).toBe(first);
  await world.pass(100 * STANDING_FRESH_MS);
  expect(await world.packet()).toBe(first);
  world.ledger.fault = null;
  await world.pass(STANDING_FRESH_MS);
  expect((await world.packet()).references).toEqual(first.references);
});

test("a pending packet is never kept", async () => {
  const world = makeWorld();
  const pending = escrow("changes");
  world.seed({ escrows: [pending] });
  const first = await world.packet(pending);
  world.ledger.slot += 1n;
  const second = await world.packet(pending);
  expect([first.data.as_of?.slot, second.data.as_of?.slot]).toEqual([1000, 1001]);
  // Neither is its merchant's state.
  world.seed({ merchants: [{ ...merchant(), status: "Suspended" }] });
  expect((await world.packet(pending)).references.merchant?.status).toBe("Suspended");
  world.seed({ escrows: [escrow("changes", "Fulfilled")] });
  expect((await world.packet(pending)).data.settlement_decision.status).toBe("released");
});

test("another key gives another signature of the same data", async () => {
  const world = makeWorld();
  const first = await world.packet();
  const build = buildEvidence(settled.address);
  const byOther = await world.run(Effect.provideService(build, EvidenceSigner, signerOf(8)));
  expect(byOther.data).toEqual(first.data);
  expect(byOther.signature.digest_sha256).toBe(first.signature.digest_sha256);
  expect(byOther.signature.signature).not.toBe(first.signature.signature);
  const none = EvidenceSigner.of({ ...signerOf(8), current: null });
  const unsigned = await world.run(Effect.provideService(build, EvidenceSigner, none));
  expect(unsigned.signature.status).toBe("unsigned");
  expect((await world.packet()).signature).toEqual(first.signature);
});

const ARCHIVABLE = (settled.settledAt ?? 0n) + 604_800n;

test("an archived escrow keeps its data and signature, and its references say so", async () => {
  const world = makeWorld();
  const first = await world.packet();
  expect(first.references.archived).toBeNull();
  world.ledger.setClock(ARCHIVABLE);
  await world.pass(ARCHIVAL_FRESH_MS);
  const tombstone = tombstoneAccount(settled, LOCAL_DEPLOYMENT.custodyProgram);
  expect(await world.packet()).toMatchObject({ references: { archived: null } });
  world.ledger.put(tombstone);
  await world.pass(ARCHIVAL_FRESH_MS);
  const second = await world.packet();
  const digest = createHash("sha256").update(encodeEscrowAccount(settled)).digest("hex");
  expect(second.references.archived as unknown).toEqual({ digest });
  expect(second.data).toBe(first.data);
  expect(second.signature).toBe(first.signature);
  const { reads } = world.ledger;
  await world.pass(ARCHIVAL_FRESH_MS);
  await world.packet();
  // The merchant's state, and nothing of the escrow any more.
  expect(world.ledger.reads - reads).toBe(1);
});

test("a tombstone with another digest than the packet's bytes have is not in its references", async () => {
  const world = makeWorld();
  const first = await world.packet();
  const forged = { ...settled, rentPayer: settled.merchant };
  const { custodyProgram } = LOCAL_DEPLOYMENT;
  world.ledger.setClock((settled.settledAt ?? 0n) + 8n * 86_400n);
  world.ledger.put(tombstoneAccount(forged, custodyProgram));
  await world.pass(8 * 86_400_000);
  expect((await world.packet()).references.archived).toBeNull();
  world.ledger.put(tombstoneAccount(settled, custodyProgram));
  await world.pass(ARCHIVAL_FRESH_MS);
  const digest = createHash("sha256").update(encodeEscrowAccount(settled)).digest("hex");
  const second = await world.packet();
  expect(second.references.archived as unknown).toEqual({ digest });
  expect(second.data).toBe(first.data);
});

test("the ledger's clock says whether an escrow can be archived, not the service's", async () => {
  const world = makeWorld();
  await world.packet();
  // The service's clock is far behind: it stands at 1970.
  world.ledger.setClock(ARCHIVABLE);
  const tombstone = tombstoneAccount(settled, LOCAL_DEPLOYMENT.custodyProgram);
  world.ledger.put(tombstone);
  await world.pass(STANDING_FRESH_MS);
  expect((await world.packet()).references.archived).not.toBeNull();
  // And far ahead: the ledger is not asked.
  const other = makeWorld();
  await other.pass(Number(ARCHIVABLE) * 1000);
  await other.packet();
  const { reads } = other.ledger;
  await other.packet();
  await other.pass(STANDING_FRESH_MS);
  await other.packet();
  expect(other.ledger.reads - reads).toBe(1);
});

test("before an escrow can be archived, the ledger is not asked whether it was", async () => {
  const world = makeWorld();
  await world.packet();
  const { reads } = world.ledger;
  await world.pass(ARCHIVAL_FRESH_MS);
  await world.packet();
  expect(world.ledger.reads - reads).toBe(1);
});

test("a process that never saw the escrow builds the same data from its index and the tombstone", async () => {
  const world = makeWorld();
  const before = await world.packet();
  const other = makeWorld();
  other.ledger.put(tombstoneAccount(settled, LOCAL_DEPLOYMENT.custodyProgram));
  expect(await other.failure(settled)).toContain("EscrowArchived");
  await other.apply({ escrows: [indexedOf(settled)] });
  const after = await other.packet();
  expect(after.data).toEqual(before.data);
  expect(after.signature).toEqual(before.signature);
  expect(after.references.archived).not.toBeNull();
});
