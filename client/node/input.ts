import { open } from "node:fs/promises";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./key-file.ts";

const STDIN = "-";

const unreadable = (what: string, detail: string): SettlementError =>
  new SettlementError("unreadable", detail, `Name a file with ${what}, or - for standard input.`);

const partsOf = async function* (
  path: string,
  stdin: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (path === STDIN) {
    yield* stdin;
    return;
  }
  const file = await open(path, "r");
  try {
    yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>;
  } finally {
    await file.close();
  }
};

/**
 * The UTF-8 text of a file, or of `stdin` for `-`; `what` names it in messages. @throws SettlementError `unreadable`
 * when it cannot be read, has more than `mostBytes`, or is no UTF-8.
 */
export const readInput = async (
  path: string,
  what: string,
  mostBytes: number,
  stdin: AsyncIterable<Uint8Array>,
): Promise<string> => {
  const parts: Array<Uint8Array> = [];
  let bytes = 0;
  try {
    for await (const part of partsOf(path, stdin)) {
      bytes += part.length;
      if (bytes > mostBytes) break;
      parts.push(part);
    }
  } catch (cause) {
    throw unreadable(what, `${path} cannot be read (${errorCode(cause)}).`);
  }
  if (bytes > mostBytes) throw unreadable(what, `${path} has more than ${mostBytes} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw unreadable(what, `${path} is no UTF-8.`);
  }
};
