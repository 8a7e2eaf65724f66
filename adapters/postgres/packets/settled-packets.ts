import { Effect, Layer } from "effect";
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
        async (sql, escrow: string, packet: string) => {
          await rowsOf(
            sql,
            `WITH put AS (
               INSERT INTO settled_packet (escrow, packet) VALUES ($1, $2)
               ON CONFLICT (escrow) DO UPDATE
               SET packet = EXCLUDED.packet, kept = nextval('settled_packet_kept') RETURNING kept
             ) DELETE FROM settled_packet WHERE kept <= (SELECT kept FROM put) - $3`,
            [escrow, packet, most],
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
    })),
  );
