import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { SettlementError } from "../../client/settlement-error.ts";

const FETCH_TIMEOUT_MS = 10_000;

/** The bytes of a body. Rejects as soon as they are more than `most`, counted after decompression. */
export const boundedBody = async (
  body: AsyncIterable<Uint8Array>,
  most: number,
  tooLong = `it has more than ${most} bytes`,
): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new Error(tooLong);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

/** Headers of a request, and what is said of an answer that is too long. */
type FetchOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tooLong?: string;
};

/**
 * What stands at an address, of at most `most` bytes; null for 404. Takes at most ten seconds and follows no redirect.
 * Rejects with a reason in words.
 */
export const fetchBytes = async (
  url: string,
  most: number,
  { headers = {}, tooLong }: FetchOptions = {},
): Promise<Uint8Array | null> => {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const response = await fetchDirectly(url, { signal, headers }).catch((cause: unknown) => {
    throw cause instanceof SettlementError ? new Error(`${cause.message} ${cause.cure}`) : cause;
  });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return boundedBody(response.body ?? new Blob([]).stream(), most, tooLong);
};
