import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { boundedBody, fetchBytes } from "./fetch-bytes.ts";

/** The bytes of a packet in a file, behind an address or, for `-`, on standard input. Rejects with a reason in words. */
export const readPacket = async (from: string): Promise<Uint8Array> => {
  if (!/^https?:\/\//.test(from))
    return boundedBody(
      from === "-" ? Bun.stdin.stream() : Bun.file(from).stream(),
      MAX_PACKET_BYTES,
    );
  const bytes = await fetchBytes(from, MAX_PACKET_BYTES, { accept: "application/json" });
  if (bytes === null) throw new Error("it answered 404");
  return bytes;
};
