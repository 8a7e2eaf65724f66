/** The most bytes of a body that carries a delivery payload: every value of it is hashed and compared. */
export const MAX_PAYLOAD_BODY_BYTES = 32_768;

/** The most bytes of any other body. */
export const MAX_BODY_BYTES = 262_144;

/** A body of more bytes may be long, but not of many values: those are what costs time. */
export const LARGE_BODY_BYTES = 32_768;

/** The most commas and opening brackets of a larger body, those in strings aside; no operation has use for a tenth of them. */
export const MAX_VALUES_OF_LARGE_BODY = 1000;

/** The bytes of a body that cost one point of a client's budget. */
export const BYTES_A_POINT = 8192;

/**
 * The points that a request costs of a budget of `limit` points: one, and one more for each further 8 KiB that its
 * body begins. Never more than the whole budget, so that waiting always helps.
 */
export const requestCost = (bodyBytes: number, limit: number): number =>
  Math.max(1, Math.min(Math.ceil(bodyBytes / BYTES_A_POINT), limit));
