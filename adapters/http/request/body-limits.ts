/** The most bytes of a body that carries a delivery payload: every value of it is hashed and compared. */
export const MAX_PAYLOAD_BODY_BYTES = 32_768;

/** The most bytes of any other body. */
export const MAX_BODY_BYTES = 262_144;

/** A body with more bytes than this may have only `MAX_VALUES_OF_LARGE_BODY` values, because values are what costs time. */
export const LARGE_BODY_BYTES = 32_768;

/** The most commas and opening brackets outside strings in a larger body. No operation needs a tenth of them. */
export const MAX_VALUES_OF_LARGE_BODY = 1000;

/** The bytes of a body that cost one point of a client's budget. */
export const BYTES_A_POINT = 8192;

/**
 * The cost of a request in points: one for the first 8 KiB of its body, plus one for each further 8 KiB or part of them. It is
 * never above the whole budget of `limit` points, so that waiting always helps.
 */
export const requestCost = (bodyBytes: number, limit: number): number =>
  Math.max(1, Math.min(Math.ceil(bodyBytes / BYTES_A_POINT), limit));
