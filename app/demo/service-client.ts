import { DemoFailed } from "./demo-failed.ts";
import type { Narrator } from "./narrator.ts";

const TIMEOUT_MS = 60_000;

/** A client of the service that prints each request. */
export type ServiceClient = {
  readonly url: string;
  /** The text of a 2xx answer. */
  readonly text: (path: string) => Promise<string>;
  readonly get: <A>(path: string) => Promise<A>;
  readonly post: <A>(path: string, body?: unknown) => Promise<A>;
  /** As `get`, but prints nothing: for polling. Null while the service answers 409, that it is too early. */
  readonly watch: <A>(path: string) => Promise<A | null>;
};

const reasonOf = (text: string): string => {
  try {
    const { code, detail } = JSON.parse(text) as { code?: string; detail?: string };
    return `${code ?? "no code"}: ${detail ?? text}`;
  } catch {
    return text.slice(0, 200);
  }
};

/** A client of the service at `url`. Every method throws DemoFailed for any status but 2xx. */
export const serviceClient = (url: string, narrator: Narrator): ServiceClient => {
  const ask = (method: string, path: string, body: unknown): Promise<Response> =>
    fetch(url + path, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new DemoFailed(`${method} ${path}: no answer from ${url} (${String(cause)})`);
    });
  const read = async (method: string, path: string, response: Response): Promise<string> => {
    const text = await response.text();
    if (!response.ok)
      throw new DemoFailed(`${method} ${path} answered ${response.status} ${reasonOf(text)}`);
    return text;
  };
  const send = async (method: string, path: string, body: unknown): Promise<string> =>
    read(method, path, await ask(method, path, body));
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
    watch: async <A>(path: string) => {
      const response = await ask("GET", path, undefined);
      return response.status === 409 ? null : (JSON.parse(await read("GET", path, response)) as A);
    },
  };
};
