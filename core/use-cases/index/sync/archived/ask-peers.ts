import { Effect } from "effect";
import type { IndexedEscrow } from "../../../../domain/index/indexed-escrow.ts";
import { type ArchivePeer, ArchivePeers } from "../../../../../ports/index/archive-peers.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { monotonicMs } from "../../../monotonic-time.ts";
import { claimInPacket, rowOfClaim } from "./packet-row.ts";
import type { PeerRecords } from "./peer-records.ts";
import type { UnseenEscrows, UnseenSearch } from "./unseen-escrows.ts";

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
 * Asks the configured peers for the packets of unseen escrows, each peer once a round, and returns the rows that are believed. A peer that
 * does not answer, or lies, delays a sync by a few seconds at most, and is counted. Never fails.
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
