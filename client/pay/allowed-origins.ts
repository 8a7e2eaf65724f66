import { SettlementError } from "../settlement-error.ts";

const originIn = (url: string): string | null => {
  try {
    return new URL(url).origin;
  } catch {
    return null;
  }
};

/**
 * Returns a function that says why a request, `GET https://…`, may not be paid: null when its origin is in `origins`,
 * or when they are left out. @throws SettlementError `invalid_origin` for a text that is no http or https origin.
 */
export const originGuard = (
  origins: ReadonlyArray<string> | undefined,
): ((request: string) => string | null) => {
  for (const origin of origins ?? [])
    if (!/^https?:/.test(origin) || originIn(origin) !== origin)
      throw new SettlementError(
        "invalid_origin",
        `${origin} is no origin.`,
        "Give scheme, host and a port other than the scheme's own, such as https://api.example.com.",
      );
  return (request) => {
    const origin = originIn(request.slice(request.indexOf(" ") + 1));
    if (origins === undefined || (origin !== null && origins.includes(origin))) return null;
    return `The offer is for ${request}, and ${origin ?? "its host"} is none of the origins that may be paid.`;
  };
};
