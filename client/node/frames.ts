import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Frame } from "../sessions/store/session-frames.ts";

/** A frame that was read, and the offset behind it. */
export type PlacedFrame = Frame & { readonly end: number };

const MAGIC_BYTES = 8;
const SALT_BYTES = 16;
const CHECKSUM_BYTES = 8;
/** Bytes before the first frame: what the file is, its salt, and the checksum of both. */
export const FIRST_FRAME = MAGIC_BYTES + SALT_BYTES + CHECKSUM_BYTES;
/** `length u32 || durable u48 || kind u8`, then the checksum. */
const FIELDS = 11;
const HEAD_BYTES = FIELDS + CHECKSUM_BYTES;
const CHUNK_BYTES = 1_048_576;

const checksumOf = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, CHECKSUM_BYTES);
};

/**
 * How a file's frames are written and known again. The checksum covers the offset and a salt that nobody outside knows,
 * so that neither stale bytes nor the body of an answer can pass for a frame.
 */
export class FrameForm {
  readonly #salt: Uint8Array;

  private constructor(salt: Uint8Array) {
    this.#salt = salt;
  }

  /** The bytes that a new file begins with, and its form. `magic` has eight characters. */
  static fresh(magic: string): { readonly begin: Uint8Array; readonly form: FrameForm } {
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    const known = Buffer.concat([Buffer.from(magic, "latin1"), salt]);
    const begin = Buffer.concat([known, checksumOf(known)]);
    return { begin, form: new FrameForm(salt) };
  }

  /** The form of a file by its first bytes; undefined unless it is one of `magic`. */
  static of(begin: Uint8Array, magic: string): FrameForm | undefined {
    const known = begin.subarray(0, MAGIC_BYTES + SALT_BYTES);
    const isMagic = Buffer.from(known.subarray(0, MAGIC_BYTES)).toString("latin1") === magic;
    const sum = Buffer.from(begin.subarray(known.length, FIRST_FRAME));
    return isMagic && sum.equals(checksumOf(known))
      ? new FrameForm(known.slice(MAGIC_BYTES))
      : undefined;
  }

  /** The frames as they are written at an offset, in a file that is durable up to another. */
  bytes(frames: ReadonlyArray<Frame>, at: number, durable: number): Uint8Array {
    const length = frames.reduce((sum, { payload }) => sum + HEAD_BYTES + payload.length, 0);
    const bytes = Buffer.alloc(length);
    let from = 0;
    for (const { kind, payload } of frames) {
      bytes.writeUInt32LE(payload.length, from);
      bytes.writeUIntLE(durable, from + 4, 6);
      bytes.writeUInt8(kind, from + 10);
      bytes.set(payload, from + HEAD_BYTES);
      const end = from + HEAD_BYTES + payload.length;
      bytes.set(this.#checksum(bytes.subarray(from, end), at + from), from + FIELDS);
      from = end;
    }
    return bytes;
  }

  /** The frame at the beginning of bytes, which stand at an offset of the file; undefined where none is whole. */
  read(bytes: Buffer, at: number): (PlacedFrame & { readonly durable: number }) | undefined {
    if (bytes.length < HEAD_BYTES) return undefined;
    const length = HEAD_BYTES + bytes.readUInt32LE(0);
    if (length > bytes.length) return undefined;
    const whole = bytes.subarray(0, length);
    const sum = whole.subarray(FIELDS, HEAD_BYTES);
    if (!sum.equals(this.#checksum(whole, at))) return undefined;
    return {
      kind: whole.readUInt8(10),
      payload: new Uint8Array(whole.subarray(HEAD_BYTES)),
      durable: whole.readUIntLE(4, 6),
      end: at + length,
    };
  }

  #checksum(whole: Uint8Array, at: number): Uint8Array {
    const place = Buffer.alloc(6);
    place.writeUIntLE(at, 0, 6);
    return checksumOf(this.#salt, place, whole.subarray(0, FIELDS), whole.subarray(HEAD_BYTES));
  }
}

const readAt = async (file: FileHandle, at: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length);
  let have = 0;
  while (have < length) {
    const { bytesRead } = await file.read(bytes, have, length - have, at + have);
    if (bytesRead === 0) break;
    have += bytesRead;
  }
  return bytes.subarray(0, have);
};

/** The form of an open file; undefined unless it is one of `magic`. @throws the system's errors. */
export const formOf = async (file: FileHandle, magic: string): Promise<FrameForm | undefined> =>
  FrameForm.of(await readAt(file, 0, FIRST_FRAME), magic);

/** The whole frames of a file up to an offset, in order. It ends before the first that is not whole. */
export const framesIn = async function* (
  file: FileHandle,
  form: FrameForm,
  until: number,
): AsyncGenerator<PlacedFrame> {
  let at = FIRST_FRAME;
  let want = CHUNK_BYTES;
  while (at < until) {
    const bytes = await readAt(file, at, Math.min(want, until - at));
    const from = at;
    for (;;) {
      const frame = form.read(bytes.subarray(at - from), at);
      if (frame === undefined) break;
      at = frame.end;
      yield frame;
    }
    // A frame may be longer than a chunk. Nothing more to read, and still no frame: there is none.
    if (at > from) want = CHUNK_BYTES;
    else if (bytes.length < want) return;
    else want *= 4;
  }
};

/**
 * Whether what follows an offset was only being written when the process or the machine ended. A frame behind it that
 * was begun once the file was durable beyond the offset says that it is damage instead.
 */
export const isTornAt = async (
  file: FileHandle,
  form: FrameForm,
  at: number,
  until: number,
): Promise<boolean> => {
  const rest = await readAt(file, at, until - at);
  for (let from = 1; from < rest.length; from++) {
    const frame = form.read(rest.subarray(from), at + from);
    if (frame !== undefined && frame.durable > at) return false;
  }
  return true;
};
