import { Context, type Effect } from "effect";

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
