import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { run as attest } from "../../client/bin/attest.ts";
import { run as watch } from "../../client/bin/watch.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { failureOf } from "./support/failure-of.ts";

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await folder.remove();
});

const ESCROW = "7ithf5tHzJMn92rtbAbfoqym3JADtusRecPGdQH3ioSE";
const TRUST = join(import.meta.dir, "../vectors/evidence/trust.json");
/** Nothing listens there, and nobody is asked before the payload is judged. */
const NOBODY = "http://127.0.0.1:1";

const COMMANDS: Readonly<Record<string, (payload: string) => Promise<number>>> = {
  "watch --delivery": (payload) =>
    watch(
      [
        ESCROW,
        `--service=${NOBODY}`,
        `--trust=${TRUST}`,
        `--delivery=${payload}`,
        `--out=${join(folder.path, "packet.json")}`,
      ],
      process,
    ),
  "attest --payload": (payload) =>
    attest(
      [
        `--service=${NOBODY}`,
        `--trust=${TRUST}`,
        ESCROW,
        `--payload=${payload}`,
        "--template=api-delivered-v1",
        `--key=${join(folder.path, "key.json")}`,
      ],
      process,
    ),
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const AMBIGUOUS: Readonly<Record<string, Uint8Array>> = {
  "a member twice": utf8('{"price":"9.99","price":"1.50"}'),
  "a number beyond 2^53": utf8('{"price":12345678901234567890}'),
  "a number with more digits than a double has": utf8('{"price":0.1000000000000000055}'),
  "a lone surrogate": utf8('{"note":"\\ud800"}'),
  "bytes that are no UTF-8": Uint8Array.of(...utf8('{"note":"'), 0xff, ...utf8('"}')),
  "a list": utf8("[1]"),
};

describe.each(Object.entries(COMMANDS))("%s", (_, command) => {
  test.each(Object.entries(AMBIGUOUS))("refuses a payload with %s", async (name, bytes) => {
    const path = join(folder.path, `${Bun.hash(name)}.json`);
    await writeFile(path, bytes);
    expect(["invalid_payload", "unreadable"]).toContain((await failureOf(command(path))).code);
  });
});
