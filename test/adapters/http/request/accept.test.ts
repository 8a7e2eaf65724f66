import { expect, test } from "bun:test";
import fc from "fast-check";
import { acceptedCoding, acceptedMediaType } from "../../../../adapters/http/request/accept.ts";

const JSON_TYPE = "application/json";

const HTML = "text/html";

/** The media types that the evidence endpoint offers. */
const OFFERS = [JSON_TYPE, HTML];

test("headers of real clients get a media type that the client can read", () => {
  const answers: Readonly<Record<string, string | undefined>> = {
    "": JSON_TYPE,
    "*/*": JSON_TYPE,
    // Axios.
    "application/json, text/plain, */*": JSON_TYPE,
    // Parameters other than q do not change the type here. `negotiator` would find nothing acceptable.
    "application/json; charset=utf-8": JSON_TYPE,
    'application/json;profile="https://example.com/p"': JSON_TYPE,
    // Java's HttpURLConnection, whose `*` is not a valid range and whose `.2` is not a valid quality.
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2": JSON_TYPE,
    // Chrome and Firefox.
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7":
      HTML,
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": HTML,
    "TEXT/HTML": HTML,
    "text/*": HTML,
    // For two types of equal quality the service's own order decides.
    "text/html, application/json": JSON_TYPE,
    "text/html;q=0.5, application/json;q=0.4": HTML,
    "application/json;q=0, */*": HTML,
    "application/json;q=0": undefined,
    "image/png": undefined,
    "image/png, */*;q=0": undefined,
    nonsense: undefined,
    ",,": undefined,
  };
  for (const [accept, answer] of Object.entries(answers))
    expect([accept, acceptedMediaType(accept, OFFERS)]).toEqual([accept, answer]);
  expect(acceptedMediaType(null, OFFERS)).toBe(JSON_TYPE);
});

test("the most exact range decides a type's quality, and the first offer with the highest quality is chosen", () => {
  const RANGES = [JSON_TYPE, HTML, "application/*", "text/*", "*/*", "image/png"] as const;
  const anyRange = fc.tuple(fc.constantFrom(...RANGES), fc.constantFrom("1", "0.9", "0.5", "0"));
  const anyHeader = fc.uniqueArray(anyRange, { minLength: 1, selector: ([range]) => range });
  fc.assert(
    fc.property(anyHeader, (ranges) => {
      const qualityOf = (type: string): number => {
        const exact = [type, `${type.split("/")[0]}/*`, "*/*"];
        const [range] = exact.flatMap((name) => ranges.filter(([range]) => range === name));
        return Number(range?.[1] ?? 0);
      };
      const [json, html] = [qualityOf(JSON_TYPE), qualityOf(HTML)];
      const expected = json === 0 && html === 0 ? undefined : html > json ? HTML : JSON_TYPE;
      const header = ranges.map(([range, quality]) => `${range};q=${quality}`).join(", ");
      expect(acceptedMediaType(header, OFFERS)).toBe(expected);
    }),
  );
});

test.each([
  [null, "identity"],
  ["", "identity"],
  ["identity", "identity"],
  ["gzip", "gzip"],
  ["GZIP", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["br;q=0.4, gzip;q=0.5", "gzip"],
  ["deflate , gzip ; q=1.000", "gzip"],
  ["*", "br"],
  ["identity;q=0, *;q=0.1", "br"],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0", "identity"],
  ["br;q=0, gzip;q=0.000, *", "identity"],
  ["gzip;q=2", "identity"],
  ["gzipped", "identity"],
  ["not gzip", "identity"],
  // Refusing every coding leaves a body that anybody can read.
  ["*;q=0", "identity"],
] as const)("%j gets %s", (header, coding) => {
  expect(acceptedCoding(header)).toBe(coding);
});
