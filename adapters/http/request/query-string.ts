import { Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { Effect } from "effect";
import { echoed } from "../../../core/domain/encoding/foreign-text.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { InvalidRequest, type RequestFault } from "../problems/http-failures.ts";
import { once } from "../server/once.ts";
import { MAX_FAULTS, schemaCheck } from "./schema-check.ts";

/**
 * The one form of an integer: no plus, no leading zero, no exponent. A negative number is parsed, so that its fault can
 * name the minimum.
 */
const INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** A query value as the JSON type of its schema. Text that does not fit stays text. */
const toJson = (text: string, schema: TSchema): unknown => {
  if (schema[Kind] === "Integer" && INTEGER.test(text)) return Number(text);
  if (schema[Kind] === "Boolean" || typeof schema["const"] === "boolean") {
    if (text === "true") return true;
    if (text === "false") return false;
  }
  return text;
};

/**
 * Valid queries that are memoized for each operation: at least this many, at most twice as many. Queries with more than
 * `KEPT_CHARACTERS` are not.
 */
const KEPT_QUERIES = 100;
const KEPT_CHARACTERS = 200;

const asQueryPointer = ({ pointer, detail }: RequestFault): RequestFault => ({
  pointer: `?${pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~")}`,
  detail,
});

/**
 * Decodes the query of a URL by a schema. Fails with `InvalidRequest` that names each parameter that is
 * unknown, given twice or out of its range: a misspelt filter must not silently return everything.
 */
export const queryDecoder = <S extends TObject>(schema: S) => {
  const check = schemaCheck(schema);
  const empty = once(() => check({}));
  // Clients request the same pages again. Decoding the query takes a tenth of the time of a cached page.
  const kept = new RecentlyUsed<string, Static<S>>(KEPT_QUERIES);
  return (url: string): Effect.Effect<Static<S>, InvalidRequest> => {
    const at = url.indexOf("?");
    if (at === -1 || at === url.length - 1) {
      const none = empty();
      if ("value" in none) return Effect.succeed(none.value);
    }
    const query = at === -1 ? "" : url.slice(at + 1);
    const cached = kept.get(query);
    if (cached !== undefined) return Effect.succeed(cached);
    const values: Record<string, unknown> = Object.create(null);
    const repeated: Array<RequestFault> = [];
    for (const [name, text] of new URLSearchParams(query)) {
      const property = schema.properties[name];
      if (name in values && repeated.length < MAX_FAULTS)
        repeated.push({
          pointer: `/${property === undefined ? echoed(name) : name}`,
          detail: "is given twice",
        });
      values[name] = property === undefined ? text : toJson(text, property);
    }
    const checked = check(values);
    const faults = [...repeated, ...("faults" in checked ? checked.faults : [])].slice(
      0,
      MAX_FAULTS,
    );
    if (faults.length > 0 || !("value" in checked))
      return Effect.fail(new InvalidRequest({ faults: faults.map(asQueryPointer) }));
    if (query.length <= KEPT_CHARACTERS) kept.set(query, checked.value);
    return Effect.succeed(checked.value);
  };
};

/**
 * The operation path, such as `/v1/escrows/{pda}`, that the bytes of a request's target match, with the
 * texts of its parameters; null when they match none.
 */
export type SentTarget = {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
} | null;

/** Text that no parser changes and no router decodes. Dots can be a way up. */
const PLAIN = /^[\w-]+$/;

/**
 * Whether a request's URL has literally the path that the bytes of its target spell, without anything that could be
 * read in another way. Then every router finds the same in both.
 */
export const isPlain = ({ path, params }: NonNullable<SentTarget>, url: string): boolean => {
  let spelt = path;
  if (path.includes("{"))
    for (const name of Object.keys(params)) {
      const text = params[name] ?? "";
      if (!PLAIN.test(text)) return false;
      spelt = spelt.replace(`{${name}}`, text);
    }
  const from = url.indexOf("/", url.indexOf("://") + 3);
  const end = from + spelt.length;
  return url.startsWith(spelt, from) && (end === url.length || url[end] === "?");
};

/**
 * Whether a request's URL and the bytes of its target lead to the same route.
 * They differ when the URL's parser resolved `..` or a backslash, which a proxy in front may
 * have read otherwise. A null parameter has no text and is not compared.
 */
export const isAsSent = (
  sent: SentTarget,
  route: { readonly path: string; readonly names: ReadonlyArray<string> },
  params: Readonly<Record<string, string | null>> | undefined,
): boolean =>
  sent !== null &&
  sent.path === route.path &&
  route.names.every((name) => (params?.[name] ?? sent.params[name]) === sent.params[name]);

/** The origin used for a request without a `Host` header; no real host has this name (RFC 2606, section 2). */
const NOWHERE = "http://host.invalid";

/** Whether a URL has the origin of a request without a host. */
export const isNowhere = (url: string): boolean => url.startsWith(`${NOWHERE}/`);

/**
 * A request without a `Host` header has a bare path as its URL. This gives it an absolute URL, which is parsed
 * like all others.
 */
export const placeTarget = (request: Request): void => {
  if (!request.url.startsWith("/")) return;
  const { href } = new URL(NOWHERE + request.url);
  Object.defineProperty(request, "url", { value: href });
};
