import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  checkpointText,
  parseCheckpoint,
  parseCheckpointText,
} from "../../../../core/log/checkpoint/checkpoint.ts";
import { parseLogOrigin, printLogOrigin } from "../../../../core/log/checkpoint/log-origin.ts";
import { parseTlogProof, printTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import {
  parseAddCheckpoint,
  parseTlogSize,
  printAddCheckpoint,
  printTlogSize,
} from "../../../../core/log/witness/add-checkpoint.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
/** The example of C2SP tlog-checkpoint. */
const NOTE = `example.com/behind-the-sofa
20852163
${ROOT}

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;

test("the specification's example is read", () => {
  const parsed = parseCheckpoint(NOTE);
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(parsed.value.checkpoint).toEqual({
    origin: "example.com/behind-the-sofa",
    size: 20_852_163,
    root: Uint8Array.from(Buffer.from(ROOT, "base64")),
  });
  expect(checkpointText(parsed.value.checkpoint)).toBe(parsed.value.note.text);
});

test("print and parse are inverse", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), bytesOfLength(32), (size, root) => {
      const checkpoint = { origin: "a/log/0123456789abcdef/0", size, root };
      expect(parseCheckpointText(checkpointText(checkpoint))).toEqual({ value: checkpoint });
    }),
    runs(50),
  );
});

test("the last checkpoint of a log has a fourth line, and no other one has", () => {
  const last = { origin: "o", size: 1, root: new Uint8Array(32), isLast: true } as const;
  const text = checkpointText(last);
  expect(text.split("\n").slice(3)).toEqual(["settlement-evidence log ended", ""]);
  expect(parseCheckpointText(text)).toEqual({ value: last });
});

const END = "settlement-evidence log ended\n";

test.each([
  ["two lines that it ended", `o\n1\n${ROOT}\n${END}${END}`],
  ["an extension line before it", `o\n1\n${ROOT}\nmore\n${END}`],
  ["an extension line after it", `o\n1\n${ROOT}\n${END}more\n`],
  ["no newline behind it", `o\n1\n${ROOT}\n${END.trim()}`],
  ["no root before it", `o\n1\n${END}`],
  ["an extension line", `o\n1\n${ROOT}\nmore\n`],
  ["an empty line", `o\n1\n${ROOT}\n\n`],
  ["two lines", "o\n1\n"],
  ["no newline", `o\n1\n${ROOT}`],
  ["no origin", `\n1\n${ROOT}\n`],
  ["an origin with a space", `o o\n1\n${ROOT}\n`],
  ["an origin with a plus", `o+o\n1\n${ROOT}\n`],
  ["a leading zero", `o\n01\n${ROOT}\n`],
  ["a sign", `o\n+1\n${ROOT}\n`],
  ["a size of 2^53", `o\n9007199254740992\n${ROOT}\n`],
  ["a short root", `o\n1\n${ROOT.slice(4)}\n`],
  ["a root without padding", `o\n1\n${ROOT.slice(0, -1)}\n`],
  ["a root with stray bits", `o\n1\n${ROOT.replace("2I=", "2J=")}\n`],
])("%s is no checkpoint", (_, text) => {
  expect(parseCheckpointText(text)).toHaveProperty("fault");
});

test("an origin shows name, network and generation, and nothing else is one", () => {
  const origin = { name: "example.com/log/x", networkId: "0123456789abcdef", generation: 12 };
  expect(printLogOrigin(origin)).toBe("example.com/log/x/log/0123456789abcdef/12");
  expect(parseLogOrigin(printLogOrigin(origin))).toEqual({ value: origin });
  for (const text of [
    "a/log/0123456789abcdef",
    "a/log/0123456789ABCDEF/0",
    "a/log/0123456789abcde/0",
    "a/log/0123456789abcdef/01",
    "a/log/0123456789abcdef/-1",
    "/log/0123456789abcdef/0",
    "a b/log/0123456789abcdef/0",
    "a+b/log/0123456789abcdef/0",
    "a/log/0123456789abcdef/0\n",
  ])
    expect(parseLogOrigin(text)).toHaveProperty("fault");
  expect(() => printLogOrigin({ ...origin, name: "" })).toThrow(RangeError);
  expect(() => printLogOrigin({ ...origin, generation: -1 })).toThrow(RangeError);
  expect(() => printLogOrigin({ ...origin, generation: 1.5 })).toThrow(RangeError);
});

const hashes = fc.array(bytesOfLength(32), { maxLength: 63 });

test("proofs and requests: print and parse are inverse", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), hashes, (number, proof) => {
      const tlogProof = { index: number, proof, checkpoint: NOTE };
      expect(parseTlogProof(printTlogProof(tlogProof))).toEqual({ value: tlogProof });
      const request = { oldSize: number, proof, checkpoint: NOTE };
      expect(parseAddCheckpoint(printAddCheckpoint(request))).toEqual({ value: request });
      expect(parseTlogSize(printTlogSize(number))).toBe(number);
    }),
    runs(50),
  );
});

test("a proof looks like the specification's example, and the request too", () => {
  const proof = [new Uint8Array(32)];
  const line = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  expect(printTlogProof({ index: 7, proof, checkpoint: NOTE })).toBe(
    `c2sp.org/tlog-proof@v1\nindex 7\n${line}\n\n${NOTE}`,
  );
  expect(printTlogProof({ index: 0, proof: [], checkpoint: NOTE })).toBe(
    `c2sp.org/tlog-proof@v1\nindex 0\n\n${NOTE}`,
  );
  expect(printAddCheckpoint({ oldSize: 0, proof: [], checkpoint: NOTE })).toBe(`old 0\n\n${NOTE}`);
  expect(printAddCheckpoint({ oldSize: 9, proof, checkpoint: NOTE })).toBe(
    `old 9\n${line}\n\n${NOTE}`,
  );
});

test.each([
  ["another version", `c2sp.org/tlog-proof@v2\nindex 0\n\n${NOTE}`],
  ["extra", `c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n\n${NOTE}`],
  ["no index", `c2sp.org/tlog-proof@v1\n\n${NOTE}`],
  ["an index with a zero", `c2sp.org/tlog-proof@v1\nindex 01\n\n${NOTE}`],
  ["a negative index", `c2sp.org/tlog-proof@v1\nindex -1\n\n${NOTE}`],
  ["a short hash", `c2sp.org/tlog-proof@v1\nindex 0\nAAAA\n\n${NOTE}`],
  ["64 hashes", `c2sp.org/tlog-proof@v1\nindex 0\n${`${ROOT}\n`.repeat(64)}\n${NOTE}`],
  ["no empty line", "c2sp.org/tlog-proof@v1\nindex 0\n"],
  ["carriage returns", `c2sp.org/tlog-proof@v1\r\nindex 0\r\n\n${NOTE}`],
  ["a megabyte", `c2sp.org/tlog-proof@v1\nindex 0\n\n${"a".repeat(1_048_576)}`],
])("%s is no proof", (_, text) => {
  expect(parseTlogProof(text)).toHaveProperty("fault");
});

test.each([
  ["no old size", `${ROOT}\n\n${NOTE}`],
  ["an old size with a zero", `old 00\n\n${NOTE}`],
  ["two spaces", `old  1\n\n${NOTE}`],
  ["64 hashes", `old 1\n${`${ROOT}\n`.repeat(64)}\n${NOTE}`],
  ["no empty line", "old 1\n"],
  ["a megabyte", `old 1\n\n${"a".repeat(1_048_576)}`],
])("%s is no request", (_, text) => {
  expect(parseAddCheckpoint(text)).toHaveProperty("fault");
});

test.each(["", "1", "01\n", "1\n\n", "-1\n", " 1\n"])("%j is no answered size", (text) => {
  expect(parseTlogSize(text)).toBeUndefined();
});
