import { readFile } from "node:fs/promises";
import process from "node:process";
import { errorCode } from "../node/error-code.ts";
import { SettlementError } from "../settlement-error.ts";

/** More than any packet, trust document or payload, in bytes. */
const MAX_BYTES = 16_777_216;

const bounded = async (from: string, parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const kept: Array<Uint8Array> = [];
  let length = 0;
  for await (const part of parts) {
    length += part.length;
    if (length > MAX_BYTES) throw unreadable(from, `it has more than ${MAX_BYTES} bytes`);
    kept.push(part);
  }
  return Buffer.concat(kept);
};

const unreadable = (from: string, reason: string): SettlementError =>
  new SettlementError(
    "unreadable",
    `${from} cannot be read: ${reason}.`,
    "Name a file that exists, or - for standard input.",
  );

/** The bytes of a file, or of standard input for `-`. @throws SettlementError `unreadable` */
export const readInput = async (from: string): Promise<Uint8Array> => {
  try {
    if (from === "-") return await bounded(from, process.stdin);
    return await readFile(from);
  } catch (cause) {
    if (cause instanceof SettlementError) throw cause;
    throw unreadable(from, errorCode(cause));
  }
};
