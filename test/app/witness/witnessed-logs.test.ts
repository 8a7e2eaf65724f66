import { expect, test } from "bun:test";
import { parseWitnessedLogs } from "../../../app/config/witnessed-logs.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { testKey } from "../../core/use-cases/witness/support/simulated-log.ts";
import { ORIGIN } from "../../core/use-cases/witness/support/witness-world.ts";

const keyOf = (number?: number) => {
  if (number === undefined) return testKey(1);
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(0, number);
  return ed25519Key(seed);
};
const vkeyOf = (
  name: string,
  use: "ed25519" | "cosignature" = "ed25519",
  number?: number,
): string => printVerifierKey(verifierKey(name, use, keyOf(number).publicKey));
/** Under this name the keys of the seeds 35,666 and 48,705 have the same id. */
const COLLIDING = "log.example/log/45ef13205b01e448/0";
const SUCCESSOR = `${ORIGIN.slice(0, -1)}1`;
const LINE = `${vkeyOf(ORIGIN)} https://log.example/a`;

test("each line names a log, comments and empty lines none", () => {
  const parsed = parseWitnessedLogs(`# logs\n\n  ${LINE}  \n${vkeyOf(SUCCESSOR)}\thttp://b\n`);
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(parsed.value.map(({ key, url }) => [key.name, url.href])).toEqual([
    [ORIGIN, "https://log.example/a"],
    [SUCCESSOR, "http://b/"],
  ]);
});

test("a log may have a line for each of two keys", () => {
  const parsed = parseWitnessedLogs(
    `${LINE}\n${vkeyOf(ORIGIN, "ed25519", 2)} https://log.example/a`,
  );
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(parsed.value.map(({ key }) => key.name)).toEqual([ORIGIN, ORIGIN]);
});

test.each([
  ["", "it names no log"],
  ["# only this", "it names no log"],
  [`\n${vkeyOf(ORIGIN)}`, "line 2: a line is VKEY URL, with an http:// or https:// address"],
  [`${vkeyOf(ORIGIN)} ftp://a`, "line 1: a line is VKEY URL, with an http:// or https:// address"],
  [`${LINE} more`, "line 1: a line is VKEY URL, with an http:// or https:// address"],
  [`${vkeyOf(ORIGIN)} https://a/?b`, "line 1: the address has a query or a fragment"],
  [
    `${vkeyOf(ORIGIN, "cosignature")} https://a`,
    "line 1: the key is not one of a log, of type 0x01",
  ],
  [
    `${vkeyOf("a.example")} https://a`,
    "line 1: an origin is <name>/log/<16 hex digits>/<generation>",
  ],
  [`${LINE}\n${LINE}`, "line 2 repeats a log"],
  [
    `${vkeyOf(COLLIDING, "ed25519", 35_666)} https://a\n${vkeyOf(COLLIDING, "ed25519", 48_705)} https://a`,
    "line 2 has the id 7a5180ff of another key of its log",
  ],
])("%p is refused", (text, fault) => {
  expect(parseWitnessedLogs(text)).toEqual({ fault });
});
