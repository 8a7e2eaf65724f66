import { Effect } from "effect";
import {
  type ArchivePeer,
  ArchivePeers,
  type ImportedPacket,
  ImportedPackets,
} from "../../../../../ports/index/archived-rows.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import type { Address } from "../../../../domain/address.ts";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { Deployment } from "../../../../domain/ledger/deployment.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { decodeEscrowAccount } from "../../../../protocol/accounts/escrow-account.ts";
import { believedBytes } from "../../../../protocol/accounts/archived-escrow-account.ts";
import { parseEvidencePacket } from "../../../../protocol/evidence/evidence-packet.ts";
import { monotonicMs } from "../../../single-flight.ts";
import type { UnseenEscrows, UnseenSearch } from "./search-archived.ts";

/**
 * The account that a packet claims an escrow had, and the number of its creation. Nobody has compared it with the
 * ledger.
 */
type ClaimedEscrow = {
  readonly address: Address;
  readonly createdSeq: bigint;
  readonly data: Uint8Array;
};

/** The account in a packet, or why there is none that can be compared with the ledger. */
const claimInPacket = (
  packet: Uint8Array,
  deployment: Deployment,
): { readonly value: ClaimedEscrow } | { readonly fault: string } => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return { fault: `it is no evidence packet: ${parsed.fault}` };
  const { escrowAddress: address, account } = parsed.value;
  const decoded = decodeEscrowAccount(
    { address, owner: deployment.custodyProgram, data: account.data },
    deployment,
  );
  if ("fault" in decoded) return { fault: `its account is no escrow here: ${decoded.fault}` };
  return { value: { address, createdSeq: decoded.value.createdSeq, data: account.data } };
};

/**
 * The row of an unseen escrow by a packet's account, or why that account is not believed: only the ledger's digest
 * decides.
 */
const rowOfClaim = (
  row: UnseenEscrow,
  { address, data }: ClaimedEscrow,
  deployment: Deployment,
): { readonly value: IndexedEscrow } | { readonly fault: string } => {
  if (address !== row.address) return { fault: `it is the packet of another escrow, ${address}` };
  const last =
    row.settledHash === null
      ? undefined
      : believedBytes(address, data, { lastHash: hash32FromBytes(row.settledHash) }, deployment);
  const seen = last && indexedEscrowOf(last.escrow, last.data);
  return seen === undefined || seen.createdSeq !== row.createdSeq
    ? { fault: "its account does not have the digest that the ledger keeps of the escrow" }
    : { value: seen };
};

/** What is known of a peer that is asked for archived escrows, since the process began. */
export type PeerRecord = {
  /** Packets whose account the ledger's digest confirmed. */
  readonly used: number;
  /** Answers that were none in time, no packet, or not what the ledger kept. */
  readonly ignored: number;
};

/** A peer with a useless answer is left alone for this long, milliseconds. */
const PEER_RESTS_MS = 60_000;

type Known = PeerRecord & { readonly restsUntilMs: number; readonly problem: string | null };

const NEW: Known = { used: 0, ignored: 0, restsUntilMs: Number.NEGATIVE_INFINITY, problem: null };

/** How the peers' answers went, and which peers are left alone. */
export class PeerRecords {
  readonly #peers = new Map<string, Known>();

  /** By name; those that were asked with an outcome to count. */
  get all(): ReadonlyMap<string, PeerRecord> {
    return new Map(
      Array.from(this.#peers, ([name, { used, ignored }]) => [name, { used, ignored }]),
    );
  }

  /** Whether a peer is left alone at a time of a monotonic clock, milliseconds. */
  isResting(name: string, nowMs: number): boolean {
    return nowMs < (this.#peers.get(name) ?? NEW).restsUntilMs;
  }

  /** Counts a packet that was believed. */
  used(name: string): void {
    const known = this.#peers.get(name) ?? NEW;
    this.#peers.set(name, { ...known, used: known.used + 1, problem: null });
  }

  /** Counts a useless answer; says whether its reason is another one than the last. */
  ignored(name: string, problem: string, nowMs: number): boolean {
    const known = this.#peers.get(name) ?? NEW;
    const restsUntilMs = nowMs + PEER_RESTS_MS;
    this.#peers.set(name, { ...known, ignored: known.ignored + 1, restsUntilMs, problem });
    return known.problem !== problem;
  }
}

const AT_ONCE = 4;
/** A sync begins no further question after this time: slow peers must not hold it up. */
const ASK_FOR_MS = 2000;

/** What the peers know of the searches, and how they answered so far. */
type Asking = { readonly unseen: UnseenEscrows; readonly records: PeerRecords };

/** What one peer shows of an unseen escrow, null for nothing that is believed. */
const ask = Effect.fnUntraced(function* (
  { unseen, records }: Asking,
  peer: ArchivePeer,
  one: UnseenSearch,
) {
  const { deployment } = yield* Instance;
  const answer = yield* Effect.result(peer.packet(one.row.address));
  const ignore = Effect.fnUntraced(function* (reason: string) {
    if (records.ignored(peer.name, reason, yield* monotonicMs))
      yield* Effect.logWarning("a peer's answer is ignored, and it is left alone for a minute", {
        peer: peer.name,
        escrow: one.row.address,
        reason,
      });
    return null;
  });
  if (answer._tag === "Failure") return yield* ignore(answer.failure.reason);
  unseen.notAt(peer.name, one);
  if (answer.success === null) return null;
  const claim = claimInPacket(answer.success, deployment);
  const seen = "fault" in claim ? claim : rowOfClaim(one.row, claim.value, deployment);
  if ("fault" in seen) return yield* ignore(seen.fault);
  records.used(peer.name);
  return seen.value;
});

const askEach = Effect.fnUntraced(function* (
  asking: Asking,
  peers: ReadonlyArray<ArchivePeer>,
  one: UnseenSearch,
) {
  for (const peer of peers) {
    if (one.asked.has(peer.name)) continue;
    if (asking.records.isResting(peer.name, yield* monotonicMs)) continue;
    const found = yield* ask(asking, peer, one);
    if (found === null) continue;
    asking.unseen.ended(one);
    return found;
  }
  return null;
});

/**
 * Asks the configured peers for the packets of unseen escrows, each peer once a round, and returns the rows that are
 * believed. A peer that does not answer, or lies, delays a sync by a few seconds at most, and is counted. Never fails.
 */
export const askPeers = Effect.fn("askPeers")(function* (
  searches: ReadonlyArray<UnseenSearch>,
  asking: Asking,
) {
  const peers = yield* ArchivePeers;
  if (peers.length === 0) return [];
  const beganMs = yield* monotonicMs;
  const asked = yield* Effect.forEach(
    searches,
    Effect.fnUntraced(function* (one) {
      const isLate = (yield* monotonicMs) - beganMs >= ASK_FOR_MS;
      return isLate ? null : yield* askEach(asking, peers, one);
    }),
    { concurrency: AT_ONCE },
  );
  return asked.filter((row): row is IndexedEscrow => row !== null);
});

/** Packets read per sync. */
const IMPORTS_A_SYNC = 64;

/** What became of an imported packet: a row, nothing to do, a wait for its event, or a refusal. */
type Taken =
  | { readonly kind: "row"; readonly row: IndexedEscrow }
  | { readonly kind: "known" | "later" }
  | { readonly kind: "refused"; readonly reason: string };

const take = Effect.fnUntraced(function* ({ bytes }: ImportedPacket, count: bigint) {
  const writer = yield* IndexWriter;
  const { deployment } = yield* Instance;
  const claim = claimInPacket(bytes, deployment);
  if ("fault" in claim) return { kind: "refused", reason: claim.fault } satisfies Taken;
  const { address, createdSeq } = claim.value;
  if (createdSeq > count) return { kind: "later" } satisfies Taken;
  const [row] = yield* writer.unseen(1, createdSeq - 1n);
  if (row?.createdSeq !== createdSeq || row.address !== address)
    return { kind: "known" } satisfies Taken;
  const seen = rowOfClaim(row, claim.value, deployment);
  const taken: Taken =
    "fault" in seen ? { kind: "refused", reason: seen.fault } : { kind: "row", row: seen.value };
  return taken;
});

/**
 * The rows of unseen escrows of an index at `count` that the operator's packets show, and the names of the packets that
 * are done with once those rows are written. A packet that is not believed is logged with the reason. Fails like the
 * store.
 */
export const takeImports = Effect.fn("takeImports")(function* (count: bigint) {
  const imports = yield* ImportedPackets;
  const rows = new Map<bigint, IndexedEscrow>();
  const done: Array<string> = [];
  for (const packet of yield* imports.waiting(IMPORTS_A_SYNC)) {
    const taken: Taken = yield* take(packet, count);
    if (taken.kind === "later") continue;
    done.push(packet.name);
    if (taken.kind === "row") rows.set(taken.row.createdSeq, taken.row);
    else if (taken.kind === "refused")
      yield* Effect.logWarning("an imported packet is refused", {
        packet: packet.name,
        reason: taken.reason,
      });
  }
  return { rows: [...rows.values()], done };
});
