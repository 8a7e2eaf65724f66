import { createHash } from "node:crypto";

const CODING =
  /^\s*([a-z0-9!#$&^_.+-]+|\*)\s*(?:;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/** The content codings of this service's texts, the smallest first. */
export const CODINGS = ["br", "gzip", "identity"] as const;

/** How the bytes of a body are coded (RFC 9110, section 8.4.1). */
export type Coding = (typeof CODINGS)[number];

/**
 * The coding that an Accept-Encoding header prefers (RFC 9110, section 12.5.3), of two that it likes as much the one
 * with fewer bytes. `identity` without a header, and where all are refused: a body that is not coded is always readable.
 */
export const acceptedCoding = (acceptEncoding: string | null): Coding => {
  if (acceptEncoding === null) return "identity";
  const named = new Map<string, number>();
  for (const part of acceptEncoding.split(",")) {
    const [, coding = "", quality = "1"] = CODING.exec(part) ?? [];
    const name = coding.toLowerCase();
    named.set(name === "x-gzip" ? "gzip" : name, Number(quality));
  }
  const others = named.get("*") ?? 0;
  const qualityOf = (coding: Coding): number =>
    named.get(coding) ?? (coding === "identity" && others === 0 ? Number.MIN_VALUE : others);
  const best = Math.max(...CODINGS.map(qualityOf));
  return CODINGS.find((coding) => best > 0 && qualityOf(coding) === best) ?? "identity";
};

/** A strong validator of exactly these bytes (RFC 9110, section 8.8.3). */
export const entityTag = (body: string | Uint8Array): string =>
  `"${createHash("sha256").update(body).digest("base64url")}"`;

/**
 * Whether an If-None-Match header names what would be answered: `*` names every representation, also one without a tag
 * (null), and a listed tag this one, compared weakly (RFC 9110, section 13.1.2).
 */
export const isNotModified = (ifNoneMatch: string | null, tag: string | null): boolean =>
  ifNoneMatch !== null &&
  (ifNoneMatch.trim() === "*" ||
    ifNoneMatch.split(",").some((listed) => listed.trim().replace(/^W\//, "") === tag));

type Range = { readonly type: string; readonly subtype: string; readonly quality: number };

/**
 * `type/subtype` with parameters; only `q` is used (RFC 9110, section 12.5.1). Clients send
 * `application/json; charset=utf-8`, which the package `negotiator` treats as another type.
 */
const RANGE = /^\s*([a-z0-9!#$&^_.+-]+|\*)\/([a-z0-9!#$&^_.+-]+|\*)\s*((?:;[^;]*)*)$/i;
const QUALITY = /;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*(?:;|$)/i;

const rangesOf = (accept: string): ReadonlyArray<Range> =>
  accept.split(",").flatMap((part) => {
    const match = RANGE.exec(part);
    if (match === null) return [];
    const [, type = "*", subtype = "*", parameters = ""] = match;
    const quality = Number(QUALITY.exec(parameters)?.[1] ?? "1");
    return [{ type: type.toLowerCase(), subtype: subtype.toLowerCase(), quality }];
  });

/** How exactly a range names a media type: 2 both parts, 1 the type, 0 anything, -1 not at all. */
const precision = (range: Range, type: string, subtype: string): number => {
  if (range.type === "*" && range.subtype === "*") return 0;
  if (range.type !== type) return -1;
  if (range.subtype === "*") return 1;
  return range.subtype === subtype ? 2 : -1;
};

const qualityOf = (offer: string, ranges: ReadonlyArray<Range>): number => {
  const [type = "", subtype = ""] = offer.split("/");
  let best = -1;
  let quality = 0;
  for (const range of ranges) {
    const exactness = precision(range, type, subtype);
    if (exactness > best) {
      best = exactness;
      quality = range.quality;
    }
  }
  return quality;
};

/**
 * The offered media type that an Accept header prefers; on a tie, the first offered one. Undefined
 * when it excludes all of them. No header, or an empty one, accepts anything (RFC 9110, section 12.5.1).
 */
export const acceptedMediaType = (
  accept: string | null,
  offers: ReadonlyArray<string>,
): string | undefined => {
  if (accept === null || accept.trim() === "" || accept === "*/*") return offers[0];
  const ranges = rangesOf(accept);
  let best: string | undefined;
  let bestQuality = 0;
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges);
    if (quality > bestQuality) {
      best = offer;
      bestQuality = quality;
    }
  }
  return best;
};
