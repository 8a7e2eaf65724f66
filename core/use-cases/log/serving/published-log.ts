import { Context, Effect } from "effect";
import { parseCheckpoint } from "../../../log/checkpoint/checkpoint.ts";
import { parseLogOrigin } from "../../../log/checkpoint/log-origin.ts";
import { LogIdentity } from "../../../../ports/log/log-identity.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import type { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import {
  isSameHead,
  type LogStanding,
  parseLogStanding,
  type SignedHead,
} from "../log-standing.ts";
import type { LogTree } from "../read-tree.ts";
import { readSignedEdge, type SignedEdge } from "./signed-edge.ts";

/** The log that this service publishes, as it stands. */
export type PublishedLog = {
  readonly standing: LogStanding;
  readonly tree: LogTree;
  /** The published checkpoint, its size and its root (32 bytes); null before the first with the quorum's cosignatures. */
  readonly checkpoint: {
    readonly text: string;
    readonly size: number;
    readonly root: Uint8Array;
  } | null;
};

/** The log that this service, or another one on the same store, publishes. */
export class SettlementLog extends Context.Service<
  SettlementLog,
  {
    /** Null without a log key on this store so far. */
    readonly published: Effect.Effect<PublishedLog | null, StoreUnavailable, LogStore>;
    /** The partial tiles of a log at the size that it signed last. Fails while the store's leaves do not give the signed root. */
    readonly signedEdge: (
      log: PublishedLog,
    ) => Effect.Effect<SignedEdge, StoreUnavailable, LogStore>;
  }
>()("settlement-evidence/core/use-cases/SettlementLog") {}

const checkpointOf = ({ published, signed }: LogStanding): PublishedLog["checkpoint"] => {
  if (published === null) return null;
  const parsed = parseCheckpoint(published);
  return "value" in parsed && parsed.value.checkpoint.origin === signed.origin
    ? { text: published, size: parsed.value.checkpoint.size, root: parsed.value.checkpoint.root }
    : null;
};

/** The process's one `SettlementLog`. */
export const makeSettlementLog = Effect.gen(function* () {
  const identity = yield* LogIdentity;
  // The edge is verified once for each signed head.
  let verified: { readonly head: SignedHead; readonly edge: SignedEdge } | null = null;
  // The standing is parsed once for each text: a checkpoint changes once a second at most.
  let parsed: { readonly text: string; readonly value: PublishedLog } | null = null;
  return SettlementLog.of({
    signedEdge: Effect.fnUntraced(function* ({ tree, standing: { signed } }) {
      if (verified !== null && isSameHead(verified.head, signed)) return verified.edge;
      const edge = yield* readSignedEdge(tree, signed);
      verified = { head: signed, edge };
      return edge;
    }),
    published: Effect.gen(function* () {
      const store = yield* LogStore;
      const text = yield* store.standing;
      if (text === null) return null;
      if (parsed?.text === text) return parsed.value;
      const standing = parseLogStanding(text);
      const origin = standing && parseLogOrigin(standing.signed.origin);
      if (standing === undefined || origin === undefined || "fault" in origin) return null;
      const networkLeaf = yield* identity.networkLeaf;
      const tree = { networkLeaf, generation: origin.value.generation };
      const value = { standing, tree, checkpoint: checkpointOf(standing) };
      parsed = { text, value };
      return value;
    }),
  });
});
