/**
 * Text that is harmless in a header, a log line and a URL fragment, long enough for a UUID and too short for a private key: the 32 bytes of
 * a seed have 43 characters in base58 and base64.
 */
const SANE = /^[A-Za-z0-9._-]{1,36}$/;

/** The caller's own id of a request when it is a short token, otherwise a new UUID. */
export const requestIdOf = (request: Request): string => {
  const given = request.headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : crypto.randomUUID();
};
