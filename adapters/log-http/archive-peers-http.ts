import { Effect, Layer } from "effect";
import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { type ArchivePeer, ArchivePeers, PeerUnusable } from "../../ports/index/archive-peers.ts";
import { boundedBytes } from "./bounded-bytes.ts";

/** How long one answer may take, milliseconds. */
const WITHIN_MS = 2000;
/** The service has no packet of the escrow: it knows none, or has not seen it either, or it is not final there yet. */
const HAS_NONE: ReadonlySet<number> = new Set([404, 409, 410]);

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "it gave no answer";
  return cause.name === "TimeoutError" ? `it took more than ${WITHIN_MS} ms` : cause.message;
};

const fetchPacket = async (url: URL, signal: AbortSignal): Promise<Uint8Array | null> => {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    // The operator names the peer's address; a peer may not send the service elsewhere.
    redirect: "manual",
  });
  if (response.ok) return boundedBytes(response, MAX_PACKET_BYTES);
  await response.body?.cancel();
  if (HAS_NONE.has(response.status)) return null;
  throw new Error(`it answered ${response.status}`);
};

const peerAt = (service: URL): ArchivePeer => ({
  name: service.host,
  packet: (escrow) =>
    Effect.tryPromise({
      try: (signal) => {
        const url = new URL(service);
        url.pathname = `${service.pathname.replace(/\/+$/, "")}/v1/evidence/${escrow}`;
        return fetchPacket(url, signal);
      },
      catch: (cause) => new PeerUnusable({ reason: reasonOf(cause) }),
    }),
});

/** Asks services over HTTP for packets: `GET <service>/v1/evidence/{pda}`. */
export const archivePeersHttp = (services: ReadonlyArray<URL>): Layer.Layer<ArchivePeers> =>
  Layer.succeed(ArchivePeers, services.map(peerAt));
