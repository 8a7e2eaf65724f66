import { afterEach } from "bun:test";

/** A JSON-RPC request as the peer received it. */
export type PeerCall = {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
};

/** The peer's reaction to one request. */
export type Behaviour = (call: PeerCall, request: Request) => Response | Promise<Response>;

const json = (body: unknown, init?: ResponseInit): Response => Response.json(body, init);

/** Answers with a JSON-RPC result. */
export const result =
  (value: unknown): Behaviour =>
  ({ id }) =>
    json({ jsonrpc: "2.0", id, result: value });

/** Answers with a JSON-RPC result that has a context, like most reads. */
export const atSlot = (slot: number, value: unknown): Behaviour =>
  result({ context: { slot, apiVersion: "3.0.0" }, value });

/** Answers with a JSON-RPC error, by default with HTTP status 200 like Solana nodes. */
export const rpcError =
  (code: number, data?: unknown, status = 200): Behaviour =>
  ({ id, params }) =>
    json(
      { jsonrpc: "2.0", id, error: { code, message: `said of ${String(params)}`, data } },
      { status },
    );

/** Answers with an HTTP status and an HTML page. */
export const page =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  () =>
    new Response("<html>Bad gateway</html>", {
      status,
      headers: { "content-type": "text/html", ...headers },
    });

/** Answers with the given body. */
export const body =
  (text: string | Uint8Array<ArrayBuffer> | ReadableStream): Behaviour =>
  () =>
    new Response(text);

/** Never answers. Calls `onAbandoned` for each request that the client gives up. */
export const silence =
  (onAbandoned: () => void = () => {}): Behaviour =>
  (_call, request) =>
    new Promise<Response>(() => request.signal.addEventListener("abort", onAbandoned));

/**
 * A node with scripted behaviour: each request takes the next behaviour, and the last one repeats. Its address has an
 * API key in each place where providers put one.
 */
export class ScriptedPeer implements Disposable {
  readonly calls: Array<PeerCall> = [];
  plan: Array<Behaviour>;
  inFlight = 0;
  mostInFlight = 0;
  readonly #server;
  #arrivals: Array<{ readonly count: number; readonly arrived: () => void }> = [];

  constructor(...plan: ReadonlyArray<Behaviour>) {
    this.plan = [...plan];
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const call = (await request.json()) as PeerCall;
        this.calls.push(call);
        this.inFlight += 1;
        this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
        for (const { count, arrived } of this.#arrivals) if (this.calls.length >= count) arrived();
        const behaviour = this.plan.length > 1 ? this.plan.shift() : this.plan[0];
        try {
          return await (behaviour ?? page(500))(call, request);
        } finally {
          this.inFlight -= 1;
        }
      },
    });
  }

  get url(): URL {
    return new URL(
      `http://user-key:pass-key@127.0.0.1:${this.#server.port}/path-key?api-key=query-key`,
    );
  }

  /** Resolves when the peer has received `count` requests. */
  received(count: number): Promise<void> {
    return new Promise((arrived) => {
      if (this.calls.length >= count) arrived();
      else this.#arrivals.push({ count, arrived });
    });
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

/** Makes peers with a plan, which stop after each test of the file. */
export const peersOfTests = () => {
  const opened: Array<ScriptedPeer> = [];
  afterEach(() => {
    for (const peer of opened.splice(0)) peer[Symbol.dispose]();
  });
  return (...plan: ReadonlyArray<Behaviour>): ScriptedPeer => {
    const peer = new ScriptedPeer(...plan);
    opened.push(peer);
    return peer;
  };
};
