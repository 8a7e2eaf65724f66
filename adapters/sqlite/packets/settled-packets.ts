import { Effect, Layer } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import { MOST_PACKETS, NO_PACKETS, SettledPackets } from "../../../ports/settled-packets.ts";
import { openStore, type StoreKind } from "../open-store.ts";
import { storeCall } from "../store-failure.ts";

/** What makes a file the packets of this service: ASCII `SEpk` as PRAGMA application_id. */
export const PACKETS_KIND: StoreKind = {
  applicationId: 0x53_45_70_6b,
  schema: `CREATE TABLE settled_packet (
    kept INTEGER PRIMARY KEY AUTOINCREMENT,
    escrow TEXT NOT NULL UNIQUE,
    packet TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE INDEX packet_by_digest ON settled_packet (digest)`,
};

/**
 * The packets of settled escrows in a SQLite file of their own, made where there is none. At most `most` are kept, the
 * newest. With a file that cannot be used the service goes on, keeps nothing and logs why.
 */
export const settledPacketsSqlite = (path: string, most: number = MOST_PACKETS) =>
  Layer.effect(
    SettledPackets,
    Effect.gen(function* () {
      const db = yield* openStore(path, PACKETS_KIND);
      const put = db.query<null, [string, string, string]>(
        "INSERT OR REPLACE INTO settled_packet (escrow, packet, digest) VALUES (?1, ?2, ?3)",
      );
      const cut = db.query<null, [number]>(
        "DELETE FROM settled_packet WHERE kept <= (SELECT max(kept) FROM settled_packet) - ?1",
      );
      const select = db.query<{ packet: string }, [string]>(
        "SELECT packet FROM settled_packet WHERE escrow = ?1",
      );
      const ofDigest = db.query<{ escrow: Address }, [string]>(
        "SELECT escrow FROM settled_packet WHERE digest = ?1",
      );
      const keep = db.transaction((escrow: Address, packet: string, digest: Hash32) => {
        put.run(escrow, packet, digest);
        cut.run(most);
      });
      return {
        keep: storeCall("SettledPackets.keep", keep),
        find: storeCall(
          "SettledPackets.find",
          (escrow: string) => select.get(escrow)?.packet ?? null,
        ),
        escrowOf: storeCall(
          "SettledPackets.escrowOf",
          (digest: Hash32) => ofDigest.get(digest)?.escrow ?? null,
        ),
      };
    }).pipe(
      Effect.catch((cause) =>
        Effect.as(
          Effect.logWarning(
            "evidence packets are not kept; without a node they are not served after a restart",
            {
              cause: cause.message,
            },
          ),
          NO_PACKETS,
        ),
      ),
    ),
  );
