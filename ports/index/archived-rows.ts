import { Context, Data, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";

/** A peer did not answer in time, or its answer's length or status shows that it is no packet. */
export class PeerUnusable extends Data.TaggedError("PeerUnusable")<{ readonly reason: string }> {}

/** Another service of the same ledger, which may have the packet of an archived escrow. Its answers are not trusted. */
export type ArchivePeer = {
  /** Names it in logs and metrics: host and port. */
  readonly name: string;
  /** Its packet of an escrow, at most 65,536 bytes, within two seconds; null when it has none. */
  readonly packet: (escrow: Address) => Effect.Effect<Uint8Array | null, PeerUnusable>;
};

/** The peers that are asked for archived escrows, in this order. */
export class ArchivePeers extends Context.Service<ArchivePeers, ReadonlyArray<ArchivePeer>>()(
  "settlement-evidence/ports/ArchivePeers",
) {}

/** A packet that the operator hands to the index, and its name in the queue. Its content is not trusted. */
export type ImportedPacket = { readonly name: string; readonly bytes: Uint8Array };

/** The packets that the operator gives to the index (`bun run cli import-escrow`). */
export class ImportedPackets extends Context.Service<
  ImportedPackets,
  {
    /** At most `limit` packets that wait, in any order; none where they cannot be read. */
    readonly waiting: (limit: number) => Effect.Effect<ReadonlyArray<ImportedPacket>>;
    /** Removes a packet. If that fails, the next sync reads it again. */
    readonly forget: (name: string) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/ImportedPackets") {}
