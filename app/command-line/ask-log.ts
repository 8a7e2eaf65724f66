import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { type FreshLog, freshTiles } from "../../core/protocol/verification/verify-fresh-log.ts";
import { EX_UNAVAILABLE, EX_USAGE, endWith } from "./command-line.ts";
import { fetchBytes } from "./fetch-bytes.ts";

/** More than the longest checkpoint that is read, and 32 times a full tile. */
const MAX_BYTES = 262_144;
const HASH_LENGTH = 32;

/** The address below which a log serves; of a service it is /log. Ends the command when the text is no address. */
export const logAddress = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return endWith(EX_USAGE, "--log: expected the http:// or https:// address of a log");
  url.pathname = url.pathname === "/" ? "/log/" : `${url.pathname.replace(/\/+$/, "")}/`;
  return url;
};

const answerOf = (url: URL): Promise<Uint8Array | null> => fetchBytes(url.href, MAX_BYTES);

const PARTIAL = /\.p\/([0-9]+)$/;

/**
 * A tile, or as much of the full one where a log that has grown serves only that (C2SP tlog-tiles, "Partial Tiles").
 */
const tileAt = async (prefix: URL, path: string): Promise<Uint8Array | null> => {
  const found = await answerOf(new URL(path, prefix));
  if (found !== null) return found;
  const width = PARTIAL.exec(path)?.[1];
  const full =
    width === undefined ? null : await answerOf(new URL(path.replace(PARTIAL, ""), prefix));
  return full?.slice(0, Number(width) * HASH_LENGTH) ?? null;
};

/** The tiles of a log at these paths, as many of them as it has. Ends the command when it gives no answer. */
export const tilesOfLog = async (
  prefix: URL,
  paths: ReadonlyArray<string>,
): Promise<ReadonlyMap<string, Uint8Array>> => {
  const tiles = new Map<string, Uint8Array>();
  try {
    for (const path of paths) {
      const tile = await tileAt(prefix, path);
      if (tile !== null) tiles.set(path, tile);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return endWith(EX_UNAVAILABLE, `the log at ${prefix.origin} gave no usable answer (${reason})`);
  }
  return tiles;
};

/**
 * What a log serves now: its checkpoint, and the tiles that compare it with a packet's and with the configuration that
 * a node has shown. Ends the command when the log gives no answer, because the packet is then undecided.
 */
export const askLog = async (
  packet: Uint8Array,
  prefix: URL,
  custodyConfig: LedgerAccount | null,
): Promise<FreshLog> => {
  try {
    const note = await answerOf(new URL("checkpoint", prefix));
    if (note === null) throw new Error("it has no checkpoint");
    const checkpoint = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(note);
    const tiles = new Map<string, Uint8Array>();
    const needed = new Set(freshTiles(packet, checkpoint));
    for (const path of freshTiles(packet, checkpoint, custodyConfig)) {
      const tile = await tileAt(prefix, path);
      if (tile !== null) tiles.set(path, tile);
      // The ledger may have logged more than this log has signed: the node's accounts decide then.
      else if (needed.has(path)) throw new Error(`it has no ${path}`);
    }
    return { checkpoint, tiles };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return endWith(
      EX_UNAVAILABLE,
      `the log at ${prefix.origin} gave no usable answer (${reason}); the packet is undecided`,
    );
  }
};
