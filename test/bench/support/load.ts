/** The result of a load. */
export type Load = {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** One request. With a body, it is a POST of JSON. */
export type Asked = {
  readonly path: string;
  readonly body?: string;
  /** In lower case, beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A load in all. It is answered with `status`, and not counted for the first seconds. */
export type LoadOptions = {
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds?: number;
  readonly status?: number;
};

const utf8 = new TextEncoder();
const latin1 = new TextDecoder("latin1");

const bytesOf = (host: string, { path, body, headers = {} }: Asked): Uint8Array => {
  const more = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  return utf8.encode(
    body === undefined
      ? `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${more}\r\n`
      : `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${more}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};

/**
 * The length of an answer, from its head; undefined until the head is complete. Throws unless it has this status and
 * declares its length.
 */
const lengthOf = (bytes: Uint8Array, status: number): number | undefined => {
  const head = latin1.decode(bytes.subarray(0, 2048));
  const end = head.indexOf("\r\n\r\n");
  if (end < 0 && bytes.length < 2048) return undefined;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
  if (!head.startsWith(`HTTP/1.1 ${status}`) || end < 0 || length === undefined)
    throw new Error(`answered ${head.slice(0, 200)}`);
  return end + 4 + Number(length);
};

/**
 * A client that only writes requests and counts the bytes of answers. A `fetch` can cost more than an answer, so that
 * the client would limit the server.
 */
const connect = async (url: URL, status: number) => {
  let missing = 0;
  let begun: Uint8Array | null = null;
  let answered = Promise.withResolvers<void>();
  let rest: Uint8Array | null = null;
  const fail = (cause: unknown) => answered.reject(cause);
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data: (_, chunk) => {
        try {
          if (missing === 0) {
            begun = begun === null ? chunk : Buffer.concat([begun, chunk]);
            const length = lengthOf(begun, status);
            if (length === undefined) return;
            missing = length - begun.length;
            begun = null;
          } else missing -= chunk.length;
          if (missing === 0) answered.resolve();
        } catch (cause) {
          fail(cause);
        }
      },
      drain: (open) => {
        if (rest !== null) rest = rest.subarray(open.write(rest));
      },
      close: () => fail(new Error("the server closed the connection")),
      error: (_, cause) => fail(cause),
    },
  });
  return {
    ask: (request: Uint8Array): Promise<void> => {
      answered = Promise.withResolvers<void>();
      const written = socket.write(request);
      rest = written < request.length ? request.subarray(written) : null;
      return answered.promise;
    },
    close: () => {
      answered.promise.catch(() => undefined);
      socket.end();
    },
  };
};

/** Sends requests over several connections for some time, one after another on each. Both numbers begin at 0. */
export const load = async (
  url: string,
  requestOf: (number: number, connection: number) => Asked,
  { connections, seconds, warmUpSeconds = 1, status = 200 }: LoadOptions,
): Promise<Load> => {
  const address = new URL(url);
  const clients = await Promise.all(
    Array.from({ length: connections }, () => connect(address, status)),
  );
  const tookMs: Array<number> = [];
  let number = 0;
  const run = async (
    client: (typeof clients)[number],
    connection: number,
    untilMs: number,
    isCounted: boolean,
  ) => {
    while (performance.now() < untilMs) {
      const request = bytesOf(address.host, requestOf(number++, connection));
      const startMs = performance.now();
      await client.ask(request);
      if (isCounted) tookMs.push(performance.now() - startMs);
    }
  };
  const all = (untilMs: number, isCounted: boolean) =>
    Promise.all(clients.map((client, at) => run(client, at, untilMs, isCounted)));
  await all(performance.now() + warmUpSeconds * 1000, false);
  const startMs = performance.now();
  await all(startMs + seconds * 1000, true);
  const perSecond = tookMs.length / ((performance.now() - startMs) / 1000);
  for (const client of clients) client.close();
  const sorted = tookMs.toSorted((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { answers: tookMs.length, perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
};
