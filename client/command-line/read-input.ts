import { readFile } from "node:fs/promises";
import { parseStrictJson } from "../../core/domain/encoding/strict-json.ts";
import { errorCode } from "../node/key-file.ts";
import { type DeliveryPayload, payloadFault } from "../pay/delivery.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "./command-io.ts";

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
export const readInput = async (from: string, { stdin }: CommandIo): Promise<Uint8Array> => {
  try {
    if (from === "-") return await bounded(from, stdin);
    return await readFile(from);
  } catch (cause) {
    if (cause instanceof SettlementError) throw cause;
    throw unreadable(from, errorCode(cause));
  }
};

const invalid = (detail: string): SettlementError =>
  new SettlementError(
    "invalid_payload",
    detail,
    'Give one JSON object that can be read in one way only, such as {"status_code":200}.',
  );

/** The text of bytes that are UTF-8. @throws SettlementError `invalid_payload` for others */
const utf8In = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("The payload is no UTF-8.");
  }
};

/**
 * Parses a delivery payload: one JSON object that every reader reads the same way.
 * @throws SettlementError `invalid_payload` for anything else
 */
export const payloadIn = (file: string | Uint8Array): DeliveryPayload => {
  const parsed = parseStrictJson(typeof file === "string" ? file : utf8In(file));
  if ("fault" in parsed)
    throw invalid(`The payload is no JSON that can be hashed: it ${parsed.fault}.`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("The payload is no JSON object.");
  const payload = value as DeliveryPayload;
  const fault = payloadFault(payload);
  if (fault !== null) throw invalid(`The payload is no JSON that can be hashed: ${fault}.`);
  return payload;
};
