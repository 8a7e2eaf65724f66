/** Headers as a server of node:http has them. */
export type NodeHeaders = Readonly<
  Record<string, number | string | ReadonlyArray<string> | undefined>
>;

const headersOf = (given: NodeHeaders): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    for (const each of Array.isArray(value) ? (value as ReadonlyArray<string>) : [value])
      if (each !== undefined) headers.append(name, String(each));
  return headers;
};

/** A request as a server of node:http had it. */
export const requestOf = (
  { method, headers }: { readonly method: string; readonly headers: NodeHeaders },
  url: string,
  body: Uint8Array,
): Request =>
  new Request(url, {
    method,
    headers: headersOf(headers),
    ...(body.length === 0 ? {} : { body: body.slice() }),
  });

/** A status that has no body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
const isBodiless = (status: number): boolean => [204, 205, 304].includes(status);

/** An answer that was written in parts. */
export const responseOf = (status: number, headers: NodeHeaders, body: Uint8Array): Response =>
  new Response(isBodiless(status) ? null : body.slice(), { status, headers: headersOf(headers) });

/** Whether an answer's headers say that it is a stream of events, which leaves as it comes. */
export const isEvents = (headers: NodeHeaders): boolean =>
  /^text\/event-stream\b/i.test(String(headers["content-type"] ?? ""));

/** An answer whose body comes bit by bit. */
export const streamedResponse = (
  status: number,
  headers: NodeHeaders,
  body: ReadableStream<Uint8Array>,
): Response => new Response(body, { status, headers: headersOf(headers) });

/** The bytes of a chunk that was written. */
export const bytesIn = (chunk: unknown, encoding?: unknown): Uint8Array => {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk !== "string") return new Uint8Array();
  // Any other coding than UTF-8 is rare, and only node's own buffers know them.
  return typeof encoding === "string" && !/^utf-?8$/i.test(encoding) && "Buffer" in globalThis
    ? Uint8Array.from(Buffer.from(chunk, encoding as BufferEncoding))
    : new TextEncoder().encode(chunk);
};

/** All chunks in one. */
export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};
