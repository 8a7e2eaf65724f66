/**
 * A response's body as text; "oversize" when it is longer than `maxBytes` after decompression, or "not_utf8". Reading
 * stops and the connection closes at the first chunk beyond the limit.
 */
export const responseText = async (
  response: Response,
  maxBytes: number,
): Promise<{ readonly text: string } | "oversize" | "not_utf8"> => {
  if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
    await response.body?.cancel();
    return "oversize";
  }
  const chunks: Array<Uint8Array> = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Returning from the loop cancels the stream.
    if (bytes > maxBytes) return "oversize";
    chunks.push(chunk);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return { text: decoder.decode(Buffer.concat(chunks)) };
  } catch {
    return "not_utf8";
  }
};
