import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  AccountScan,
  LONGEST_RECORD,
} from "../../../../adapters/solana-rpc/accounts/account-scan.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { ObjectEnd } from "../../../../adapters/solana-rpc/accounts/scan-body.ts";

const ID = 3;

const OWNER = "SysvarC1ock11111111111111111111111111111111";

/** An address of 43 characters, and one of 44. */
const PUBKEY = "So11111111111111111111111111111111111111112";

const LONGER_PUBKEY = "EWn7dE93GeQJu72WEkEmC5MZpm5FhiJzkcJEf1xpRdWP";

const HEAD = '{"jsonrpc":"2.0","result":{"context":{"slot":5},"value":[';

const TAIL = `]},"id":${ID}}`;

/** A record of an account. Its lamports identify it. */
const recordOf = (lamports: number, data: string, space: number, extra = ""): string =>
  `{"account":{"data":["${data}","base64"],"executable":false,"lamports":${lamports},"owner":"${OWNER}","rentEpoch":0,"space":${space}${extra}},"pubkey":"${PUBKEY}"}`;

const short = (lamports: number): string => recordOf(lamports, "AQID", 3);

const ofLength = (lamports: number, length: number): string => {
  const extra = (text: string) => recordOf(lamports, "AQID", 3, `,"extra":"${text}"`);
  return extra("x".repeat(length - extra("").length));
};

/** Records that are too long, each for a different reason. */
const LONG: ReadonlyArray<(lamports: number) => string> = [
  (lamports) => recordOf(lamports, encodeBase64(new Uint8Array(90_000)), 90_000),
  (lamports) => ofLength(lamports, LONGEST_RECORD + 1),
  (lamports) => recordOf(lamports, "AQID", 3, `,"extra":"${'\\\\\\"}'.repeat(20_000)}"`),
  (lamports) => recordOf(lamports, "AQID", 3, `,"extra":[${'{"a":["}"]},'.repeat(9_000)}0]`),
  (lamports) => recordOf(lamports, "AQID", 3, " ".repeat(LONGEST_RECORD)),
  // Skipped records are not checked.
  (lamports) => recordOf(lamports, "no base64 ".repeat(9_000), -1),
];

/** Scans a faultless body that arrives in chunks cut at these indexes. */
const scanned = (text: string, cuts: ReadonlyArray<number>) => {
  const body = new TextEncoder().encode(text);
  const scan = new AccountScan(ID);
  const places = [...new Set(cuts.map((cut) => cut % (body.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, body.length]) {
    expect(scan.push(body.subarray(from, to))).toBeUndefined();
    from = to;
  }
  const end = scan.end();
  const lamports = scan.take(Number.POSITIVE_INFINITY).map((account) => Number(account.lamports));
  return { end, lamports, passedOver: { ...scan.passedOver } };
};

describe("records longer than any account asked for", () => {
  test("are skipped wherever the network cuts the answer, and all others are read", () => {
    const anyRecord = fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(...LONG) },
    );
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (makers, cuts) => {
          const records = makers.map((make, n) => (make ?? short)(n + 1));
          const long = records.filter((_, n) => makers[n] !== null);
          expect(scanned(HEAD + records.join(" , ") + TAIL, cuts)).toEqual({
            end: { slot: 5 },
            lamports: makers.flatMap((make, n) => (make === null ? [n + 1] : [])),
            passedOver: { records: long.length, bytes: long.join("").length },
          });
        },
      ),
      runs(60),
    );
  });

  test("start one byte above the limit: a record at the limit is read", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 4 }), (cuts) => {
        const longest = ofLength(1, LONGEST_RECORD);
        const longerByItsAddress = longest.replace(PUBKEY, LONGER_PUBKEY);
        const records = [longest, ofLength(2, LONGEST_RECORD + 1), longerByItsAddress, short(3)];
        expect(scanned(HEAD + records.join(",") + TAIL, cuts)).toMatchObject({
          lamports: [1, 3],
          passedOver: { records: 2, bytes: 2 * (LONGEST_RECORD + 1) },
        });
      }),
      runs(30),
    );
  });

  test("are never held, even with 10 MiB in small pieces", () => {
    const data = encodeBase64(new Uint8Array(10 * 1024 * 1024));
    const text = HEAD + [short(1), recordOf(2, data, 10_485_760), short(3)].join(",") + TAIL;
    const body = new TextEncoder().encode(text);
    const scan = new AccountScan(ID);
    const piece = 1000;
    let most = 0;
    for (let at = 0; at < body.length; at += piece) {
      expect(scan.push(body.subarray(at, at + piece))).toBeUndefined();
      most = Math.max(most, scan.heldBytes);
    }
    expect(scan.end()).toEqual({ slot: 5 });
    expect(scan.take(9).map(({ lamports }) => lamports)).toEqual([1n, 3n]);
    expect(most).toBeLessThanOrEqual(LONGEST_RECORD + piece);
  });

  test("without an end make the answer a fault", () => {
    const scan = new AccountScan(ID);
    scan.push(new TextEncoder().encode(`${HEAD + short(1)},{"account":"`));
    for (let n = 0; n < 100; n++) scan.push(Buffer.alloc(LONGEST_RECORD, "A"));
    expect(scan.heldBytes).toBe(0);
    expect(scan.end()).toBe("not_json");
  });
});

const anyText = fc.string({ unit: fc.constantFrom(...'\\\\\\"{}[],:aé'.split("")) });

const anyObject = fc
  .dictionary(anyText, fc.oneof(anyText, fc.jsonValue({ maxDepth: 4 })))
  .map((value) => JSON.stringify(value));

/** The end of the object at the start of these bytes, which arrive in pieces cut at these indexes. */
const endIn = (bytes: Buffer, cuts: ReadonlyArray<number>): number => {
  const place = new ObjectEnd();
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    const end = place.find(bytes.subarray(from, to), 0);
    if (end >= 0) return from + end;
    from = to;
  }
  return -1;
};

test("an object's end is found wherever its bytes are cut, with any strings and escapes", () => {
  fc.assert(
    fc.property(anyObject, anyText, fc.array(fc.nat(), { maxLength: 12 }), (text, rest, cuts) => {
      const length = Buffer.from(text).length;
      expect(endIn(Buffer.from(text + rest), cuts)).toBe(length);
      expect(endIn(Buffer.from(text).subarray(0, length - 1), cuts)).toBe(-1);
    }),
    runs(1000),
  );
});

test("an object's end is found byte by byte, and from any index of a piece", () => {
  fc.assert(
    fc.property(anyObject, anyText, (text, before) => {
      const bytes = Buffer.from(before + text);
      const at = Buffer.from(before).length;
      expect(new ObjectEnd().find(bytes, at)).toBe(bytes.length);
      const every = Array.from({ length: bytes.length }, (_, i) => i);
      expect(endIn(Buffer.from(text), every)).toBe(bytes.length - at);
    }),
    runs(300),
  );
});
