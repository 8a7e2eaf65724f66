import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { DemoFailed, ServiceUnreachable } from "./demo-failed.ts";
import type { Narrator } from "./narrator.ts";

const TIMEOUT_MS = 60_000;

/** A client of the service that prints each request. */
export type ServiceClient = {
  readonly url: string;
  /** The text of a 2xx answer. */
  readonly text: (path: string) => Promise<string>;
  readonly get: <A>(path: string) => Promise<A>;
  readonly post: <A>(path: string, body?: unknown) => Promise<A>;
  /** As `get`, but prints nothing: for polling. */
  readonly watch: <A>(path: string) => Promise<A>;
  /** As `watch`; undefined for what the service does not have yet (404, 409). */
  readonly watchFor: <A>(path: string) => Promise<A | undefined>;
};

const reasonOf = (text: string): string => {
  try {
    const { code, detail } = JSON.parse(text) as { code?: string; detail?: string };
    return `${code ?? "no code"}: ${detail ?? text}`;
  } catch {
    return text.slice(0, 200);
  }
};

/**
 * A client of the service at `url`. Every method throws DemoFailed for any status but 2xx, and ServiceUnreachable where
 * none comes within a minute.
 */
export const serviceClient = (url: string, narrator: Narrator): ServiceClient => {
  const ask = async (method: string, path: string, body: unknown) => {
    const response = await fetchDirectly(url + path, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new ServiceUnreachable(
        cause instanceof SettlementError
          ? `${cause.message} ${cause.cure}`
          : `${method} ${path}: no answer from ${url} (${String(cause)}); start a service there, or give its --service`,
      );
    });
    return { ok: response.ok, status: response.status, text: await response.text() };
  };
  const send = async (method: string, path: string, body: unknown): Promise<string> => {
    const { ok, status, text } = await ask(method, path, body);
    if (!ok) throw new DemoFailed(`${method} ${path} answered ${status} ${reasonOf(text)}`);
    return text;
  };
  const told = (method: string, path: string, body?: unknown): Promise<string> => {
    narrator.request(method, url + path, body);
    return send(method, path, body);
  };
  return {
    url,
    text: (path) => told("GET", path),
    get: async <A>(path: string) => JSON.parse(await told("GET", path)) as A,
    post: async <A>(path: string, body?: unknown) =>
      JSON.parse(await told("POST", path, body)) as A,
    watch: async <A>(path: string) => JSON.parse(await send("GET", path, undefined)) as A,
    watchFor: async <A>(path: string) => {
      const { ok, status, text } = await ask("GET", path, undefined);
      if (status === 404 || status === 409) return undefined;
      if (!ok) throw new DemoFailed(`GET ${path} answered ${status} ${reasonOf(text)}`);
      return JSON.parse(text) as A;
    },
  };
};
