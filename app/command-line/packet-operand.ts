import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";

const FETCH_TIMEOUT_MS = 10_000;

/** The body of an answer. Rejects as soon as it is longer than a packet can be. */
const bounded = async (body: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_PACKET_BYTES)
      throw new Error(`it is longer than a packet, which has ${MAX_PACKET_BYTES} bytes at most`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

const open = async (from: string): Promise<AsyncIterable<Uint8Array>> => {
  if (from === "-") return Bun.stdin.stream();
  if (!/^https?:\/\//.test(from)) return Bun.file(from).stream();
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const response = await fetch(from, { signal, headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return response.body ?? new Blob([]).stream();
};

/** The bytes of a packet in a file, behind an address or, for `-`, on standard input. Rejects with a reason in words. */
export const readPacket = async (from: string): Promise<Uint8Array> => bounded(await open(from));
