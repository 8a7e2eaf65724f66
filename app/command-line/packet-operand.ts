import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { boundedBody, fetchBytes } from "./fetch-bytes.ts";

const tooLong = `it is longer than a packet, which has ${MAX_PACKET_BYTES} bytes at most`;

/** The bytes of a packet in a file, behind an address or, for `-`, on standard input. Rejects with a reason in words. */
export const readPacket = async (from: string): Promise<Uint8Array> => {
  if (!/^https?:\/\//.test(from)) {
    const stream = from === "-" ? Bun.stdin.stream() : Bun.file(from).stream();
    return boundedBody(stream, MAX_PACKET_BYTES, tooLong);
  }
  const headers = { accept: "application/json" };
  const bytes = await fetchBytes(from, MAX_PACKET_BYTES, { headers, tooLong });
  if (bytes === null) throw new Error("it answered 404");
  return bytes;
};
