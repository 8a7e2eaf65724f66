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
