import { Effect, Layer } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import { MOST_PACKETS, SettledPackets } from "../../../ports/settled-packets.ts";
import { PostgresStore, storeCall } from "../postgres-store.ts";
import { rowsOf } from "../queries.ts";

/** The packets of settled escrows in the database that replicas share. At most `most` are kept, the newest. */
export const settledPacketsPostgres = (
  most: number = MOST_PACKETS,
): Layer.Layer<SettledPackets, never, PostgresStore> =>
  Layer.effect(
    SettledPackets,
    Effect.map(PostgresStore, ({ runReady }) => ({
      keep: storeCall(
        runReady,
        "SettledPackets.keep",
        async (sql, escrow: Address, packet: string, digest: Hash32) => {
          await rowsOf(
            sql,
            `WITH put AS (
               INSERT INTO settled_packet (escrow, packet, digest) VALUES ($1, $2, $3)
               ON CONFLICT (escrow) DO UPDATE
               SET packet = EXCLUDED.packet, digest = EXCLUDED.digest, kept = nextval('settled_packet_kept') RETURNING kept
             ) DELETE FROM settled_packet WHERE kept <= (SELECT kept FROM put) - $4`,
            [escrow, packet, digest, most],
          );
        },
      ),
      find: storeCall(runReady, "SettledPackets.find", async (sql, escrow: string) => {
        const [row] = await rowsOf<{ packet: string }>(
          sql,
          "SELECT packet FROM settled_packet WHERE escrow = $1",
          [escrow],
        );
        return row?.packet ?? null;
      }),
      escrowOf: storeCall(runReady, "SettledPackets.escrowOf", async (sql, digest: Hash32) => {
        const [row] = await rowsOf<{ escrow: Address }>(
          sql,
          "SELECT escrow FROM settled_packet WHERE digest = $1 LIMIT 1",
          [digest],
        );
        return row?.escrow ?? null;
      }),
    })),
  );
