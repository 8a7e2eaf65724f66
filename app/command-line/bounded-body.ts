/** The body of an answer. Rejects as soon as it is longer than `most` bytes, counted behind a content coding. */
export const boundedBody = async ({ body }: Response, most: number): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) throw new Error(`it has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};
