/** Text that is harmless in a header, a log line and a URL fragment. */
const SANE = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own id of a request when it is a sane token, otherwise a new UUID. */
export const requestIdOf = (request: Request): string => {
  const given = request.headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : crypto.randomUUID();
};
