import { addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { SpoolPlace } from "../../ports/index/snapshot-spool.ts";
import type { ScannedAccounts } from "../../ports/ledger/ledger.ts";

/** What a spool's file holds: its heading, chunks of accounts, and the ends of scans. */
export type SpoolRecord =
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "chunk"; readonly chunk: ScannedAccounts & SpoolPlace }
  | { readonly kind: "ended"; readonly place: SpoolPlace };

const HEADING = 0;
const CHUNK = 1;
const ENDED = 2;
/** Before a record's body: its length (u32) and its wyhash (u64), little-endian. */
export const FRAME_BYTES = 12;
/** No record is longer. A chunk has at most 1000 accounts of known kinds. */
export const MOST_BODY_BYTES = 128 * 1024 * 1024;
/** Type, scan, kind, slot, the cursor's length, the number of accounts. */
const CHUNK_HEAD_BYTES = 1 + 1 + 1 + 8 + 2 + 4;
/** Address, owner, lamports, executable, the data's length. */
const ACCOUNT_HEAD_BYTES = 32 + 32 + 8 + 1 + 4;

/** The lengths of this program's cursors fit into 16 bits; 0 stands for none. */
const cursorBytes = ({ next }: ScannedAccounts): Buffer => Buffer.from(next ?? "", "utf8");

const chunkBody = (chunk: ScannedAccounts & SpoolPlace): Buffer => {
  const cursor = cursorBytes(chunk);
  const accounts = chunk.value;
  const length = accounts.reduce((sum, { data }) => sum + ACCOUNT_HEAD_BYTES + data.length, 0);
  const body = Buffer.allocUnsafe(CHUNK_HEAD_BYTES + cursor.length + length);
  let at = body.writeUInt8(CHUNK, 0);
  at = body.writeUInt8(chunk.scan, at);
  at = body.writeUInt8(chunk.kind, at);
  at = body.writeBigUInt64LE(chunk.slot, at);
  at = body.writeUInt16LE(cursor.length, at);
  at = body.writeUInt32LE(accounts.length, at);
  at += cursor.copy(body, at);
  for (const { address, owner, lamports, executable, data } of accounts) {
    body.set(addressToBytes(address), at);
    body.set(addressToBytes(owner), at + 32);
    at = body.writeBigUInt64LE(lamports, at + 64);
    at = body.writeUInt8(executable ? 1 : 0, at);
    at = body.writeUInt32LE(data.length, at);
    body.set(data, at);
    at += data.length;
  }
  return body;
};

const readChunk = (body: Buffer): ScannedAccounts & SpoolPlace => {
  const cursorEnd = CHUNK_HEAD_BYTES + body.readUInt16LE(11);
  const next = body.toString("utf8", CHUNK_HEAD_BYTES, cursorEnd);
  const value: Array<LedgerAccount> = [];
  let at = cursorEnd;
  for (let left = body.readUInt32LE(13); left > 0; left--) {
    const dataAt = at + ACCOUNT_HEAD_BYTES;
    const dataEnd = dataAt + body.readUInt32LE(at + 73);
    value.push({
      address: addressFromBytes(body.subarray(at, at + 32)),
      owner: addressFromBytes(body.subarray(at + 32, at + 64)),
      lamports: body.readBigUInt64LE(at + 64),
      executable: body.readUInt8(at + 72) === 1,
      data: Uint8Array.from(body.subarray(dataAt, dataEnd)),
    });
    at = dataEnd;
  }
  return {
    scan: body.readUInt8(1),
    kind: body.readUInt8(2),
    slot: body.readBigUInt64LE(3),
    value,
    ...(next === "" ? {} : { next }),
  };
};

const bodyOf = (record: SpoolRecord): Buffer => {
  if (record.kind === "chunk") return chunkBody(record.chunk);
  if (record.kind === "ended")
    return Buffer.from(Uint8Array.of(ENDED, record.place.scan, record.place.kind));
  return Buffer.concat([Uint8Array.of(HEADING), Buffer.from(record.text, "utf8")]);
};

/** A record as the file holds it, framed. */
export const encodeSpoolRecord = (record: SpoolRecord): Buffer => {
  const body = bodyOf(record);
  const frame = Buffer.allocUnsafe(FRAME_BYTES);
  frame.writeUInt32LE(body.length, 0);
  frame.writeBigUInt64LE(Bun.hash.wyhash(body), 4);
  return Buffer.concat([frame, body]);
};

/** The length of a body by its frame. */
export const spoolBodyLength = (frame: Buffer): number => frame.readUInt32LE(0);

/** The record of a frame and its body, undefined when they do not belong together: it was not written whole. */
export const decodeSpoolRecord = (frame: Buffer, body: Buffer): SpoolRecord | undefined => {
  if (frame.readBigUInt64LE(4) !== Bun.hash.wyhash(body)) return undefined;
  if (body[0] === HEADING) return { kind: "heading", text: body.toString("utf8", 1) };
  if (body[0] === CHUNK) return { kind: "chunk", chunk: readChunk(body) };
  if (body[0] !== ENDED) return undefined;
  return { kind: "ended", place: { scan: body.readUInt8(1), kind: body.readUInt8(2) } };
};
