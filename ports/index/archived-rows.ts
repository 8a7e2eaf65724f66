import { Context, Data, type Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";

/** A peer did not answer in time, or with something that is no packet by its length or status. */
export class PeerUnusable extends Data.TaggedError("PeerUnusable")<{ readonly reason: string }> {}

/** Another service of the same ledger, which may have the packet of an archived escrow. Nothing that it says is believed. */
export type ArchivePeer = {
  /** Names it in logs and metrics: host and port. */
  readonly name: string;
  /** What it answers as an escrow's packet, at most 65,536 bytes; null where it has none. Within two seconds. */
  readonly packet: (escrow: Address) => Effect.Effect<Uint8Array | null, PeerUnusable>;
};

/** The peers that are asked for archived escrows, in this order. */
export class ArchivePeers extends Context.Service<ArchivePeers, ReadonlyArray<ArchivePeer>>()(
  "settlement-evidence/ports/ArchivePeers",
) {}

/** A packet that the operator gives to the index, by the name under which it waits. Nothing in it is believed. */
export type ImportedPacket = { readonly name: string; readonly bytes: Uint8Array };

/** The packets that the operator gives to the index (`bun run cli import-escrow`). */
export class ImportedPackets extends Context.Service<
  ImportedPackets,
  {
    /** At most `limit` packets that wait, in any order; none where they cannot be read. */
    readonly waiting: (limit: number) => Effect.Effect<ReadonlyArray<ImportedPacket>>;
    /** Takes a packet away. One that stays after all waits for the next sync. */
    readonly forget: (name: string) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/ImportedPackets") {}
