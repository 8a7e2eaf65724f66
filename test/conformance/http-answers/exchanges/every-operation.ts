import { type Exchange, get, post } from "../exchange.ts";
import { UNRECORDED_TEXT } from "./pages.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { SAMPLES, sampleOf } from "./samples.ts";

/** The origin of a page that calls the service. */
export const SHOP = "https://shop.example";

/** A request like the operation's sample, changed in one way. */
export const like = (operation: string, title: string, change: Partial<Exchange>): Exchange => {
  const { method, path, text, body = text } = sampleOf(operation);
  const { path: otherPath = path, ...more } = change;
  if (body !== undefined) return post(operation, title, otherPath, body, more);
  return get(operation, title, otherPath, { method, ...more });
};

/** Operations whose body is not recorded whole: a page of the documentation changes more often than the contract. */
const UNSTEADY = new Set(["readDocsPage", "readMetrics"]);

/** Operations without a rate limit whose answers other exchanges record. */
const UNLIMITED = new Set(["readMetrics", "readDocs"]);

/** Requests that make sense, or are wrong, for any operation. */
const formsOf = (operation: string): ReadonlyArray<Exchange> => {
  const { method, path, query = "unknown=1" } = sampleOf(operation);
  const [name = ""] = query.split("=");
  const joint = path.includes("?") ? "&" : "?";
  const masks = UNSTEADY.has(operation) ? UNRECORDED_TEXT : [];
  return [
    ...(method === "GET" ? [get(operation, "HEAD", path, { method: "HEAD", masks })] : []),
    get(operation, "OPTIONS", path, { method: "OPTIONS" }),
    get(operation, "a preflight from a page of another origin", path, {
      method: "OPTIONS",
      headers: { origin: SHOP, "access-control-request-method": method },
    }),
    get(operation, "a method that the path does not take", path, { method: "DELETE" }),
    like(operation, "an Accept header that excludes every form of the answer", {
      headers: { accept: "image/png" },
    }),
    like(operation, "a Host header that is not a host", { headers: { host: "<s>" } }),
    like(operation, "a private key in an unknown query parameter", {
      path: `${path}${joint}private_key=${PRIVATE_KEY}`,
    }),
    like(operation, "a query parameter given twice", { path: `${path}${joint}${query}&${name}=1` }),
  ];
};

/** What every operation answers to requests of these common forms. */
export const everyOperation: ReadonlyArray<Exchange> = Object.keys(SAMPLES).flatMap(formsOf);

/** What operations answer when every rate limit is 0. Some have no rate limit. */
export const overBudget: ReadonlyArray<Exchange> = Object.keys(SAMPLES).flatMap((operation) =>
  UNLIMITED.has(operation) ? [] : [like(operation, "a rate limit of 0", {})],
);
