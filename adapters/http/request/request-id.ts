import { isShort } from "../../../core/domain/encoding/foreign-text.ts";

/** Text that is harmless in a header, a log line and a URL fragment. */
const SANE = /^[A-Za-z0-9._-]+$/;

/** The caller's own id of a request when it is a short token, otherwise a new UUID. */
export const requestIdOf = (request: Request): string => {
  const given = request.headers.get("x-request-id");
  return given !== null && isShort(given) && SANE.test(given) ? given : crypto.randomUUID();
};
