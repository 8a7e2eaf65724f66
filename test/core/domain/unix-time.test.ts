import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatUnixTime, LAST_UNIX_SECOND, parseUnixTime } from "../../../core/domain/unix-time.ts";
import { runs } from "../../arbitraries/runs.ts";

test("every second of RFC 3339's range is written as SQLite's calendar writes it", () => {
  using database = new Database(":memory:");
  const calendar = database.query<{ text: string }, [bigint]>(
    "select strftime('%Y-%m-%dT%H:%M:%SZ', ?1, 'unixepoch') as text",
  );
  const second = fc.oneof(
    fc.bigInt({ min: 0n, max: LAST_UNIX_SECOND }),
    fc.bigInt({ min: 1_500_000_000n, max: 2_500_000_000n }),
    fc.constantFrom(0n, 951_782_400n, 4_107_542_399n, LAST_UNIX_SECOND),
  );
  fc.assert(
    fc.property(second, (seconds) => {
      const text = formatUnixTime(seconds);
      expect(text).toBe(calendar.get(seconds)?.text ?? "no answer");
      expect(BigInt(Date.parse(text))).toBe(seconds * 1000n);
    }),
    runs(500),
  );
});

test("the ends of the range are the first and the last second with four digits of year", () => {
  expect(formatUnixTime(0n)).toBe("1970-01-01T00:00:00Z");
  expect(formatUnixTime(LAST_UNIX_SECOND)).toBe("9999-12-31T23:59:59Z");
  for (const seconds of [-1n, LAST_UNIX_SECOND + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    expect(() => formatUnixTime(seconds)).toThrow("range");
  }
});

test("a text is read exactly when it is that second's canonical form", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: LAST_UNIX_SECOND }), (seconds) => {
      expect(parseUnixTime(formatUnixTime(seconds))).toBe(seconds);
    }),
    runs(200),
  );
  const refused = [
    ..."2026-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-00-01T00:00:00Z 2026-01-32T00:00:00Z".split(
      " ",
    ),
    ..."2026-01-01T24:00:00Z 2026-01-01T00:60:00Z 2026-01-01T00:00:60Z 1969-12-31T23:59:59Z".split(
      " ",
    ),
    ..."2026-01-01t00:00:00Z 2026-01-01T00:00:00z 2026-01-01T00:00:00 2026-01-01T00:00:00.0Z".split(
      " ",
    ),
    ..."2026-01-01T00:00:00+00:00 2026-1-1T00:00:00Z +002026-01-01T00:00:00Z 10000-01-01T00:00:00Z".split(
      " ",
    ),
    "",

    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00Z ",
    "2026-01-01T00:00:00Z\n",
    "0000-01-01T00:00:00Z",
  ];
  for (const text of refused) expect([text, parseUnixTime(text)]).toEqual([text, undefined]);
});
