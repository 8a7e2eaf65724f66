import { Effect, Layer } from "effect";
import { tilePath } from "../../core/log/tiles/tile-path.ts";
import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { type ArchivePeer, ArchivePeers, PeerUnusable } from "../../ports/index/archived-rows.ts";
import { LogSource, LogUnavailable, MAX_TILE_BYTES } from "../../ports/log/log-source.ts";

/** The body of an answer. Rejects as soon as it is longer than `most` bytes. */
const boundedBytes = async ({ body }: Response, most: number): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

/** How long one tile may take, milliseconds. */
const LOG_WITHIN_MS = 10_000;

/** The address of a path below a log's address, which may have a path of its own. */
const below = (log: URL, path: string): URL => {
  const url = new URL(log);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
  return url;
};

const fetchTile = async (url: URL, signal: AbortSignal): Promise<Uint8Array | null> => {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(LOG_WITHIN_MS)]),
    // The operator names the log's address; a log may not send its witness elsewhere.
    redirect: "manual",
  });
  if (response.ok) return boundedBytes(response, MAX_TILE_BYTES);
  await response.body?.cancel();
  if (response.status === 404) return null;
  throw new Error(`the log answered ${response.status}`);
};

/** Reads tiles over HTTP: `<log>/log/tile/...` (docs/log.md, "Tiles"). */
export const logSourceHttp: Layer.Layer<LogSource> = Layer.succeed(LogSource, {
  tile: (log, tile) =>
    Effect.tryPromise({
      try: (signal) => fetchTile(below(log, `log/${tilePath(tile)}`), signal),
      catch: (cause) => new LogUnavailable({ cause }),
    }),
});

/** How long one answer may take, milliseconds. */
const PEER_WITHIN_MS = 2000;
/** The service has no packet of the escrow: it does not know the escrow, never saw its bytes, or waits for finality. */
const HAS_NONE: ReadonlySet<number> = new Set([404, 409, 410]);

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "it gave no answer";
  return cause.name === "TimeoutError" ? `it took more than ${PEER_WITHIN_MS} ms` : cause.message;
};

const fetchPacket = async (url: URL, signal: AbortSignal): Promise<Uint8Array | null> => {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    signal: AbortSignal.any([signal, AbortSignal.timeout(PEER_WITHIN_MS)]),
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
